"""The words of a statement of the log, as the server has read them; where that is not certain, it is not guessed.

How it was read hangs on the client's character set and on the session's `sql_mode`, which the log has with it.

Source: MariaDB Knowledge Base, "Comment Syntax", "Identifier Names", "String Literals", "SQL_MODE".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
_SWE7, _LETTERS_OF_SWE7 = (10, 82), re.compile(r"[@\[-^`{-~\x80-\xff]")
_UNICODE = {"utf8", "utf8mb3", "utf8mb4", "binary"}
# Signs of several bytes, some of them of ASCII, in gbk, big5, sjis and cp932, gb18030; last, each byte is a sign.
_SIGNS = [
    re.compile(rf"{sign}|[\x80-\xff]")
    for sign in (
        r"[\x81-\xfe][\x40-\x7e\x80-\xfe]",
        r"[\xa1-\xf9][\x40-\x7e\xa1-\xfe]",
        r"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]",
        r"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])",
        r"[\x80-\xff]",
    )
]
# A byte with an uncertain meaning is read as half of a pair of UTF-16.
_HALF = 0xDC00
_BLANK = re.compile(r"[ \t\n\v\f\r]+")
# What follows two dashes in a comment: the server asks for a blank or a control character.
_LINE = re.compile(r"(?:--(?=[\x00-\x20\x7f]|\Z)|\#)[^\n]*")
# The version has five digits or six; what follows is a part of the statement. The server takes the sign out of one for
# a newer version, and the comments within. MySQL has no comments of its own.
_OPENING = {True: re.compile(r"/\*M?!(?:\d{5,6})?"), False: re.compile(r"/\*!(?:\d{5,6})?")}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NULL = re.compile(r"\\N")
_WORD = re.compile(r"[0-9A-Za-z_$\x80-\U0010ffff]+")
_SIGN = re.compile(r"-(?!-[\x80-\U0010ffff])|[!%&()*+,./:;<=>?@\[\]^{|}~]")


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


def modes_of(query: Query) -> list[int]:
    """Each `sql_mode` under which the quotes of a statement may have been read."""
    mode = query.mode or 0
    if query.mode is not None and b"SQL_MODE" not in query.raw.upper():
        # A prepared statement and a routine were read under the mode of then, and the log has the mode of now. Where a
        # text ends hangs on that if there is a backslash.
        if b"\\" not in query.raw:
            return [mode]
        if b'"' not in query.raw:
            return [mode, mode ^ _NO_BACKSLASH]
    return [mode ^ ansi ^ backslash for ansi in (0, _ANSI_QUOTES) for backslash in (0, _NO_BACKSLASH)]


def readings(query: Query, charsets: Callable[[], Charsets], modes: Sequence[int] = ()) -> list[list[Token]]:
    """Each way in which the server may have read a statement: statements that it made itself are in UTF-8.

    Args:
        modes: the `sql_mode`s that count; the log's if there are none.
    """
    if query.mode is None and not modes and (b'"' in query.raw or b"\\" in query.raw):
        raise NotUnderstood("the log does not tell the sql_mode")
    comments = query.server.own_comments
    each: list[list[Token]] = []
    for text, is_unicode in _decoded(query, charsets):
        for mode in modes or (query.mode or 0,):
            for splits in (False,) if is_unicode else (False, True):
                words = _words(_tokens(text, mode, own_comments=comments, splits=splits))
                if words not in each:
                    each.append(words)
    # Where one has no end, the server has read it otherwise.
    return [words for words in each if not words or words[-1].is_read] or each


def _words(tokens: Iterator[Token]) -> list[Token]:
    """A statement, as far as it can be read."""
    words: list[Token] = []
    try:
        words.extend(tokens)
    except NotUnderstood as error:
        words.append(Token(str(error), is_read=False))
    while words and words[-1].is_read and words[-1].is_sign(";"):
        words.pop()
    return words


def _tokens(text: str, mode: int, *, own_comments: bool, splits: bool) -> Iterator[Token]:
    """The words of a statement. Raises NotUnderstood where that is not certain any more.

    Args:
        splits: signs beyond ASCII that are no letters are blanks.
    """
    at, is_open = 0, False
    quoted, opening = _quoted(mode), _OPENING[own_comments]
    while at < len(text):
        if one := _BLANK.match(text, at) or _LINE.match(text, at):
            pass
        elif one := opening.match(text, at):
            is_open = True
        elif one := _COMMENT.match(text, at):
            # Also within one that is a part of the statement.
            pass
        elif is_open and text.startswith("*/", at):
            is_open = False
            at += 2
            continue
        elif one := _NULL.match(text, at):
            yield Token("NULL", is_name=True)
        elif one := _WORD.match(text, at):
            word = one[0]
            if splits:
                word = "".join(sign if sign.isascii() or sign.isalpha() else " " for sign in word)
            yield from (Token(part, is_name=True) for part in word.split(" ") if part)
        elif one := quoted.match(text, at):
            sign = one[0][0]
            is_name = sign == "`" or (sign == '"' and bool(mode & _ANSI_QUOTES))
            yield Token(one[0][1:-1].replace(sign * 2, sign), is_name=is_name, is_quoted=True)
        elif one := None if text.startswith(("/*", "*/"), at) else _SIGN.match(text, at):
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


def _decoded(query: Query, charsets: Callable[[], Charsets]) -> list[tuple[str, bool]]:
    """The texts that a statement may be, and whether they are Unicode."""
    raw, is_swedish = query.raw, query.collation in _SWE7
    if raw.startswith(_OF_TRANSACTIONS):
        return [(raw.decode(errors="surrogateescape"), True)]
    if raw.isascii() and not is_swedish:
        return [(raw.decode(), True)]
    try:
        unicode = [(raw.decode(), True)]
    except UnicodeDecodeError:
        unicode = []
    known = None if is_swedish or query.collation is None else charsets()
    if known and unicode and known.name(query.collation) in _UNICODE:
        return [*unicode, *_of_two_bytes(raw)]
    decode = known.decoder(query.collation) if known and known.width(query.collation) == 1 else None
    if decode:
        return [(decode(raw), False), *unicode, *_of_two_bytes(raw)]
    signs = [*_SIGNS, _LETTERS_OF_SWE7] if is_swedish else _SIGNS
    return [*((sign.sub(_halves, raw.decode("latin1")), False) for sign in signs), *unicode]


def _of_two_bytes(raw: bytes) -> list[tuple[str, bool]]:
    """Texts in which a sign of two bytes holds a quote or a backslash.

    A prepared statement was read in the character set of then, and the log has the one of now.
    """
    text = raw.decode("latin1")
    holding = [sign for sign in _SIGNS if any(each[0][-1] in "`\\" for each in sign.finditer(text))]
    return [(sign.sub(_halves, text), False) for sign in holding]


def _halves(sign: re.Match[str]) -> str:
    return "".join(chr(_HALF + ord(byte)) for byte in sign[0])


def is_about_a_transaction(query: Query) -> bool:
    """Whether it says where a transaction begins or ends."""
    return query.raw.startswith(_OF_TRANSACTIONS)
