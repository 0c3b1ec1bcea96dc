"""The words of a statement of the log, as the server has read them; where that is not certain, it is not guessed.

How it was read hangs on the client's character set and on the session's `sql_mode`, which the log has with it.

Source: MariaDB Knowledge Base, "Comment Syntax", "Identifier Names", "String Literals", "SQL_MODE".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from sluice.model.names import TableName
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
# How a comment begins that was for a newer version, as the server writes it into the log.
_NEWER = re.compile(r"M? \d{5,6}")
_WORD = re.compile(r"[0-9A-Za-z_$\x80-\U0010ffff]+")
_SIGN = re.compile(r"[!%&()*+,\-./:;<=>?@\[\]^{|}~]")


class NotUnderstood(Exception):
    """It is not certain how the server has read a statement, or what it did. The text says why."""


@dataclass(frozen=True)
class Token:
    """A word, a name in quotes, a text or a sign.

    Attributes:
        is_read: it is one of these. Else all is uncertain from here on, and the text says why; to look at it raises
            NotUnderstood.
    """

    text: str
    is_name: bool = False
    is_quoted: bool = False
    is_read: bool = True

    def expect_read(self) -> None:
        """Raises NotUnderstood, from here on it is not certain what a statement says."""
        if not self.is_read:
            raise NotUnderstood(self.text)

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, in capitals, without quotes."""
        self.expect_read()
        return self.is_name and not self.is_quoted and self.text.isascii() and self.text.upper() in words

    def is_sign(self, sign: str) -> bool:
        """Whether it is this sign."""
        self.expect_read()
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
    if b"/*M!" in query.raw and not (query.server.own_comments or is_about_a_transaction(query)):
        raise NotUnderstood("a comment of it is none on another kind of server")
    if query.mode is None and (b'"' in query.raw or b"\\" in query.raw):
        raise NotUnderstood("the log does not tell the sql_mode")
    found = []
    for text, is_unicode, cut in _decoded(query, charsets):
        words: list[Token] = []
        try:
            words.extend(_tokens(text, query.mode or 0, is_unicode=is_unicode))
            if cut:
                raise NotUnderstood(cut)
        except NotUnderstood as error:
            words.append(Token(str(error), is_read=False))
        while words and words[-1].is_read and words[-1].is_sign(";"):
            words.pop()
        found.append(words)
    return found


def _tokens(text: str, mode: int, *, is_unicode: bool) -> Iterator[Token]:
    """The words of a statement. Raises NotUnderstood where that is not certain any more."""
    at, is_open = 0, False
    quoted = _quoted(mode)
    while at < len(text):
        if one := _BLANK.match(text, at):
            pass
        elif one := _LINE.match(text, at) or _COMMENT.match(text, at):
            # The server counts comments within one for a newer version, which in the log has no other sign.
            if is_open or (one.re is _COMMENT and "/*" in one[1] and _NEWER.match(one[1])):
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
            yield Token(one[0], is_name=True)
        elif one := quoted.match(text, at):
            sign = one[0][0]
            is_name = sign == "`" or (sign == '"' and bool(mode & _ANSI_QUOTES))
            yield Token(one[0][1:-1].replace(sign * 2, sign), is_name=is_name, is_quoted=True)
        elif one := None if text.startswith(("--", "/*", "*/"), at) else _SIGN.match(text, at):
            yield Token(one[0])
        else:
            raise NotUnderstood(f"there is no sense in {text[at : at + 20]!r}")
        at = one.end()
    if is_open:
        raise NotUnderstood("a comment has no end")


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


def _decoded(query: Query, charsets: Callable[[], Charsets]) -> list[tuple[str, bool, str]]:
    """The texts that a statement may be, whether they are Unicode, and why no more of them is certain."""
    raw = query.raw
    if raw.startswith(_OF_TRANSACTIONS):
        return [(raw.decode(errors="surrogateescape"), True, "")]
    if query.collation in _SWE7:
        raise NotUnderstood("the client's character set is swe7")
    if raw.isascii():
        return [(raw.decode(), True, "")]
    if query.collation is None:
        return _begun(raw, "the log does not tell its character set")
    known = charsets()
    name = known.name(query.collation)
    try:
        unicode = [(raw.decode(), True, "")]
    except UnicodeDecodeError:
        unicode = []
    if name in _UNICODE:
        return unicode or _begun(raw, f"it is not {name}, which it should be")
    decode = None if name.startswith("number") or known.width(query.collation) > 1 else known.decoder(query.collation)
    if decode is None:
        return _begun(raw, f"the client's character set is {name}")
    return [(decode(raw), False, ""), *unicode]


def _begun(raw: bytes, why: str) -> list[tuple[str, bool, str]]:
    """The words in front of the first sign beyond ASCII, which are the same in each character set of a client."""
    begun = re.match(rb"[\x00-\x7f]*[ \t\n\v\f\r]", raw)
    return [(begun[0].decode() if begun else "", True, why)]


def is_about_a_transaction(query: Query) -> bool:
    """Whether it says where a transaction begins or ends."""
    return query.raw.startswith(_OF_TRANSACTIONS)


def may_name(query: Query, name: TableName) -> bool:
    """Whether a statement that is not understood may be about a table: it is written, or a database is meant."""
    text = query.raw.replace(b"``", b"`").lower()
    is_of_all = b"database" in text or b"schema" in text
    return (query.schema == name.schema or _is_written(name.schema, text)) and (
        is_of_all or _is_written(name.table, text)
    )


def _is_written(name: str, text: bytes) -> bool:
    # The number of a version may stand before it.
    written = rb"(?<![a-z_$])" + re.escape(name.lower().encode()) + rb"(?![0-9a-z_$])"
    return re.search(written, text) is not None or not (name.isascii() or text.isascii())
