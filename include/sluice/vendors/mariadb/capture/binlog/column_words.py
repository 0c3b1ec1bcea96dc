"""The definition of a column in a statement of the log: its type, whether it may be NULL, and what rows that are there
already get in it.

Only what is certain is read. A default that is computed, or that hangs on a time zone or a character set, is not.

Source: MariaDB Knowledge Base, "CREATE TABLE", "Data Types".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.model.layout import Column
from sluice.vendors.mariadb.capture.binlog.default_values import REALS, TEXTS, implied, of_bits, of_number, of_text
from sluice.vendors.mariadb.capture.binlog.grammar import Parser
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token
from sluice.vendors.mariadb.master_types import INTEGERS, MasterColumn

_ALIASES = {"INTEGER": "int", "DEC": "decimal", "NUMERIC": "decimal", "FIXED": "decimal", "CHARACTER": "char"}
_SIZED = {"decimal", "bit", "char", "varchar", "binary", "varbinary", "datetime", "timestamp", "time", "year"}
_PLAIN = {"float", "double", "date", "uuid", "inet4", "inet6", "json", "enum", "set"}
_BLOBS = {"tinyblob", "blob", "mediumblob", "longblob"}
_KINDS = {*INTEGERS, *_SIZED, *_PLAIN, *TEXTS, *_BLOBS}
_OF_LETTERS = {"char", "varchar", "enum", "set", *TEXTS}
_SIGNED = {*INTEGERS, "decimal", "float", "double"}
_FLOAT_BITS = 24
# A longer one may become a text.
_LONGEST = 16_383


@dataclass(frozen=True)
class SaidColumn:
    """A column, as a statement defines it.

    Attributes:
        kind: as the catalog calls its type: `int`, `varchar`.
        type: as the log names it.
        is_explicit: it is said whether it may be NULL.
        default: the text that it has where nothing is given, in canonical form; None for NULL.
        is_known: that is certain.
        is_key: it is the primary key.
        counts: it numbers rows.
        first: it comes in front of all others.
        behind: the column that it comes behind.
        members: of an ENUM or SET.
    """

    name: str
    kind: str
    type: str
    digits: int
    not_null: bool = False
    is_explicit: bool = False
    default: str | None = None
    is_known: bool = True
    is_key: bool = False
    counts: bool = False
    first: bool = False
    behind: str | None = None
    members: tuple[str, ...] = ()

    @property
    def column(self) -> Column:
        """The same, as a layout has it."""
        return Column(self.name, self.type, self.not_null, members=self.members, counts=self.counts)


def column(parser: Parser) -> SaidColumn:
    """A name and a definition, which end the statement's part. Raises NotUnderstood."""
    name = parser.word()
    described, members = _type(name, parser)
    if described.type is None:
        raise NotUnderstood(f"the type of {name} is not known")
    found = _Options(described, members)
    while parser.rest:
        found.take(parser)
    return found.said(described.type)


def size(parser: Parser) -> list[int]:
    """Numbers between brackets, if they are next. Raises NotUnderstood."""
    found: list[int] = []
    if not parser.takes_sign("("):
        return found
    while True:
        found.append(_number(parser))
        if parser.takes_sign(")"):
            return found
        if not parser.takes_sign(","):
            raise NotUnderstood("a bracket is missing")


def _number(parser: Parser) -> int:
    one = parser.step()
    if one.is_quoted or not (one.text.isascii() and one.text.isdigit()):
        raise NotUnderstood(f"a number is expected where {one.text!r} is")
    return int(one.text)


