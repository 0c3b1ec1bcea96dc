"""Character sets of columns, by the numbers of their collations: what bytes of a row mean.

Unicode is decoded here. Of a character set with one byte a sign the server says itself which sign each byte is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pymysql

from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import Connection, Row, composed, execute

# The number of the collation of what is no text.
BINARY = 63
_NO_COLUMN = 1054
_UNICODE = {
    "utf8mb4": "utf-8",
    "utf8mb3": "utf-8",
    "utf8": "utf-8",
    "ascii": "ascii",
    "ucs2": "utf-16-be",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
}


def name_of(raw: bytes) -> str:
    """A name of the server's: in UTF-8, but halves of pairs of UTF-16 may be in it."""
    return raw.decode(errors="surrogateescape")


def is_text(name: str) -> bool:
    """Whether a name has no such halves, which nobody else takes."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


class _Charset(NamedTuple):
    name: str
    width: int


class Charsets:
    """What a server knows of character sets."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._known: Mapping[int, _Charset] = {
            int(number): _Charset(name, int(width)) for number, name, width in _collations(session)
        }
        self.decoder = cache(self._decoder)

    def name(self, collation: int | None) -> str:
        """The name of a collation's character set."""
        found = self._known.get(collation or 0)
        return found.name if found else f"number {collation}"

    def width(self, collation: int | None) -> int:
        """How many bytes a sign has at most."""
        found = self._known.get(collation or 0)
        return found.width if found else 1

    def _decoder(self, collation: int | None) -> Callable[[bytes], str] | None:
        """How its bytes are decoded; None if only the server can."""
        found = self._known.get(collation or 0)
        if found is None:
            return None
        if codec := _UNICODE.get(found.name):
            return lambda raw: raw.decode(codec)
        if found.width > 1:
            return None
        signs = self._signs(found.name)
        return lambda raw: "".join([signs[byte] for byte in raw])

    def _signs(self, name: str) -> str:
        every = bytes(range(256)).hex()
        ((signs,),) = execute(self._session, f"SELECT CONVERT(x'{every}' USING {name})")
        return signs if isinstance(signs, str) else bytes(signs).decode()


def _collations(session: Connection) -> list[Row]:
    first, *others = session.server.collations
    try:
        return execute(session, composed("catalog/charsets", collations=first))
    except pymysql.Error as error:
        if number_of(error) != _NO_COLUMN or not others:
            raise
    session.server = replace(session.server, collations=tuple(others))
    return _collations(session)
