"""The text of the configuration: in a file, at a URL of an object store, or in an Airflow Variable.

A file has to be on every machine. The other two are read by the process that begins something (a DAG file, a command,
the API server) and handed to what it starts. So jobs do not ask for them, and executors need neither.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from sluice import shell
from sluice.config.fields import has_secret
from sluice.errors import ConfigError, SluiceError
from sluice.model.limits import MOST_BYTES_OF_FILE
from sluice.paths import INSTALLED, PROJECT, home
from sluice.storage.directory import Directory

CONFIG_ENV = "SLUICE_CONFIG"
# The place, a line feed and the text, compressed.
TEXT_ENV = "SLUICE_CONFIG_TEXT"
_VARIABLE = "airflow-variable:"
# Linux starts no process with a longer variable than 128 KiB, its name included.
_MOST_HANDED = 120_000


def is_file(place: str) -> bool:
    """Whether a place is a path of this machine."""
    return "://" not in place and not place.startswith(_VARIABLE)


def place() -> str:
    """The place of the configuration in force: a path, the URL of an object store, or `airflow-variable:NAME`."""
    if named := os.environ.get(CONFIG_ENV):
        return named
    return str((home() if INSTALLED else PROJECT / "include" / "config") / "replication.yaml")


def path() -> Path:
    """The configuration file in force. Raises ConfigError SLC-002 if the configuration is in no file."""
    if not is_file(place()):
        raise ConfigError(
            2, f"this needs a configuration in a file, and it is {place()}", f"let {CONFIG_ENV} name a copy in a file"
        )
    return Path(place())


def absolute(place: str | os.PathLike[str]) -> str:
    """A place that is the same in every working directory."""
    return str(Path(place).absolute()) if is_file(str(place)) else str(place)


def hand_over(place: str, ask: Callable[[str], str | None]) -> None:
    """Read a text that is in no file, for this process and the processes that it starts. A file is left alone.

    Args:
        ask: gives the text of an Airflow Variable, or None.

    Raises:
        ConfigError: SLC-002, there is none, it cannot be read, or it is too long to be handed over.
    """
    if is_file(place):
        os.environ.pop(TEXT_ENV, None)
        return
    content = _variable(place, ask) if place.startswith(_VARIABLE) else _read_url(place)
    handed = base64.b64encode(zlib.compress(f"{place}\n".encode() + content)).decode()
    if len(handed) > _MOST_HANDED:
        raise ConfigError(
            2,
            f"the configuration {place} is too long to be handed to jobs: {len(handed):,} bytes when compressed",
            f"put it into a file on every machine, and let {CONFIG_ENV} name that",
        )
    os.environ[TEXT_ENV] = handed


def environment() -> dict[str, str]:
    """The text that this process read or was handed, as a part of an environment."""
    return {name: os.environ[name] for name in (TEXT_ENV,) if name in os.environ}


def read(place: str) -> bytes:
    """The text; of a file that is too large, a byte more than the largest has.

    Raises:
        OSError: the file cannot be read.
        ConfigError: SLC-002, the text at another place cannot be read.
    """
    if is_file(place):
        with Path(place).open("rb") as opened:
            return opened.read(MOST_BYTES_OF_FILE + 1)
    if text := os.environ.get(TEXT_ENV):
        known, _, content = zlib.decompress(base64.b64decode(text)).partition(b"\n")
        if known == place.encode():
            return content
    if place.startswith(_VARIABLE):
        raise ConfigError(
            2,
            f"the configuration is the Airflow Variable {place.removeprefix(_VARIABLE)!r}, and this process was not "
            "given its text",
            "start jobs through their DAG, and type commands where Airflow's environment is set",
        )
    return _read_url(place)


def _variable(place: str, ask: Callable[[str], str | None]) -> bytes:
    name = place.removeprefix(_VARIABLE)
    if text := ask(name):
        return text.encode()
    raise ConfigError(
        2,
        f"the configuration is to be the Airflow Variable {name!r}, and Airflow gave no text for it",
        f"see whether there is one: {shell.airflow('variables', 'get', name)}. If not, type: "
        f'{shell.airflow("variables", "set", name)} "$(cat FILE)"; or let {CONFIG_ENV} name another place',
    )


def _read_url(url: str) -> bytes:
    if has_secret(url):
        raise ConfigError(
            2,
            f"the URL in {CONFIG_ENV} has a password or another secret, which logs would show",
            "put the login into the environment of the processes that open it, see include/docs/stores.md",
        )
    path, mark, options = url.partition("?")
    directory, _, name = path.rpartition("/")
    try:
        with Directory(f"{directory}{mark}{options}").open(name) as stream:
            return stream.read(MOST_BYTES_OF_FILE + 1)
    except SluiceError as error:
        raise ConfigError(
            2,
            f"the configuration {url} cannot be read: {error.fact}",
            f"put it there, give this machine the login of the store, or let {CONFIG_ENV} name another place",
        ) from None
