"""The columns of a table behind a CREATE or an ALTER, derived from the statement and from the columns before it.

No catalog is asked: it may be ahead of the log. A statement of which that is not certain is not followed. The next rows
of the table say whether it was right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.alterations import parts
from sluice.vendors.mariadb.capture.binlog.column_words import SaidColumn, column, key_columns
from sluice.vendors.mariadb.capture.binlog.grammar import Parser
from sluice.vendors.mariadb.capture.binlog.kept_values import expect_kept, expect_no_moments
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token

_ELSE = ("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
# Options that change no column.
_OPTIONS = (
    *("COMMENT", "ENGINE", "ROW_FORMAT", "AUTO_INCREMENT", "ALGORITHM", "LOCK", "FORCE", "DEFAULT", "CHARACTER"),
    *("CHARSET", "COLLATE", "CONVERT", "DISABLE", "ENABLE", "KEY_BLOCK_SIZE", "STATS_PERSISTENT"),
    *("PARTITION", "REORGANIZE", "COALESCE", "REBUILD", "ANALYZE", "OPTIMIZE", "REMOVE"),
    *("STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES", "PAGE_COMPRESSED", "PAGE_CHECKSUM", "MAX_ROWS", "MIN_ROWS"),
)
_OTHER_FORMS = ("LIKE", "AS", "SELECT", "WITH", "SEQUENCE", "UNION", "ENCRYPTED")


@dataclass(frozen=True)
class Kept:
    """A column behind a statement.

    Attributes:
        was: the name that it had; None if it is new.
        filled: the value that rows of before have in a new one; None for NULL.
    """

    column: Column
    was: str | None = None
    filled: str | None = None


@dataclass(frozen=True)
class Derived:
    """A table behind a statement.

    Attributes:
        key: the names of the primary key's columns.
    """

    columns: tuple[Kept, ...]
    key: tuple[str, ...]

    def layout(self, number: int, name: TableName) -> Layout:
        """Its layout."""
        names = [one.column.name for one in self.columns]
        return Layout(
            number, name, tuple(one.column for one in self.columns), tuple(names.index(one) for one in self.key)
        )


@dataclass(frozen=True)
class Reading:
    """How a server carries out an ALTER.

    Attributes:
        has_rows: the table may have rows already.
        strict: values that do not fit are an error.
        keeps_zeros: a row with 0 in a column that numbers rows from here on has it still.
        has_documents: texts that become JSON are written anew.
    """

    has_rows: bool = True
    strict: bool = True
    keeps_zeros: bool = True
    has_documents: bool = False


def created(rest: Sequence[Token]) -> Derived:
    """The table of a CREATE, from what follows its name. Raises NotUnderstood."""
    inner, behind = _bracketed(list(rest))
    if any(one.is_word(*_OTHER_FORMS) for one in behind):
        raise NotUnderstood("it is no list of columns alone")
    _expect_letters(behind)
    said: list[SaidColumn] = []
    key: list[str] = []
    for part in parts(inner):
        parser = Parser("", part, 0)
        if _is_primary(parser):
            key = key_columns(parser)
        elif parser.peeks("PERIOD", "LIKE"):
            raise NotUnderstood("it has more than columns and keys")
        elif not parser.peeks(*_ELSE):
            said.append(column(parser))
    if any(one.first or one.behind is not None for one in said):
        raise NotUnderstood("a new table's column has a place")
    if any(one.kind == "timestamp" and not one.is_explicit for one in said):
        raise NotUnderstood("whether a TIMESTAMP may be NULL is a setting of the server")
    made = _Columns([], Reading(has_rows=False))
    for one in said:
        made.add(one)
    made.key = [one.name for one in said if one.is_key]
    if key:
        made.set_key(key)
    return made.derived()


def altered(layout: Layout, rest: Sequence[Token], how: Reading) -> Derived:
    """The table of an ALTER, from what follows its name. Raises NotUnderstood, that is not certain."""
    made = _Columns([Kept(one, one.name) for one in layout.columns], how)
    made.key = list(layout.key_names)
    is_order = False
    for part in parts(list(rest)):
        parser = Parser("", part, 0)
        if is_order or parser.takes("ORDER"):
            # Rows have no order of their own here. More columns of it follow behind commas, and nothing else.
            parser.takes("BY")
            parser.word()
            parser.takes("ASC", "DESC")
            parser.ends()
            is_order = True
        else:
            _part(made, parser, strict=how.strict)
    return made.derived()


def _part(made: _Columns, parser: Parser, *, strict: bool) -> None:
    if parser.takes("ADD"):
        _added(made, parser, strict=strict)
    elif parser.takes("DROP"):
        _dropped(made, parser)
    elif parser.peeks("CHANGE", "MODIFY"):
        renames = parser.takes("CHANGE")
        if not renames:
            parser.expect("MODIFY")
        parser.takes("COLUMN")
        is_there = not parser.peeks("IF")
        parser.if_exists()
        if parser.peeks_sign("("):
            raise NotUnderstood("columns in brackets are modified")
        old = parser.word() if renames else None
        said = column(parser)
        made.change(old or said.name, said, must=is_there)
    elif parser.takes("RENAME"):
        if parser.takes("INDEX", "KEY"):
            return
        parser.expect("COLUMN")
        is_there = not parser.peeks("IF")
        parser.if_exists()
        old = parser.word()
        parser.expect("TO")
        new = parser.word()
        parser.ends()
        made.rename(old, new, must=is_there)
    elif parser.takes("ALTER"):
        if parser.peeks("INDEX", "KEY", "CONSTRAINT", "CHECK"):
            return
        parser.takes("COLUMN")
        parser.if_exists()
        # What rows that come later get is in the log. A new column would have it in rows that are there already.
        made.touch(parser.word())
    elif parser.peeks(*_OPTIONS):
        _expect_letters(parser.rest)
    else:
        raise NotUnderstood("a part of it is not known")


def _added(made: _Columns, parser: Parser, *, strict: bool) -> None:
    if _is_primary(parser):
        made.set_key(key_columns(parser))
        return
    if parser.peeks(*_ELSE, "PARTITION"):
        return
    if parser.peeks("PERIOD", "SYSTEM"):
        raise NotUnderstood("it has more than columns and keys")
    parser.takes("COLUMN")
    may_be_there = parser.peeks("IF")
    parser.if_exists()
    if parser.peeks_sign("("):
        inner, behind = _bracketed(parser.rest)
        if behind:
            raise NotUnderstood("something follows the columns")
        said = [column(Parser("", part, 0)) for part in parts(inner)]
    else:
        said = [column(parser)]
    for one in said:
        if may_be_there and made.find(one.name) is not None:
            continue
        if not one.is_known or (one.kind == "timestamp" and not one.is_explicit):
            raise NotUnderstood(f"the value of {one.name} in rows that are there already is not certain")
        if (one.default is not None or one.not_null) and not strict:
            raise NotUnderstood(f"a session without a strict sql_mode may have bent the default of {one.name}")
        if one.is_key:
            raise NotUnderstood(f"{one.name} is a new primary key")
        made.add(one)


def _dropped(made: _Columns, parser: Parser) -> None:
    if parser.takes("PRIMARY"):
        made.touch("PRIMARY KEY")
        made.key = []
        return
    if parser.peeks("CONSTRAINT", "INDEX", "KEY") and any(one.text.upper() == "PRIMARY" for one in parser.rest):
        raise NotUnderstood("a primary key is dropped by its name")
    if parser.peeks(*_ELSE):
        return
    if parser.peeks("PERIOD", "SYSTEM"):
        raise NotUnderstood("it has more than columns and keys")
    parser.takes("COLUMN")
    may_lack = parser.peeks("IF")
    parser.if_exists()
    name = parser.word()
    parser.takes("RESTRICT", "CASCADE")
    parser.ends()
    made.drop(name, must=not may_lack)


def _expect_letters(rest: Sequence[Token]) -> None:
    """See that texts of a table stay texts. Raises NotUnderstood."""
    if any(one.is_word("CHARSET", "COLLATE", "SET") for one in rest) and any(
        one.text.casefold() == "binary" for one in rest
    ):
        raise NotUnderstood("its texts may be bytes")


def _is_primary(parser: Parser) -> bool:
    """Step over the words in front of a primary key's columns, if it is one."""
    words = list(parser.rest[:4])
    place = 0
    if words and words[0].is_word("CONSTRAINT"):
        place = 1 if len(words) > 1 and words[1].is_word("PRIMARY") else 2
    if len(words) <= place + 1 or not (words[place].is_word("PRIMARY") and words[place + 1].is_word("KEY")):
        return False
    for _ in range(place + 2):
        parser.step()
    parser.if_exists()
    return True


