"""Paths of the project, and of the directory of everything that exists at run time only."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


HOME_ENV = "SLUICE_HOME"


def home() -> Path:
    """The directory of everything that exists at run time only (SLUICE_HOME)."""
    return Path(os.environ.get(HOME_ENV) or PROJECT / ".sluice")


def is_at_home(directory: Path) -> bool:
    """Whether a directory is one of those below `home`."""
    return home().resolve() in directory.resolve().parents


def at_home(path: str) -> str:
    """A URL as written, or an absolute path; what is relative begins at `home`."""
    return path if "://" in path else str(home() / path)
