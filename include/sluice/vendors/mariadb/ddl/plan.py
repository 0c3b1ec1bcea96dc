"""CREATE, ALTER and DROP of the master as one statement each, from its definitions and what the slave has (R3, R7).

Tables are as an initial update makes them: columns, NOT NULL and the primary key. So a command on anything else, such
as a default or a check, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from sluice.apply.mapping.definition_view import SeenColumn, seen
from sluice.config.mapper import Mapper
from sluice.errors import SluiceError, UnfitTable
from sluice.log import event
from sluice.model.action import Existing
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.table_definition import DefinedTable, TableChange
from sluice.vendors.committed_ddl import Plan, State, key_of
from sluice.vendors.mariadb.catalog.tables import existing, made, made_schema, no_table, table_of
from sluice.vendors.mariadb.ddl.alteration import Alteration, Rows, described
from sluice.vendors.mariadb.session import Connection, composed, execute, qualified, quoted
from sluice.vendors.mariadb.types import Stored, literals, stored
from sluice.vendors.protocol.ddl_errors import more_to_be_seen, name_taken, not_the_one, there_already


class Planner:
    """Plans the commands of one slave. Nothing is changed."""

    def __init__(self, session: Connection, mapper: Mapper) -> None:
        self._session = session
        self._mapper = mapper

    def planned(self, change: TableChange, policy: Existing) -> Plan | None:
        """See `CommittedDdl.planned`.

        Raises:
            SluiceError: SLC-141, a table that is to be made is there already; SLC-142, SLC-371, so is the name that one
                is to bear; SLC-145, its new name lets more of it be seen; SLC-432, it cannot be as the master's;
                SLC-433, it is not as before the command; SLC-439, it is not there; SLC-566, its rows would have values
                that nobody knows; SLC-567, what is to be dropped is no table.
        """
        if change.before is None:
            assert change.after is not None
            return self._created(change.after, policy)
        if change.after is None:
            return self._dropped(self._mapper.table(change.before.name))
        return self._altered(change.before, change.after)

    def finishing(self, change: TableChange) -> tuple[str, ...]:
        """A value that a new column has in rows of before is no default of it."""
        if change.before is None or change.after is None:
            return ()
        return _without_defaults(self._mapper.table(change.after.name), self._filled(change.before, change.after))

    def _created(self, table: DefinedTable, policy: Existing) -> Plan | None:
        if table.unfilled:
            event("left to an initial update", table=table.name)
            return None
        layout, _ = seen(table, self._mapper)
        name, wanted = layout.name, table_of(layout, self._session.server)
        rows = self._rows(name)
        key, becomes = key_of(name), described(wanted.columns, wanted.key)
        if rows is None:
            return Plan((made_schema(name.schema, self._session.server), made(wanted)), ({key: None},), {key: becomes})
        if policy is Existing.RECREATE and sorted(rows) != becomes:
            self._expect_table(name)
            return Plan((_drop(name), made(wanted)), ({key: rows}, {key: None}), {key: becomes})
        existing(self._session, layout)
        if policy is Existing.STOP:
            if self._has_rows(name):
                raise there_already(
                    name,
                    "drop, rename or empty it there; or set `overwrite_tables: true` (its rows are deleted), "
                    "`recreate_tables: true` (it is dropped) or `creates: ignore` (it stays, as where others fill it) "
                    "for this replication",
                )
            return None
        return Plan(emptied=(name,))

    def _dropped(self, name: TableName) -> Plan | None:
        rows = self._rows(name)
        if rows is None:
            return None
        self._expect_table(name)
        return Plan((_drop(name),), ({key_of(name): rows},), {key_of(name): None})

    def _altered(self, before: DefinedTable, after: DefinedTable) -> Plan | None:
        (was, old_columns), (becomes, columns) = seen(before, self._mapper), seen(after, self._mapper)
        old, new = was.name, becomes.name
        rows = self._expect_there(old, new)
        if not self._is_as(was, becomes):
            return None
        self._expect_seen(before, after, old_columns, columns)
        emptied = (old,) if after.rewritten else ()
        has_rows = not emptied and self._has_rows(old)
        server = self._session.server
        alteration = Alteration(
            old,
            rows,
            [self._twins(old_columns, one) for one in columns],
            table_of(was, server),
            table_of(becomes, server),
        )
        filled = self._filled(before, after)
        parts = alteration.parts({one.column.name: _literal(new, one, value) for one, value in filled})
        if old != new:
            parts.append(f"RENAME TO {qualified(new)}")
        if not parts:
            return Plan(emptied=emptied) if emptied else None
        if has_rows:
            alteration.expect_known({one.column.name for one, _ in filled})
        made_rows = alteration.becomes()
        is_before: State = {key_of(old): rows, **({key_of(new): None} if old != new else {})}
        is_after: State = {**({key_of(old): None} if old != new else {}), key_of(new): made_rows}
        if is_before == is_after:
            if has_rows:
                raise alteration.cannot_tell()
            return Plan(emptied=emptied) if emptied else None
        schema = (made_schema(new.schema, self._session.server),) if old.schema != new.schema else ()
        altered = f"ALTER TABLE {qualified(old)} {', '.join(parts)}"
        return Plan((*schema, altered), (is_before,), is_after, _without_defaults(new, filled), emptied)

    def _expect_there(self, old: TableName, new: TableName) -> Rows:
        rows = self._rows(old)
        if old != new and self._rows(new) is not None:
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
            raise no_table(old)
        return rows

    def _is_as(self, was: Layout, becomes: Layout) -> bool:
        """Whether the table is as before the command; not if somebody did by hand what the command does."""
        try:
            existing(self._session, was)
        except UnfitTable:
            if was.name == becomes.name and self._fits(becomes):
                return False
            raise
        return True

    def _fits(self, layout: Layout) -> bool:
        try:
            return existing(self._session, layout) is not None
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
    def _twins(was: Sequence[SeenColumn], column: SeenColumn) -> str | None:
        """The name that a column had before; None if it is new."""
        for one in was:
            if one.origin and column.origin:
                if one.origin.number == column.origin.number:
                    return one.column.name
            elif not one.origin and not column.origin and one.column.name == column.column.name:
                return one.column.name
        return None

    def _filled(self, before: DefinedTable, after: DefinedTable) -> list[tuple[Stored, str]]:
        """New columns with the value that rows of before have in them."""
        had = {one.number for one in before.columns}
        layout, columns = seen(after, self._mapper)
        return [
            (known, one.origin.filled)
            for one in columns
            if one.origin and one.origin.number not in had and one.origin.filled is not None and not after.rewritten
            if (known := stored(one.column, self._session.server, key=one.column.name in layout.key_names))
        ]

    def _rows(self, name: TableName) -> Rows | None:
        return rows_of(self._session, name)

    def _has_rows(self, name: TableName) -> bool:
        return bool(execute(self._session, f"SELECT 1 FROM {qualified(name)} LIMIT 1"))

    def _expect_table(self, name: TableName) -> None:
        kinds = execute(self._session, composed("catalog/kind"), {"schema": name.schema, "table": name.table})
        if kinds and kinds[0][0] != "BASE TABLE":
            raise SluiceError(
                567,
                f"the master drops a table that is {name} here, which is of the type {kinds[0][0]}",
                "nothing of it was written; drop it there by hand, or set `drops: ignore` for this replication",
            )


def rows_of(session: Connection, name: TableName) -> Rows | None:
    """The columns of a table in the catalog's words, sorted by name; None if it is not there."""
    rows = execute(session, composed("catalog/columns"), {"schema": name.schema, "table": name.table})
    return sorted([None if one is None else str(one) for one in row] for row in rows) or None


def _drop(name: TableName) -> str:
    return f"DROP TABLE IF EXISTS {qualified(name)}"


def _literal(table: TableName, column: Stored, value: str) -> str:
    """A value as the default of a column. Raises SluiceError SLC-431, the column cannot hold it."""
    return str(literals(table, [column], [pa.array([value], pa.string())])[0].as_py()[1:-1])


def _without_defaults(table: TableName, filled: Iterable[tuple[Stored, str]]) -> tuple[str, ...]:
    parts = [f"ALTER {quoted(one.column.name)} DROP DEFAULT" for one, _ in filled]
    return (f"ALTER TABLE {qualified(table)} {', '.join(parts)}",) if parts else ()
