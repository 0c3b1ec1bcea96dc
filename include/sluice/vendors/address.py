"""Addresses as a person types them, such as `postgresql://sluice@db1:5432/shop`, and the Airflow connections they are.

An address never has a password: a command line is in the list of processes, and in the history of a shell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sluice.errors import ConfigError
from sluice.libpq import PORT

# By the types of Airflow's connections.
EXAMPLES = {
    "postgres": "postgresql://USER@HOST:PORT/DATABASE?sslmode=require",
    "mysql": "mysql://USER@HOST:PORT?sslmode=require (MariaDB, MySQL)",
    "oracle": "oracle://USER@HOST:PORT/SERVICE?protocol=tcps",
    "http": "http://USER@HOST:PORT",
    "spark_connect": "sc://HOST:PORT (Spark Connect; /;use_ssl=true)",
    "spark": "spark://HOST:PORT, local[*] or yarn (spark-submit)",
    "fs": "file:///DIRECTORY (a slave of files)",
}


_NO_PASSWORD = "an address has no password: it is asked for, read from stdin, or by --password-env"
_PASSWORDS = {"password", "sslpassword", "ssl_key_password", "wallet_password"}


@dataclass(frozen=True)
class Address:
    """An Airflow connection without its password, under Airflow's names of the fields.

    Attributes:
        secret: what its password is; empty if it has none.
    """

    conn_type: str
    host: str | None = None
    port: int | None = None
    schema: str | None = None
    login: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    secret: str = "password"


# A connection of which a password is all.
SECRET = Address("generic")


def parsed(text: str, types: Collection[str] = tuple(EXAMPLES)) -> Address:
    """The address that a text is. Raises ConfigError SLC-017, it is none, or none of these types."""
    examples = ", or ".join(EXAMPLES[name] for name in types)
    try:
        address = _parsed(text.strip())
    except ValueError as error:
        raise ConfigError(17, f"{error}", f"nothing was changed; write {examples}") from None
    if address.conn_type not in types:
        raise ConfigError(
            17,
            f"an address of type {address.conn_type} does not fit this connection, of type {' or '.join(types)}",
            f"nothing was changed; write {examples}",
        )
    return address


def _parsed(text: str) -> Address:
    scheme, separator, rest = text.partition("://")
    if not separator or scheme == "k8s":
        if not text or "@" in text:
            raise ValueError("this is no address")
        return Address("spark", text, secret="")
    if scheme == "file":
        path, _, more = rest.partition("?")
        if not path.startswith("/"):
            raise ValueError("a directory is written with its whole path: file:///DIRECTORY")
        hours = {name: int(value) for name, value in parse_qsl(more)}
        return Address("fs", extra={"path": unquote(path), **hours}, secret="")
    parts = urlsplit(text)
    extra = dict(parse_qsl(parts.query))
    if parts.password is not None or _PASSWORDS & extra.keys():
        raise ValueError(_NO_PASSWORD)
    login = unquote(parts.username) if parts.username else None
    if scheme in ("postgresql", "postgres"):
        return _database(parts, login, extra)
    if scheme in ("mysql", "mariadb"):
        return _mysql(parts, login, extra)
    if scheme == "oracle":
        return _oracle(parts, login, extra)
    host = parts.hostname
    if not host:
        raise ValueError("this address has no host")
    if scheme in ("http", "https"):
        return Address("http", host, parts.port, login=login, extra={"schema": "https"} if scheme == "https" else {})
    if scheme == "sc":
        given = dict(one.partition("=")[::2] for one in parts.path.lstrip("/").split(";") if one)
        if "token" in given:
            raise ValueError("an address has no token: it is asked for, read from stdin, or by --password-env")
        secure = {"use_ssl": True} if given.get("use_ssl") == "true" else {}
        return Address(
            "spark_connect", host, parts.port or 15002, login=given.get("user_id"), extra=secure, secret="token"
        )
    if scheme == "spark":
        return Address("spark", f"spark://{host}", parts.port or 7077, secret="")
    raise ValueError(f"nothing is reached by {scheme}://")


def _mysql(parts: Any, login: str | None, extra: dict[str, Any]) -> Address:
    if not parts.hostname or not login:
        raise ValueError("this address has no host, or no user")
    # Databases are named by `schema` and `schemas` of the slave.
    database = unquote(parts.path.lstrip("/")) or None
    return Address("mysql", parts.hostname, parts.port or 3306, database, login, extra, _secret(extra))


def _oracle(parts: Any, login: str | None, extra: dict[str, Any]) -> Address:
    service = unquote(parts.path.lstrip("/"))
    _expect(host=parts.hostname, user=login, service=service)
    return Address("oracle", parts.hostname, parts.port or 1521, service, login, extra)


def _database(parts: Any, login: str | None, extra: dict[str, Any]) -> Address:
    # As libpq has it: a directory of sockets has slashes, which a host before the path cannot have.
    host = extra.pop("host", None) or parts.hostname
    database = unquote(parts.path.lstrip("/"))
    _expect(host=host, user=login, database=database)
    return Address("postgres", host, parts.port or PORT, database, login, extra, _secret(extra))


def _secret(extra: Mapping[str, Any]) -> str:
    """The name of what a person is asked for: nothing where it is fetched."""
    return "" if {"password_command", "iam"} & extra.keys() else "password"


def _expect(**found: str | None) -> None:
    if missing := [name for name, value in found.items() if not value]:
        raise ValueError(f"this address has no {' and no '.join(missing)}")
