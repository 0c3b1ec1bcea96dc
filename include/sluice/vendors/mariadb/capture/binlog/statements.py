"""The words of a statement of the log, as the server has read them; where that is not certain, it is not guessed.

How it was read hangs on the client's character set and on the session's `sql_mode`, which the log has with it.

Source: MariaDB Knowledge Base, "Comment Syntax", "Identifier Names", "String Literals", "SQL_MODE".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.charsets import Charsets

_ANSI_QUOTES, _NO_BACKSLASH, _STRICT = 1 << 2, 1 << 20, 1 << 21 | 1 << 22
_ORACLE, _MAXDB, _PADDED, _EMPTY_IS_NULL, _ZERO_IS_ZERO = 1 << 9, 1 << 12, 1 << 31, 1 << 32, 1 << 19
# Statements about transactions are the server's own texts, in its character set; the log has the client's with them all
# the same, and the database of the session, which says nothing of what they are about.
_OF_TRANSACTIONS = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT", b"XA ")
# In which bytes of ASCII are letters of other alphabets.
_SWE7 = (10, 82)
_UNICODE = {"utf8", "utf8mb3", "utf8mb4", "binary"}
_BLANK = re.compile(r"[ \t\n\v\f\r]+")
# What follows two dashes in a comment: the server asks for a blank or a control character.
_LINE = re.compile(r"(?:--(?=[\x00-\x20\x7f]|\Z)|\#)[^\n]*")
_COMMENT = re.compile(r"/\*(?!M?!)(.*?)\*/", re.DOTALL)
# The version has five digits or six; what follows is a part of the statement.
_OPENING = re.compile(r"/\*M?!(?:\d{5,6})?")
_WORD = re.compile(r"[0-9A-Za-z_$\x80-\U0010ffff]+")
_SIGN = re.compile(r"[!%&()*+,\-./:;<=>?@\[\]^{|}~]")


class NotUnderstood(Exception):
    """It is not certain how the server has read a statement, or what it did. The text says why."""


@dataclass(frozen=True)
class Token:
    """A word, a name in quotes, a text or a sign."""

    text: str
    is_name: bool = False
    is_quoted: bool = False

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, in capitals, without quotes."""
        return self.is_name and not self.is_quoted and self.text.isascii() and self.text.upper() in words

    def is_sign(self, sign: str) -> bool:
        """Whether it is this sign."""
        return not self.is_name and not self.is_quoted and self.text == sign


def is_strict(query: Query) -> bool:
    """Whether an ALTER of this session fails where values are lost."""
    return query.mode is not None and bool(query.mode & _STRICT)


def is_read_as_written(query: Query) -> bool:
    """Whether types are those of MariaDB, '' is an empty text, and a CHAR has no blanks at its end."""
    return query.mode is not None and not query.mode & (_ORACLE | _MAXDB | _PADDED | _EMPTY_IS_NULL)


def keeps_zeros(query: Query) -> bool:
    """Whether 0 is a number like others in a column with AUTO_INCREMENT."""
    return query.mode is not None and query.mode & _ZERO_IS_ZERO != 0


def readings(query: Query, charsets: Callable[[], Charsets]) -> list[list[Token]]:
    """Each way in which the server may have read a statement: statements that it made itself are in UTF-8."""
    if b"/*M!" in query.raw and not query.server.own_comments:
        raise NotUnderstood("a comment of it is none on another kind of server")
    return [tokens(text, query.mode, is_unicode=is_unicode) for text, is_unicode in _decoded(query, charsets)]


def tokens(text: str, mode: int | None, *, is_unicode: bool = True) -> list[Token]:
    """The words of a statement. Raises NotUnderstood."""
    if mode is None and ('"' in text or "\\" in text):
        raise NotUnderstood("the log does not tell the sql_mode")
    found: list[Token] = []
    at, is_open = 0, False
    quoted = _quoted(mode or 0)
    while at < len(text):
        if one := _BLANK.match(text, at):
            pass
        elif one := _LINE.match(text, at) or _COMMENT.match(text, at):
            # The server counts comments within comments in some places, and not in others.
            if is_open or "/*" in (one[1] if one.re is _COMMENT else ""):
                raise NotUnderstood("there is a comment within a comment")
        elif one := _OPENING.match(text, at):
            if is_open:
                raise NotUnderstood("there is a comment within a comment")
            is_open = True
        elif is_open and text.startswith("*/", at):
            is_open = False
            at += 2
            continue
        elif one := _WORD.match(text, at):
            if not is_unicode and any(not sign.isascii() and not sign.isalpha() for sign in one[0]):
                raise NotUnderstood(f"{one[0]!r} may be a name or not")
            found.append(Token(one[0], is_name=True))
        elif one := quoted.match(text, at):
            sign = one[0][0]
            is_name = sign == "`" or (sign == '"' and bool((mode or 0) & _ANSI_QUOTES))
            found.append(Token(one[0][1:-1].replace(sign * 2, sign), is_name=is_name, is_quoted=True))
        elif one := None if text.startswith(("--", "/*", "*/"), at) else _SIGN.match(text, at):
            found.append(Token(one[0]))
        else:
            raise NotUnderstood(f"there is no sense in {text[at : at + 20]!r}")
        at = one.end()
    if is_open:
        raise NotUnderstood("a comment has no end")
    while found and found[-1].is_sign(";"):
        found.pop()
    return found


@cache
def _quoted(mode: int) -> re.Pattern[str]:
    inner = "" if mode & _NO_BACKSLASH else r"\\."
    texts = [
        rf"{sign}(?:{sign}{sign}|[^{sign}{escape}]{more})*{sign}(?!{sign})"
        for sign, escape, more in (
            ("'", "\\\\" if inner else "", rf"|{inner}" if inner else ""),
            ('"', *(("", "") if mode & _ANSI_QUOTES or not inner else ("\\\\", rf"|{inner}"))),
            ("`", "", ""),
        )
    ]
    return re.compile("|".join(texts), re.DOTALL)


def _decoded(query: Query, charsets: Callable[[], Charsets]) -> list[tuple[str, bool]]:
    raw = query.raw
    if raw.startswith(_OF_TRANSACTIONS):
        try:
            return [(raw.decode(), True)]
        except UnicodeDecodeError:
            raise NotUnderstood("it is not UTF-8, as all that the server writes itself") from None
    if query.collation in _SWE7:
        raise NotUnderstood("the client's character set is swe7")
    if raw.isascii():
        return [(raw.decode(), True)]
    if query.collation is None:
        raise NotUnderstood("the log does not tell its character set")
    known = charsets()
    name = known.name(query.collation)
    try:
        unicode = [(raw.decode(), True)]
    except UnicodeDecodeError:
        unicode = []
    if name in _UNICODE:
        if not unicode:
            raise NotUnderstood(f"it is not {name}, which it should be")
        return unicode
    decode = None if name.startswith("number") or known.width(query.collation) > 1 else known.decoder(query.collation)
    if decode is None:
        raise NotUnderstood(f"the client's character set is {name}")
    return [(decode(raw), False), *unicode]


def may_name(query: Query, schemas: Collection[str]) -> bool:
    """Whether a table of these databases may be named, or its rows be meant: one is the session's, or is written."""
    text = query.raw.replace(b"``", b"`").lower()
    return (
        query.raw.startswith(_OF_TRANSACTIONS)
        or query.schema in schemas
        or any(one.lower().encode() in text or not (one.isascii() or text.isascii()) for one in schemas)
    )
