"""CREATE, ALTER and DROP of the master on a slave whose DDL commits, from its definitions and what the slave has (R3).

Tables are as an initial update makes them: columns, NOT NULL and the primary key. So a command on anything else, such
as a default or a check, changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.apply.mapping.definition_view import SeenColumn, slave_layout
from sluice.config.mapper import Mapper
from sluice.errors import SluiceError, UnfitTable
from sluice.log import event
from sluice.model.action import Existing
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.table_definition import DefinedTable, TableChange
from sluice.vendors.committed_ddl import Plan, State, key_of
from sluice.vendors.protocol.ddl_errors import (
    more_to_be_seen,
    name_taken,
    no_table_here,
    not_the_one,
    there_already,
    unknown_values,
)

# The columns of a table in the catalog's words, sorted by name.
Rows = list[list[str | None]]


@dataclass(frozen=True)
class Filled:
    """A new column, and the value that rows of before have in it."""

    column: Column
    text: str


@dataclass(frozen=True)
class Altered:
    """One ALTER as the slave sees it.

    Attributes:
        rows: the columns that the table has there.
        twins: for each column of `becomes` the name that it has now; None if it is new.
        has_rows: rows are there, and stay.
    """

    rows: Rows
    was: Layout
    becomes: Layout
    twins: tuple[str | None, ...]
    filled: tuple[Filled, ...]
    has_rows: bool

    @property
    def gone(self) -> list[str]:
        """The columns that go."""
        return [str(row[0]) for row in self.rows if row[0] not in self.twins]


@dataclass(frozen=True)
class Step:
    """A statement that is carried out as a whole or not at all, and the tables after it."""

    statement: str
    state: State


class Planner(ABC):
    """Plans the commands of one slave. Nothing is changed."""

    def __init__(self, mapper: Mapper) -> None:
        self._mapper = mapper

    @abstractmethod
    def rows(self, name: TableName) -> Rows | None:
        """The columns of a table; None if it is not there."""

    @abstractmethod
    def has_rows(self, name: TableName) -> bool:
        """Whether a table has any row."""

    @abstractmethod
    def kind(self, name: TableName) -> str | None:
        """The catalog's word for what bears a name, if that is no table."""

    @abstractmethod
    def existing(self, layout: Layout) -> object | None:
        """The table of a layout; None if it is not there. Raises UnfitTable, it does not take the master's rows."""

    @abstractmethod
    def no_table(self, name: TableName) -> SluiceError:
        """A table is not there."""

    @abstractmethod
    def made_schema(self, name: TableName) -> tuple[str, ...]:
        """What makes the schema of a table, if it is missing."""

    @abstractmethod
    def made(self, layout: Layout) -> Step:
        """What makes a table, and how the catalog shows it then. Raises SluiceError, it cannot be made."""

    @abstractmethod
    def dropped(self, name: TableName) -> str:
        """What drops a table."""

    @abstractmethod
    def steps(self, altered: Altered) -> list[Step]:
        """An ALTER, statement by statement; none if nothing is to be done.

        Raises:
            SluiceError: rows would have values that nobody knows, or the table cannot be as the master's.
        """

    @abstractmethod
    def without_defaults(self, becomes: Layout, filled: Sequence[Filled]) -> tuple[str, ...]:
        """A value that a new column has in rows of before is no default of it."""

    def planned(self, change: TableChange, policy: Existing, begun: State | None = None) -> Plan | None:
        """See `CommittedDdl.planned`.

        Args:
            begun: an ALTER is part way on; so its table was before it.

        Raises:
            SluiceError: SLC-141, a table that is to be made is there already; SLC-142, SLC-371, so is the name that one
                is to bear; SLC-145, its new name lets more of it be seen; SLC-140, its rows would have values that
                nobody knows; what is to be dropped is no table; or what the hooks of the vendor raise.
        """
        if change.before is None:
            assert change.after is not None
            return self._created(change.after, policy)
        if change.after is None:
            return self._dropped(self._mapper.table(change.before.name))
        return self._altered(change.before, change.after, begun)

    def finishing(self, change: TableChange) -> tuple[str, ...]:
        """See `Plan`."""
        if change.before is None or change.after is None:
            return ()
        becomes, columns = slave_layout(change.after, self._mapper)
        return self.without_defaults(becomes, self._filled(change.before, change.after, columns))

    def _created(self, table: DefinedTable, policy: Existing) -> Plan | None:
        if table.unfilled:
            event("left to an initial update", table=table.name)
            return None
        layout, _ = slave_layout(table, self._mapper)
        name, made = layout.name, self.made(layout)
        rows = self.rows(name)
        key = key_of(name)
        if rows is None:
            return Plan((*self.made_schema(name), made.statement), ({key: None},), made.state)
        if policy is Existing.RECREATE and sorted(rows) != made.state[key]:
            self._expect_table(name)
            return Plan((self.dropped(name), made.statement), ({key: rows}, {key: None}), made.state)
        self.existing(layout)
        if policy is Existing.STOP:
            if self.has_rows(name):
                raise there_already(
                    name,
                    "drop, rename or empty it there; or set `overwrite_tables: true` (its rows are deleted), "
                    "`recreate_tables: true` (it is dropped) or `creates: ignore` (it stays, as where others fill it) "
                    "for this replication",
                )
            return None
        return Plan(emptied=(name,))

    def _dropped(self, name: TableName) -> Plan | None:
        rows = self.rows(name)
        if rows is None:
            return None
        self._expect_table(name)
        return Plan((self.dropped(name),), ({key_of(name): rows},), {key_of(name): None})

    def _altered(self, before: DefinedTable, after: DefinedTable, begun: State | None) -> Plan | None:
        (was, old_columns), (becomes, columns) = slave_layout(before, self._mapper), slave_layout(after, self._mapper)
        old, new = was.name, becomes.name
        if begun is None:
            rows = self._expect_there(old, new)
            if not self._is_as(was, becomes):
                return None
            self._expect_seen(before, after, old_columns, columns)
        else:
            rows = begun.get(key_of(old)) or []
        emptied = (old,) if after.rewritten else ()
        altered = Altered(
            rows,
            was,
            becomes,
            tuple(_twin(old_columns, one) for one in columns),
            self._filled(before, after, columns),
            not emptied and self.has_rows(old),
        )
        steps = self.steps(altered)
        only_emptied = Plan(emptied=emptied) if emptied else None
        if not steps:
            return only_emptied
        first: State = {key_of(old): rows, **({key_of(new): None} if old != new else {})}
        states = [first, *(step.state for step in steps)]
        if states[-1] in states[:-1]:
            if altered.has_rows:
                raise unknown_values(
                    old,
                    f"{', '.join(altered.gone)} goes and comes again as it was, and the catalog does not tell when",
                    "and set `alters: ignore` for this replication until it is passed over",
                )
            if states[-1] == first:
                return only_emptied
        schema = self.made_schema(new) if old.schema != new.schema else ()
        statements = tuple(step.statement for step in steps)
        finishing = self.without_defaults(becomes, altered.filled)
        return Plan((*schema, *statements), tuple(states[:-1]), states[-1], finishing, emptied)

    def _expect_there(self, old: TableName, new: TableName) -> Rows:
        rows = self.rows(old)
        if old != new and self.rows(new) is not None:
            raise (
                not_the_one(old, new)
                if rows is None
                else name_taken(
                    old,
                    new,
                    f"rename or drop {new} there, if it is not the master's; else rename both by hand, and run with "
                    "`alters: ignore` for this replication until they are passed",
                )
            )
        if rows is None:
            raise self.no_table(old)
        return rows

    def _is_as(self, was: Layout, becomes: Layout) -> bool:
        """Whether the table is as before the command; not if somebody did by hand what the command does."""
        try:
            self.existing(was)
        except UnfitTable:
            if was.name == becomes.name and self._fits(becomes):
                return False
            raise
        return True

    def _fits(self, layout: Layout) -> bool:
        try:
            return self.existing(layout) is not None
        except SluiceError:
            return False

    def _expect_seen(
        self, before: DefinedTable, after: DefinedTable, was: Sequence[SeenColumn], becomes: Sequence[SeenColumn]
    ) -> None:
        """See that the slave has what it is to have of rows that it has already. Raises SluiceError SLC-145."""
        if after.rewritten:
            return
        had = {one.number for one in before.columns} - {one.origin.number for one in was if one.origin}
        own = {one.column.name for one in was if not one.origin}
        more = [one.column.name for one in becomes if one.origin and one.origin.number in had]
        more += [one.column.name for one in becomes if not one.origin and one.column.name not in own]
        entries = [self._mapper.entry(side.name) for side in (before, after)]
        if own and (entries[0].mask, entries[0].compute) != (entries[1].mask, entries[1].compute):
            more += sorted(own)
        if not self._mapper.same_rows(before.name, after.name):
            more.append("rows that it did not get")
        if more:
            raise more_to_be_seen(after.name, more)

    @staticmethod
    def _filled(before: DefinedTable, after: DefinedTable, columns: Sequence[SeenColumn]) -> tuple[Filled, ...]:
        """New columns with the value that rows of before have in them."""
        had = {one.number for one in before.columns}
        return tuple(
            Filled(one.column, one.origin.filled)
            for one in columns
            if one.origin and one.origin.number not in had and one.origin.filled is not None and not after.rewritten
        )

    def _expect_table(self, name: TableName) -> None:
        if kind := self.kind(name):
            raise no_table_here(name, kind)


def _twin(was: Sequence[SeenColumn], column: SeenColumn) -> str | None:
    """The name that a column had before; None if it is new."""
    for one in was:
        if one.origin and column.origin:
            if one.origin.number == column.origin.number:
                return one.column.name
        elif not one.origin and not column.origin and one.column.name == column.column.name:
            return one.column.name
    return None