def _type(name: str, parser: Parser) -> tuple[MasterColumn, list[str]]:
    """The type as the catalog would show it, and the members of an ENUM or SET."""
    word = parser.step()
    said = word.text.upper()
    if not word.is_word(said):
        raise NotUnderstood(f"a type is expected where {word.text!r} is")
    if said in ("BOOL", "BOOLEAN"):
        return _made(name, "tinyint"), []
    kind = _ALIASES.get(said, said.lower())
    if kind not in _KINDS:
        raise NotUnderstood(f"the type {said} is not known")
    if kind == "double":
        parser.takes("PRECISION")
    if kind == "char" and parser.takes("VARYING"):
        kind = "varchar"
    members = list(_members(parser)) if kind in ("enum", "set") else []
    sizes = size(parser) if kind in _SIZED or kind in INTEGERS or kind in REALS else []
    unsigned = False
    while kind in _SIGNED and parser.peeks("UNSIGNED", "SIGNED", "ZEROFILL"):
        unsigned |= not parser.takes("SIGNED") and parser.takes("UNSIGNED", "ZEROFILL")
    if kind in _OF_LETTERS:
        _letters(parser)
    first, second = (*sizes, None, None)[:2]
    if len(sizes) > (2 if kind == "decimal" or kind in REALS else 1) or (
        kind in ("varchar", "varbinary") and first is None
    ):
        raise NotUnderstood(f"the size of {name} is not known")
    if kind in ("char", "varchar", "varbinary", "binary"):
        length = 1 if first is None else first
        if not 0 < length <= _LONGEST:
            raise NotUnderstood(f"{name} may be of another type than it says")
        return _made(name, kind, length=length), members
    if kind in ("decimal", "bit"):
        usual = 10 if kind == "decimal" else 1
        return _made(name, kind, precision=first or usual, scale=second or 0), members
    if kind in ("datetime", "timestamp", "time"):
        return _made(name, kind, digits=first or 0), members
    if kind in REALS and first is not None:
        # One number says how precise it is, two how it is rounded.
        if second == 0:
            raise NotUnderstood(f"{name} rounds to whole numbers")
        kind = "double" if second is None and first > _FLOAT_BITS else kind
        return _made(name, kind, precision=first, scale=second or 0), members
    return _made(name, kind, whole="unsigned" if unsigned else kind), members


def _made(
    name: str, kind: str, *, whole: str = "", length: int = 0, precision: int = 0, scale: int = 0, digits: int = 0
) -> MasterColumn:
    return MasterColumn(name, kind, whole, length, precision, scale, digits, False, False)


def _members(parser: Parser) -> Iterator[str]:
    if not parser.takes_sign("("):
        raise NotUnderstood("the members are missing")
    while True:
        # The server takes blanks from their ends.
        yield text(parser.step()).rstrip(" ")
        if parser.takes_sign(")"):
            return
        if not parser.takes_sign(","):
            raise NotUnderstood("a bracket is missing")


def _letters(parser: Parser) -> None:
    """Step over a character set and a collation."""
    while parser.peeks("CHARACTER", "CHARSET", "COLLATE"):
        if parser.takes("CHARACTER"):
            parser.expect("SET")
        else:
            parser.takes("CHARSET", "COLLATE")
        parser.takes_sign("=")
        if parser.step().text.upper() == "BINARY":
            raise NotUnderstood("texts without letters are of another type than they say")


def text(one: Token) -> str:
    """A text in quotes that means the same in each character set. Raises NotUnderstood."""
    if one.is_name or not one.is_quoted or "\\" in one.text or not one.text.isascii():
        raise NotUnderstood(f"the value {one.text!r} is not certain")
    return one.text


