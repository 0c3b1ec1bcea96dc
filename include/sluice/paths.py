"""Paths of the project, and of the directory of everything that exists at run time only.

A wheel has the project's other folders (sql, spark_jobs, dags, include/docs ...) in `sluice/project`, at the same
places as a checkout has them beside `include`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

_IN_WHEEL = resources.files("sluice") / "project"
INSTALLED = _IN_WHEEL.is_dir()
# A job and its executors may have the package as an archive, in which these are no files of the file system.
FILES: Traversable = _IN_WHEEL if INSTALLED else Path(__file__).resolve().parents[2]
PROJECT = Path(str(FILES))

HOME_ENV = "SLUICE_HOME"


@contextmanager
def unpack(folder: str) -> Iterator[Path]:
    """A folder of `FILES` as a directory: a private copy, for this while, where the package is an archive."""
    inside = FILES.joinpath(folder)
    if isinstance(inside, Path):
        yield inside
        return
    with TemporaryDirectory(prefix="sluice-") as directory:
        _copy(inside, Path(directory))
        yield Path(directory)


def import_folders(*names: str) -> list[str]:
    """Folders that Python's path needs for our packages: none where these are installed."""
    return [] if INSTALLED else [str(PROJECT / name) for name in names]


def home() -> Path:
    """The directory of everything that exists at run time only (SLUICE_HOME)."""
    if named := os.environ.get(HOME_ENV):
        return Path(named)
    return airflow_home() / "sluice" if INSTALLED else PROJECT / ".sluice"


def airflow_home() -> Path:
    """The directory of Airflow's settings."""
    return Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser()


def is_at_home(directory: Path) -> bool:
    """Whether a directory is one of those below `home`."""
    return home().resolve() in directory.resolve().parents


def at_home(path: str) -> str:
    """A URL as written, or an absolute path; what is relative begins at `home`."""
    return path if "://" in path else str(home() / path)


def _copy(folder: Traversable, directory: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            (directory / entry.name).mkdir()
            _copy(entry, directory / entry.name)
        else:
            (directory / entry.name).write_bytes(entry.read_bytes())
