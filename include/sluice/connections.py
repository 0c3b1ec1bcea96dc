"""Database connections on their way from Airflow to the process that uses them.

Passwords live in Airflow connections. A job, and the Spark tasks it starts, receive them *sealed*: one Fernet
token that only a holder of the deployment's key file can open, so that no environment, plan, option, log or
command line ever shows one. See include/docs/adr/0002-sealed-connections.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from sluice import paths, shell
from sluice.errors import ConfigError

KEY_FILE_ENV = "SLUICE_SEAL_KEY_FILE"
SEALED_ENV = "SLUICE_CONNECTIONS"
# The exit code of a process that asks Airflow, and finds that Airflow's own database cannot be read.
NO_DATABASE = 3
# By libpq's keywords: a database that went away without a word is noticed within half a minute, and not in two hours.
_HURRIED = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


@dataclass(frozen=True)
class ConnectionInfo:
    """The address and login of one database or service; the password is never in its repr."""

    conn_type: str
    host: str = ""
    port: int | None = None
    database: str = ""
    login: str = ""
    password: str = field(default="", repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def with_timeouts(self) -> ConnectionInfo:
        """Add the timeouts of a network to a PostgreSQL server's connection, unless it has its own."""
        return replace(self, extra={**_HURRIED, **self.extra})


def given_extras(info: ConnectionInfo, known: Collection[str]) -> dict[str, Any]:
    """The extras of a connection that have a value.

    Args:
        known: the extras that mean something for this kind of connection.

    Raises:
        ConfigError: SLC-017, there is another one: a person means something by it, which would not be so.
    """
    given = {name: value for name, value in info.extra.items() if value not in (None, "")}
    if unknown := sorted(given.keys() - known):
        raise ConfigError(
            17,
            f"the extra of the connection to {info.host} has {', '.join(unknown)}, which Sluice does not know",
            f"nothing was read or written; correct that name, or take it out: {shell.connect('ID')}. Known are "
            f"{', '.join(sorted(known))}",
        )
    return given


def key_file() -> Path:
    """The file of this process's sealing key."""
    return Path(os.environ.get(KEY_FILE_ENV) or paths.home() / "seal.key")


def new_key_file(path: Path) -> None:
    """Write a new sealing key to `path`, readable by its owner alone. Raises FileExistsError if anything is there."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(Fernet.generate_key())


def seal(connections: Mapping[str, ConnectionInfo]) -> str:
    """The connections as one opaque text, to be opened with the same key file."""
    plain = {conn_id: asdict(info) for conn_id, info in connections.items()}
    return _box().encrypt(json.dumps(plain).encode()).decode()


def open_sealed(text: str) -> dict[str, ConnectionInfo]:
    """The connections that `seal` was given. Raises ConfigError if the key is not the one that sealed them."""
    try:
        plain = json.loads(_box().decrypt(os.fsencode(text)))
    except InvalidToken:
        raise ConfigError(
            12,
            "the connections were sealed with another key than the one in this process's key file",
            f"put the same key file on every machine that runs jobs or Spark tasks, and set {KEY_FILE_ENV} to it",
        ) from None
    return {conn_id: ConnectionInfo(**fields) for conn_id, fields in plain.items()}


def find_salt(connections: Mapping[str, ConnectionInfo], conn_id: str | None) -> bytes:
    """The password of the connection that holds a slave's salt; none if the slave has none.

    Raises:
        ConfigError: SLC-014, there is no such connection, or it has no password.
    """
    if conn_id is None:
        return b""
    info = connections.get(conn_id)
    if info is None or not info.password:
        raise ConfigError(
            14,
            f"the salt for hashes is to be the password of the Airflow connection {conn_id!r}, and there is none",
            f"type: {shell.connect(conn_id)}, with a password of your own, and keep that as long as the slave",
        )
    return info.password.encode()


def sealed_text() -> str:
    """The sealed connections this process was started with."""
    text = os.environ.get(SEALED_ENV, "")
    if not text:
        raise ConfigError(
            14,
            f"no connections were handed to this job ({SEALED_ENV} is not set)",
            "start jobs through their DAG, or `./sluice`; they hand the connections over",
        )
    return text


def process_connections() -> dict[str, ConnectionInfo]:
    """The connections this process was started with, by Airflow connection id."""
    return open_sealed(sealed_text())


def _box() -> Fernet:
    path = key_file()
    try:
        return Fernet(path.read_bytes().strip())
    except (OSError, ValueError):
        raise ConfigError(
            12,
            f"the sealing key file {path} cannot be read or is no key",
            f"set {KEY_FILE_ENV} to the deployment's key file; `{shell.sluice('init')}` makes one",
        ) from None