class _Options:
    """What is said of a column behind its type."""

    def __init__(self, described: MasterColumn, members: list[str]) -> None:
        self._described = described
        self._members = members
        self._not_null: bool | None = None
        self._default: str | None = None
        self._has_default = False
        self._is_known = True
        self._is_key = False
        self._counts = False
        self._first = False
        self._behind: str | None = None

    def take(self, parser: Parser) -> None:
        """Read one of them. Raises NotUnderstood."""
        if self._first or self._behind is not None:
            raise NotUnderstood("something follows the place of a column")
        if parser.takes("NOT"):
            parser.expect("NULL")
            self._not_null = True
        elif parser.takes("NULL"):
            self._not_null = False
        elif parser.takes("DEFAULT"):
            self._has_default = True
            self._valued(parser)
        elif parser.takes("PRIMARY"):
            parser.expect("KEY")
            self._is_key = True
        elif parser.takes("INVISIBLE", "VISIBLE"):
            # Rows of the log have it all the same.
            pass
        elif parser.takes("UNIQUE"):
            parser.takes("KEY")
        elif parser.takes("AUTO_INCREMENT"):
            self._counts = True
        elif parser.takes("COMMENT"):
            parser.takes_sign("=")
            if parser.step().is_name:
                raise NotUnderstood("a comment is no text")
        elif parser.takes("ON"):
            parser.expect("UPDATE")
            parser.expect("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
            if parser.takes_sign("(") and not parser.takes_sign(")"):
                _number(parser)
                self._closed(parser)
        elif parser.takes("CHECK"):
            if not parser.takes_sign("("):
                raise NotUnderstood("a check has no condition")
            self._closed(parser, inside=True)
        elif parser.takes("REFERENCES"):
            self._referring(parser)
        elif parser.takes("FIRST"):
            self._first = True
        elif parser.takes("AFTER"):
            self._behind = parser.word()
        elif parser.peeks("CHARACTER", "CHARSET", "COLLATE"):
            _letters(parser)
        else:
            raise NotUnderstood(f"{parser.step().text!r} of a column is not known")

    def said(self, log_type: str) -> SaidColumn:
        """All of it."""
        not_null = bool(self._not_null) or self._is_key or self._counts
        default = self._default
        is_known = self._is_known and not self._counts
        if not self._has_default and not_null:
            default = implied(self._described, self._members)
            is_known = is_known and default is not None
        return SaidColumn(
            self._described.name,
            self._described.kind,
            log_type,
            self._described.digits,
            not_null,
            self._not_null is not None,
            default,
            is_known,
            self._is_key,
            self._counts,
            self._first,
            self._behind,
            tuple(self._members),
        )

    def _valued(self, parser: Parser) -> None:
        """Read a default. It is certain if it is one value; else it is stepped over."""
        if parser.takes("NULL"):
            return
        begun = parser.rest
        sign = "-" if parser.takes_sign("-") else ""
        if not sign:
            parser.takes_sign("+")
        one = parser.step()
        if one.is_sign("("):
            self._is_known = False
            self._closed(parser, inside=True)
            return
        if one.is_quoted and not one.is_name:
            self._know(of_text(one.text, self._described, self._members) if begun[0] == one else None)
            return
        if one.is_name and one.text.isascii() and one.text.isdigit() and not one.is_quoted:
            number = sign + one.text
            if parser.takes_sign("."):
                part = parser.step()
                if part.is_quoted or not part.text.isdecimal():
                    raise NotUnderstood("a number ends with its point")
                number += f".{part.text}"
            self._know(of_number(number, self._described))
            return
        if not sign and one.is_word("TRUE", "FALSE"):
            self._know(of_number("1" if one.is_word("TRUE") else "0", self._described))
            return
        if not sign and one.is_word("B", "X") and parser.rest and parser.rest[0].is_quoted:
            said = parser.step().text
            self._know(of_bits(said, self._described) if one.is_word("B") else None)
            return
        if not one.is_word("CURRENT_TIMESTAMP", "NOW", "CURRENT_DATE", "CURDATE", "UUID", "LOCALTIMESTAMP"):
            raise NotUnderstood(f"the default {one.text!r} is not certain")
        self._is_known = False
        if parser.takes_sign("("):
            self._closed(parser, inside=True)

    def _know(self, default: str | None) -> None:
        """A default is this value, if that is certain."""
        self._default, self._is_known = default, default is not None

    def _referring(self, parser: Parser) -> None:
        """Step over the table of a foreign key, and over what it does."""
        parser.name()
        if parser.takes_sign("("):
            self._closed(parser, inside=True)
        while parser.takes("ON"):
            parser.expect("DELETE", "UPDATE")
            parser.takes("SET", "NO")
            parser.step()

    @staticmethod
    def _closed(parser: Parser, *, inside: bool = False) -> None:
        """Step behind the bracket that ends what is open."""
        depth = 1
        while depth:
            one = parser.step()
            depth += one.is_sign("(") - one.is_sign(")")
            if not inside and depth:
                raise NotUnderstood("a bracket is missing")


def key_columns(parser: Parser) -> list[str]:
    """The columns of a primary key, between brackets, whole. Raises NotUnderstood."""
    if parser.takes("USING"):
        parser.step()
    if not parser.takes_sign("("):
        raise NotUnderstood("the columns of a key are missing")
    found = []
    while True:
        found.append(parser.word())
        parser.takes("ASC", "DESC")
        if parser.takes_sign(")"):
            return found
        if not parser.takes_sign(","):
            raise NotUnderstood("the key has more than columns")
