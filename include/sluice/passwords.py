"""Passwords that expire, such as tokens of clouds: fetched where a session is opened, and not once.

The extra of a connection says where from: `iam` for a token of Amazon RDS, or `password_command`, a program that prints
it. A connection alone starts no program: people who edit connections need not be administrators of the machines. The
environment of each machine has to permit it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice import shell
from sluice.connections import SEALED_ENV, ConnectionInfo
from sluice.errors import AGAIN, ConfigError, PasswordExpired, SluiceError

# The programs that may be started, by their whole paths, with a colon between two.
PROGRAMS_ENV = "SLUICE_PASSWORD_PROGRAMS"
# The extras of a connection that say it.
EXTRAS = frozenset({"password_command", "iam", "region_name", "password_expires"})

_PATIENCE_S = 30.0
# Tokens of RDS are taken for 15 minutes, others for longer. One that is refused earlier is fetched again.
_KEPT_S = 600.0


@dataclass(frozen=True)
class _Kept:
    password: str = field(repr=False)
    at: float


# Of one connection a thread fetches at a time: others then have what it has got. No connection waits for another one.
_lock = threading.Lock()
_fetching: dict[tuple[Any, ...], threading.Lock] = {}
_kept: dict[tuple[Any, ...], _Kept] = {}


def password_of(info: ConnectionInfo, port: int, *, refused: str | None = None) -> str:
    """The password for a session that is opened now.

    Args:
        port: of the server, where the connection names none.
        refused: the one that the server has refused; it is not given again unless it is fetched again.

    Raises:
        ConfigError: SLC-017, the extra is wrong, or its program is not permitted.
        PasswordExpired: SLC-691, it cannot be fetched.
    """
    if not is_fetched(info):
        return info.password
    key = (info.host, info.port, info.login, *(str(info.extra.get(name)) for name in sorted(EXTRAS)))
    with _lock:
        alone = _fetching.setdefault(key, threading.Lock())
    with alone:
        kept = _kept.get(key)
        if kept is None or kept.at + _KEPT_S < time.monotonic() or kept.password == refused:
            kept = _kept[key] = _Kept(_fetch(info, port), time.monotonic())
        return kept.password


def is_fetched(info: ConnectionInfo) -> bool:
    """Whether a connection has no password of its own."""
    return bool(info.extra.get("password_command")) or _is_on(info, "iam")


def list_fetched() -> set[str]:
    """The passwords that this process has fetched: no log may have them."""
    return {kept.password for kept in list(_kept.values())}


def login_error(info: ConnectionInfo, error: SluiceError, *, is_refused: bool) -> SluiceError:
    """The error of a session that was not opened: a password that expires is asked for again by the next try.

    Args:
        is_refused: the server refused the login.
    """
    if not is_refused or not _is_on(info, "password_expires"):
        return error
    return PasswordExpired(
        691,
        error.fact,
        f"its password expires, as `password_expires` says: nothing is lost, {AGAIN}, with the one that Airflow hands "
        f"out then. If it stays, fix the login: {shell.connect('ID')}",
    )


def _is_on(info: ConnectionInfo, name: str) -> bool:
    said = str(info.extra.get(name) or False).lower()
    if said not in ("true", "false"):
        raise ConfigError(
            17,
            f"`{name}` of the connection to {info.host} is neither true nor false",
            f"nothing was opened; type: {shell.connect('ID')}",
        )
    return said == "true"


def _fetch(info: ConnectionInfo, port: int) -> str:
    command = info.extra.get("password_command")
    return _run(info, _words(info, command)) if command else _sign(info, port)


def _words(info: ConnectionInfo, command: object) -> list[str]:
    """The program and its arguments: a list, or a text with blanks and quotes as in a shell."""
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        words = None
    if not (isinstance(words, Sequence) and words and all(isinstance(word, str) for word in words)):
        raise ConfigError(
            17,
            f"the `password_command` of the connection to {info.host} is no program with its arguments",
            f"nothing was started; write a text, or a list of texts: {shell.connect('ID')}",
        )
    if words[0] not in os.environ.get(PROGRAMS_ENV, "").split(os.pathsep) or words[0][:1] != "/":
        raise ConfigError(
            17,
            f"the `password_command` of the connection to {info.host} is {words[0]}, which this machine does not "
            "permit",
            f"nothing was started; put its whole path into {PROGRAMS_ENV} on every machine that runs jobs or Spark "
            "tasks",
        )
    return list(words)


def _run(info: ConnectionInfo, words: list[str]) -> str:
    """The first line that a program prints. It is started without a shell, and nothing of its output is told."""
    environment = {name: value for name, value in os.environ.items() if name != SEALED_ENV}
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _failure(info, f"{words[0]} printed none within {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise _failure(info, f"{words[0]} cannot be started: {error.strerror}") from None
    password = done.stdout.split(b"\n")[0].rstrip(b"\r").decode(errors="replace")
    if done.returncode or not password:
        raise _failure(info, f"{words[0]} ended with {done.returncode}{'' if password else ', and printed none'}")
    return password


def _sign(info: ConnectionInfo, port: int) -> str:
    """A token of RDS for the login; it is signed here, with the credentials that boto3 finds on this machine."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = boto3.session.Session(region_name=info.extra.get("region_name") or None).client("rds")
        token = client.generate_db_auth_token(DBHostname=info.host, Port=info.port or port, DBUsername=info.login)
    except (BotoCoreError, ClientError) as error:
        # A program that gives credentials may have written its text.
        raise _failure(info, f"boto3 cannot sign it ({type(error).__name__})") from None
    return str(token)


def _failure(info: ConnectionInfo, why: str) -> PasswordExpired:
    return PasswordExpired(
        691,
        f"the password of {info.login} at {info.host} cannot be fetched: {why}",
        "nothing was read or written; let the user who runs jobs do the same by hand on that machine, and fix what it "
        f"says; {AGAIN}",
    )