def _bracketed(rest: list[Token]) -> tuple[list[Token], list[Token]]:
    """What is in brackets at the beginning, and what follows. Raises NotUnderstood."""
    depth = 0
    for place, one in enumerate(rest):
        depth += one.is_sign("(") - one.is_sign(")")
        if not depth:
            if place:
                return rest[1:place], rest[place + 1 :]
            break
    raise NotUnderstood("columns are expected")


class _Columns:
    """Columns as the parts of a statement change them. Each may be named by one part alone."""

    def __init__(self, columns: list[Kept], how: Reading) -> None:
        self._columns = columns
        self._how = how
        self.key: list[str] = []
        self._touched: set[str] = set()

    def derived(self) -> Derived:
        """How they are by now. Raises NotUnderstood."""
        if not self._columns:
            raise NotUnderstood("no column is left")
        names = [one.column.name.casefold() for one in self._columns]
        if len(set(names)) < len(names):
            raise NotUnderstood("two columns have one name")
        key = set(self.key)
        if not key <= {one.column.name for one in self._columns}:
            raise NotUnderstood("a column of the primary key is not there")
        columns = (
            replace(one, column=replace(one.column, not_null=True)) if one.column.name in key else one
            for one in self._columns
        )
        return Derived(tuple(columns), tuple(self.key))

    def touch(self, *names: str) -> None:
        """See that no other part is about these. Raises NotUnderstood."""
        for name in {one.casefold() for one in names}:
            if name in self._touched:
                raise NotUnderstood(f"two parts of it are about {name}")
            self._touched.add(name)

    def find(self, name: str) -> int | None:
        """The place of a column; names differ in more than case. Raises NotUnderstood, it may be one or another."""
        names = [one.column.name for one in self._columns]
        if name in names:
            return names.index(name)
        found = [place for place, one in enumerate(names) if one.casefold() == name.casefold()]
        if len(found) > 1:
            raise NotUnderstood(f"{name} may be one column or another")
        return found[0] if found else None

    def add(self, said: SaidColumn) -> None:
        """A new one."""
        self.touch(said.name)
        if self.find(said.name) is not None:
            raise NotUnderstood(f"{said.name} is there already")
        self._put(said, Kept(said.column, None, said.default))

    def drop(self, name: str, *, must: bool) -> None:
        """One goes."""
        place = self._place(name, must=must)
        if place is None:
            return
        self.touch(name)
        gone = self._columns.pop(place).column.name
        if gone in self.key:
            if len(self.key) > 1:
                raise NotUnderstood(f"{gone} is a part of the primary key")
            self.key = []

    def rename(self, old: str, new: str, *, must: bool) -> None:
        """One gets another name."""
        place = self._place(old, must=must)
        if place is not None:
            self._called(place, new, old)

    def change(self, old: str, said: SaidColumn, *, must: bool) -> None:
        """One gets another definition, and perhaps another name."""
        place = self._place(old, must=must)
        if place is None:
            return
        if said.is_key or (said.kind == "timestamp" and not said.is_explicit):
            raise NotUnderstood(f"the definition of {said.name} is not certain")
        before = self._columns[place].column
        if said.kind == "json" and self._how.has_documents:
            raise NotUnderstood(f"texts of {said.name} may have been written anew as documents")
        if said.counts and not before.counts and not (self._how.keeps_zeros and before.not_null):
            raise NotUnderstood(f"AUTO_INCREMENT may number a row anew that has 0 or NULL in {said.name}")
        if said.not_null:
            expect_no_moments(before)
        expect_kept(before, said)
        self._called(place, said.name, old)
        found = replace(self._columns.pop(place), column=said.column)
        self._put(said, found, place)

    def set_key(self, names: list[str]) -> None:
        """The primary key is of these columns."""
        places = [self.find(name) for name in names]
        if None in places:
            raise NotUnderstood("a column of the primary key is not there")
        if self.key:
            raise NotUnderstood("there is a primary key already")
        for kept in (self._columns[place] for place in places if place is not None):
            one = kept.column
            expect_no_moments(one)
            is_kept = self._how.strict and not (self._how.has_rows and kept.was is None)
            if not (one.not_null or is_kept):
                raise NotUnderstood(f"{one.name} may have got values for NULL, as it is a part of the primary key")
        self.key = [self._columns[place].column.name for place in places if place is not None]

    def _place(self, name: str, *, must: bool) -> int | None:
        place = self.find(name)
        if place is None and must:
            raise NotUnderstood(f"there is no column {name}")
        return place

    def _called(self, place: int, new: str, old: str) -> None:
        self.touch(old, new)
        found = self._columns[place]
        if new.casefold() != old.casefold() and self.find(new) is not None:
            raise NotUnderstood(f"{new} is there already")
        self.key = [new if one == found.column.name else one for one in self.key]
        self._columns[place] = replace(found, column=replace(found.column, name=new))

    def _put(self, said: SaidColumn, column: Kept, usual: int | None = None) -> None:
        place = len(self._columns) if usual is None else usual
        if said.first:
            place = 0
        elif said.behind is not None:
            found = self.find(said.behind)
            if found is None:
                raise NotUnderstood(f"there is no column {said.behind}")
            place = found + 1
        self._columns.insert(place, column)
