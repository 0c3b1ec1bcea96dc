"""A server of Oracle that somebody names for the tests: `./sluice test --oracle-dsn`.

The tests make users of their own there, and drop them. The password of SYS is in the environment, and in no command.
"""

from __future__ import annotations

import os
import re

import oracledb

from sluice.errors import SluiceError

DSN_ENV, PASSWORD_ENV = "SLUICE_ORACLE_DSN", "SLUICE_ORACLE_PASSWORD"
_DSN = re.compile(r"([A-Za-z0-9.-]+):(\d{1,5})/([A-Za-z0-9_.-]+)")


def name(dsn: str) -> None:
    """Let the tests use this server, too. Raises SluiceError SLC-914."""
    _parts(dsn)
    _password()
    # For the processes of the tests.
    os.environ[DSN_ENV] = dsn


def is_named() -> bool:
    """Whether somebody named a server."""
    return bool(os.environ.get(DSN_ENV))


def address() -> tuple[str, int, str]:
    """Its host, port and service. Raises SluiceError SLC-914, it is not written so."""
    return _parts(os.environ[DSN_ENV])


def connect(user: str, password: str, **more: object) -> oracledb.Connection:
    """A session of this user."""
    host, port, service = address()
    return oracledb.connect(user=user, password=password, host=host, port=port, service_name=service, **more)


def administrator() -> oracledb.Connection:
    """A session of SYS. Raises SluiceError SLC-914."""
    return connect("sys", _password(), mode=oracledb.AUTH_MODE_SYSDBA)


def _password() -> str:
    password = os.environ.get(PASSWORD_ENV)
    if not password:
        raise SluiceError(
            914,
            f"the password of SYS on the Oracle server is not in {PASSWORD_ENV}",
            f"nothing was run; type: read -rs {PASSWORD_ENV}; export {PASSWORD_ENV}",
        )
    return password


def _parts(dsn: str) -> tuple[str, int, str]:
    match = _DSN.fullmatch(dsn)
    if match is None:
        raise SluiceError(
            914,
            "the address of the Oracle server is not of the form HOST:PORT/SERVICE",
            f"nothing was run; write localhost:1521/FREEPDB1 or so. The password of SYS belongs in {PASSWORD_ENV}",
        )
    return match[1], int(match[2]), match[3]
