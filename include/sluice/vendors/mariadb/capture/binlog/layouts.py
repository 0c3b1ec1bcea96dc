"""The layouts of tables along the log: what a row is read by, wherever an ALTER stands.

A table map names the columns and says nearly all of their types. What it cannot tell (a UUID from a BINARY(16)) is
known from before, until a definition of the table is met. Then the catalog is asked, which may be ahead: it is believed
if it has the same columns as the log, and else the table is refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

from sluice.errors import SluiceError, StrangeSource
from sluice.model.layout import Column, Layout
from sluice.model.logical_type import logical_type
from sluice.model.names import TableName
from sluice.vendors.managed import SETTING
from sluice.vendors.mariadb.capture.binlog import events
from sluice.vendors.mariadb.capture.binlog.events import ColumnMap, Rows, TableMap
from sluice.vendors.mariadb.capture.binlog.values import FIXED, ColumnReader, Image, Reads, Unreadable, images, reader
from sluice.vendors.mariadb.catalog.master_tables import PLAIN, MasterTable
from sluice.vendors.mariadb.charsets import BINARY, Charsets

REBASE = (
    "nothing of it was published, and nothing is wrong on a slave. Trigger the DAG bootstrap with rebase, then "
    "initial_update for all slaves of this source"
)

# How MariaDB calls the columns by which it knows values that are too long for an index.
_HIDDEN = re.compile(r"DB_ROW_HASH_\d+")


class UnclearTable(SluiceError):
    """The rows of one table are not known from here on."""

    def __init__(self, table: TableName, error: SluiceError) -> None:
        super().__init__(error.code, error.fact, error.hint)
        self.table = table


@dataclass(frozen=True)
class Described:
    """A table as rows of it are read from here on.

    Attributes:
        hidden: the places of columns that are in no catalog.
    """

    layout: Layout
    reads: list[Reads]
    hidden: tuple[int, ...] = ()

    def of_rows(self, rows: Rows) -> Described | None:
        """The same for these rows: MariaDB 11 leaves out columns that are in no catalog. None if they lack others."""
        if rows.columns != len(self.reads):
            return None
        lacking = tuple(place for place in range(rows.columns) if not rows.present >> place & 1)
        if lacking not in ((), self.hidden):
            return None
        reads = [reader for place, reader in enumerate(self.reads) if place not in lacking]
        return Described(self.layout, reads) if lacking else self

    def images(self, data: bytes, *, paired: bool) -> list[Image]:
        """The images of an event, without columns that nobody sees. Raises Malformed."""
        found = images(self.reads, data, paired=paired)
        for image in found if self.hidden else ():
            for place in reversed(self.hidden):
                del image[place]
        return found


class Layouts:
    """What is known of tables at a place of the log.

    Attributes:
        current: the layout of each table that had rows.
        met: the tables of which definitions were read.
        carried: what becomes of columns is derived from statements, and rows have to agree with that.

    Args:
        altered: tables of which a definition stands behind their layouts.
        catalog: a table as it is now.
        kind: what bears a name now; None if nothing does.
        capturable: sees that all changes of a table are in the log, as it is now.
    """

    def __init__(
        self,
        current: Mapping[TableName, Layout],
        altered: Collection[TableName],
        charsets: Callable[[], Charsets],
        catalog: Callable[[TableName], MasterTable | None],
        kind: Callable[[TableName], str | None] = lambda name: None,
        capturable: Callable[[TableName], None] = lambda name: None,
        *,
        carried: bool = False,
    ) -> None:
        self.current = dict(current)
        self.carried = carried
        # A list of hundreds, which the server does not change while it runs.
        self._charsets = cache(charsets)
        self._catalog = catalog
        self._kind = cache(kind)
        self._capturable = capturable
        self._defined = set(altered)
        self.met: set[TableName] = set()
        self._read: dict[tuple[TableMap, bool], Described] = {}

    def is_table(self, name: TableName) -> bool:
        """Whether rows under a name are those of a plain table, and not of a sequence or of what keeps its history."""
        return name in self.current or self._kind(name) in (None, PLAIN)

    def is_made(self, name: TableName) -> bool:
        """Whether slaves were told of a table, or are told of none."""
        return name in self.current or not self.carried

    @property
    def charsets(self) -> Callable[[], Charsets]:
        """What the server knows of character sets."""
        return self._charsets

    @property
    def altered(self) -> list[TableName]:
        """The tables that had a definition, and no rows since."""
        return sorted(self._defined)

    def defined(self, name: TableName, *, gone: bool = False, becomes: Layout | None = None) -> None:
        """A definition of this table stands here.

        Args:
            gone: it is another one that bears the name from here on.
            becomes: how the table is from here on; None if that is not derived.
        """
        self.met.add(name)
        self._read = {known: one for known, one in self._read.items() if one.layout.name != name}
        if becomes is not None:
            self.current[name] = becomes
            self._defined.discard(name)
            return
        self._defined.add(name)
        if gone:
            self.current.pop(name, None)

    def renew(self, name: TableName) -> Layout | None:
        """Know a table by its catalog alone, which may be ahead; None if it is not there, or cannot be read."""
        self.defined(name, gone=True)
        try:
            now = self._catalog(name)
            found = now.layout(time.time_ns()) if now else None
        except SluiceError:
            return None
        if found:
            self.current[name] = found
            self._defined.discard(name)
        return found

    def expect_told(self, name: TableName) -> None:
        """See that the log has all changes of a table that was defined. Raises SluiceError SLC-446."""
        if not self.is_table(name):
            return
        try:
            self._capturable(name)
        except SluiceError as error:
            raise unclear(name, error.fact, "") from error

    def expect_gone(self, name: TableName, statement: str) -> None:
        """See that a RENAME was of this table, and not of a session's own that bore its name: the log has both, and
        does not tell them apart. Raises SluiceError SLC-446 if the table is there.
        """
        if self._catalog(name) is not None:
            raise unclear(name, f"it was renamed, and is there; or a temporary table was renamed: {statement}", "")

    def expect_kept(self, name: TableName) -> None:
        """See that values of rows fit into the types that a table has by now. Raises SluiceError SLC-446."""
        before, now = self.current.get(name), self._catalog(name)
        if before is None or now is None:
            return
        _expect_same_types(before, now.layout())
        if computed := [one.name for one in now.columns if one.is_generated]:
            raise unclear(name, f"an ALTER may have computed {', '.join(computed)} anew", "")

    def at(self, said: TableMap, *, early: bool = False) -> Described:
        """How rows of a table are read here.

        Args:
            early: what is known of the table is how it is later.

        Raises:
            SluiceError: SLC-446, that is not certain, or a column cannot be read.
        """
        name = TableName(said.schema, said.table)
        if early:
            later = self.current.pop(name, None)
            try:
                return self._described(name, said)
            finally:
                if later is not None:
                    self.current[name] = later
        known = (replace(said, number=0), name in self._defined)
        if known not in self._read:
            self._read[known] = self._described(name, said)
        found = self._read[known]
        self.current[name] = found.layout
        self._defined.discard(name)
        return found

    def aside(self, said: TableMap) -> Described:
        """How rows of a table of ours are read, which is not watched. Raises SluiceError SLC-446."""
        return self._described(TableName(said.schema, said.table), said)

    def _described(self, name: TableName, said: TableMap) -> Described:
        if not said.is_named:
            remedy = f"SET GLOBAL binlog_row_metadata = FULL; or, {SETTING}. Then: "
            raise unclear(name, "the log does not name its columns here", remedy)
        hidden = self._hidden(name, said)
        shown = _without(hidden, said)
        fixed = self._fixed(name, shown)
        before = self.current.get(name)
        # A definition that was not followed may have made it count, and numbered rows anew.
        kept = before.columns if before and name not in self._defined else ()
        counting = {column.name for column in kept if column.counts}
        columns: list[Column] = []
        readers: list[ColumnReader] = []
        for place, one in enumerate(said.columns):
            try:
                readers.append(reader(one, fixed.get(one.name), self._charsets()))
            except Unreadable as error:
                why, hint = error.args
                raise unclear(name, why, f"{hint}. Then: ") from None
            if place not in hidden:
                members, counts = readers[-1].members, one.name in counting
                columns.append(Column(one.name, readers[-1].type, not one.nullable, members=members, counts=counts))
        number = max(time.time_ns(), before.id + 1 if before else 0)
        layout = Layout(number, name, tuple(columns), shown.key)
        if before is not None:
            # Where there is no primary key, the log names a unique one in its place, if there is one.
            is_alike = before.key == layout.key or (self.carried and not before.key)
            if before.columns == layout.columns and is_alike:
                # The log may know members that were not known before.
                layout = replace(before, columns=layout.columns)
            elif self.carried and name not in self._defined:
                raise unclear(name, f"they have {_shown(layout)}, where {_shown(before)} was derived", "")
            else:
                _expect_same_types(before, layout)
        return Described(layout, [one.reads for one in readers], hidden)

    def _hidden(self, name: TableName, said: TableMap) -> tuple[int, ...]:
        """The places of columns that the server keeps by itself, for unique keys over long values."""
        places = {place: one.name for place, one in enumerate(said.columns) if _HIDDEN.fullmatch(one.name)}
        if not places:
            return ()
        now = self._catalog(name) or self.current.get(name)
        shown = {one.name for one in now.columns} if now else set()
        return tuple(place for place, column in places.items() if column not in shown)

    def _fixed(self, name: TableName, said: TableMap) -> Mapping[str, str]:
        """Which columns of binary strings are of another type."""
        if not any(map(_may_be_fixed, said.columns)):
            return {}
        if name not in self._defined and (before := self.current.get(name)):
            texts = {one.name: one.type for one in before.columns}
            if all(one.name in texts for one in said.columns):
                return {one.name: kind for one in said.columns if (kind := _kind(one, texts[one.name]))}
        now = self._catalog(name)
        if now is None or not _is_like(now, said):
            raise unclear(
                name,
                "it was altered again since, and the log does not tell a UUID or INET6 from a BINARY of that length",
                "",
            )
        return {one.name: one.kind for one in now.columns if one.kind in FIXED}


def _without(hidden: tuple[int, ...], said: TableMap) -> TableMap:
    if not hidden:
        return said
    places = [place for place in range(len(said.columns)) if place not in hidden]
    key = () if {*said.key} & {*hidden} else tuple(map(places.index, said.key))
    return replace(said, columns=tuple(said.columns[place] for place in places), key=key)


def unclear(name: TableName, why: str, first: str) -> UnclearTable:
    """Rows of a table cannot be read with certainty."""
    return UnclearTable(name, uncertain(f"rows of {name} in the binary log cannot be read: {why}", first))


def another_log(file: str, published: object) -> StrangeSource:
    """The log is not the one that was published."""
    return StrangeSource(
        404,
        f"the binary log {file} is another one than that which was published up to {published}: the server was "
        "replaced or restored, or somebody reset its log or gave it another name",
        REBASE,
    )


def not_rows(place: str, why: str) -> SluiceError:
    """The log has something else than rows behind a place."""
    return SluiceError(
        405,
        f"the binary log has {why}; it is behind {place}",
        "set log_bin_compress = OFF (of MySQL: binlog_transaction_compression = OFF, binlog_row_value_options = ''). "
        f"{REBASE}",
    )


def unreadable(place: str, why: str) -> SluiceError:
    """The log is not what it should be at a place."""
    return SluiceError(405, f"the binary log cannot be read at {place}: {why}", f"{REBASE}; report the defect")


def uncertain(fact: str, first: str = "") -> SluiceError:
    """The log does not tell with certainty what became of rows."""
    return SluiceError(446, fact, first + REBASE)


def _expect_same_types(before: Layout, layout: Layout) -> None:
    """See that an ALTER has not turned values of old rows into others, of which the log says nothing."""
    types = {one.name: one.type for one in before.columns}
    kept = [one for one in layout.columns if one.name in types]
    if changed := [one for one in kept if not logical_type(one.type).holds(logical_type(types[one.name]))]:
        told = ", ".join(f"{one.name} from {types[one.name]} to {one.type}" for one in changed)
        raise unclear(layout.name, f"an ALTER changed {told}, and the log does not say what became of older rows", "")


def _shown(layout: Layout) -> str:
    """The columns of a layout, for a message."""
    columns = ", ".join(f"{one.name} {one.type}{' NOT NULL' * one.not_null}" for one in layout.columns)
    return f"({columns}) with the key ({', '.join(layout.key_names)})"


def _may_be_fixed(column: ColumnMap) -> bool:
    return column.kind == events.STRING and column.collation == BINARY and column.first in FIXED.values()


def _kind(column: ColumnMap, log_type: str) -> str | None:
    """The type of a column of which the log's name is known."""
    if not _may_be_fixed(column) or log_type == "bytea":
        return None
    return (
        "uuid"
        if log_type == "uuid"
        else next(kind for kind, size in FIXED.items() if size == column.first and kind != "uuid")
    )


def _is_like(now: MasterTable, said: TableMap) -> bool:
    """Whether the catalog has the columns that the log has here."""
    ours = [(one.name, not one.not_null) for one in now.columns]
    return ours == [(one.name, one.nullable) for one in said.columns] and now.key == said.key
