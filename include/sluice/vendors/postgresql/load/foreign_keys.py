"""Foreign keys of a slave that come after the rows: those of new tables, and those that would hold rows back meanwhile.

A role that cannot silence foreign keys drops them before rows come in another order than the master's: while tables are
filled, and while some tables are left out. Each is written down in the transaction that drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sluice.errors import SluiceError, UnclassifiedError
from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.managed import SUPERUSER
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import Reference, foreign_key, identifier, verbatim
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed

# What `explained` calls an error that is in no class of its own.
# What is gone, or was made by hand meanwhile.
_OVERTAKEN = (
    psycopg.errors.DuplicateObject,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedTable,
)


@contextmanager
def writing(doing: str) -> Iterator[None]:
    """Turn a driver's error into one of ours, while rows are written that follow the master's.

    Raises:
        SluiceError: SLC-072, the slave lacks a row that others refer to.
    """
    try:
        with translated(doing):
            yield
    except UnclassifiedError as error:
        if not isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
            raise
        diag = error.__cause__.diag
        name = TableName(diag.schema_name or "", diag.table_name or "")
        raise SluiceError(
            72,
            error.fact,
            f"somebody changed rows there, or it does not get all of them: fill {name} and the table that its foreign "
            f"key {diag.constraint_name} refers to anew, by initial_update; or drop that key there, and unpause. "
            "Nothing is lost",
        ) from error


@dataclass(frozen=True)
class _There:
    """A foreign key that is there."""

    reference: Reference
    ours: bool


class WaitingForeignKeys:
    """The foreign keys that wait, as one transaction of a session puts them off and makes them.

    Args:
        filling: the tables that lack rows at the time.
    """

    def __init__(
        self,
        session: Connection,
        parts: Mapping[str, sql.Composable],
        filling: Callable[[], Collection[TableName]] = tuple,
    ) -> None:
        self._session = session
        self._parts = {"references": parts["references"]}
        self._filling = filling
        self._put_off_here: set[Reference] = set()

    def put_off(
        self, tables: Collection[TableName], columns: Collection[str] | None = None, *, all_: bool = True
    ) -> set[TableName]:
        """Drop the foreign keys from these tables and to them. Returns the tables that had one.

        Args:
            columns: only keys of other tables that refer to one of these columns.
            all_: raise SluiceError SLC-033 for a key that our role may not drop; else it stays.
        """
        if all_:
            expect_droppable(self._session, tables)
        found = _found(self._session, tables, columns)
        for reference in (one.reference for one in found if one.ours):
            drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
            self._session.execute(drop.format(identifier(reference.table), sql.Identifier(reference.name)))
            self.note(reference)
            self._put_off_here.add(reference)
        return {one.reference.table for one in found if one.ours}

    def note(self, reference: Reference) -> None:
        """Write down one that is to be made later."""
        child, parent = reference.table, reference.parent
        values = {"schema": child.schema, "table": child.table, "name": reference.name}
        values |= {"parent_schema": parent.schema, "parent_table": parent.table}
        values["made"] = reference.statement.as_string(self._session)
        self._session.execute(composed("load/foreign_keys/note", **self._parts), values)

    def make(self, tables: Collection[TableName], lacking: Collection[TableName] = ()) -> set[TableName]:
        """Make those that wait, of these tables or to them. Returns the tables that have one now.

        Args:
            lacking: tables that lack rows yet: what has to do with them goes on waiting.

        Raises:
            SluiceError: SLC-271, rows do not meet one.
        """
        waiting = {one: {one.table, one.parent} for one in self._noted()}
        chosen = [one for one, ends in waiting.items() if ends & set(tables) and not ends & set(lacking)]
        return {reference.table for reference in chosen if self._made(reference)}

    def add(self, reference: Reference) -> None:
        """Make one, or write it down if its tables lack rows."""
        if {reference.table, reference.parent}.isdisjoint(self._filling()):
            self._session.execute(reference.statement)
        else:
            self.note(reference)

    def make_again(self) -> set[TableName]:
        """Make those that this transaction has put off. Returns the tables that have one now."""
        if not self._put_off_here:
            return set()
        # No table can be altered for which something waits until the end of the transaction.
        self._session.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        waiting = (reference for reference in self._noted() if reference in self._put_off_here)
        return {reference.table for reference in waiting if self._made(reference)}

    def forget(self, table: TableName, names: Collection[str] | None = None) -> None:
        """None of these foreign keys of a table is to be made any more; none at all by default."""
        values = {"schema": table.schema, "table": table.table, "names": None if names is None else list(names)}
        self._session.execute(composed("load/foreign_keys/forget", **self._parts), values)

    def _made(self, reference: Reference) -> bool:
        event("makes", table=reference.table, foreign_key=reference.name)
        try:
            with self._session.transaction():
                self._session.execute(reference.statement)
        except psycopg.errors.ForeignKeyViolation as error:
            raise SluiceError(
                271,
                f"rows of {reference.table} do not meet the foreign key {reference.name}, which is to be made again: "
                f"{reference.parent} lacks what they refer to",
                f"fill both tables anew, by initial_update without `tables` and `key_ranges`. If rows of "
                f"{reference.table} are the slave's own, delete there those that refer to none of the master's before",
            ) from error
        except _OVERTAKEN as error:
            event("left out", table=reference.table, foreign_key=reference.name, why=error.diag.message_primary)
            self.forget(reference.table, [reference.name])
            return False
        self.forget(reference.table, [reference.name])
        return True

    def _noted(self) -> list[Reference]:
        rows = self._session.execute(composed("load/foreign_keys/noted", **self._parts)).fetchall()
        return [
            Reference(TableName(child_schema, child), name, TableName(schema, parent), verbatim(made))
            for child_schema, child, name, schema, parent, made in rows
        ]


def expect_droppable(session: Connection, tables: Collection[TableName]) -> None:
    """See that our role may drop the foreign keys from these tables and to them. Raises SluiceError SLC-033."""
    if others := [one.reference for one in _found(session, tables) if not one.ours]:
        raise _not_ours(session, others)


def _found(session: Connection, tables: Collection[TableName], columns: Collection[str] | None = None) -> list[_There]:
    values = {**relations.among(tables), "columns": None if columns is None else list(columns)}
    rows = session.execute(composed("load/foreign_keys/there"), values).fetchall()
    return [
        _There(foreign_key(TableName(child_schema, child), name, TableName(schema, parent), verbatim(text)), ours)
        for child_schema, child, name, schema, parent, text, ours in rows
    ]


def _not_ours(session: Connection, references: Collection[Reference]) -> SluiceError:
    names = ", ".join(f"{one.name} of {one.table} (to {one.parent})" for one in references)
    role = sql.Identifier(session.info.user).as_string(session)
    drops = "; ".join(
        f"ALTER TABLE {identifier(one.table).as_string(session)} DROP CONSTRAINT "
        f"{sql.Identifier(one.name).as_string(session)}"
        for one in references
    )
    return SluiceError(
        33,
        f"these foreign keys hold back rows that are to be replaced, and the role {role} may not drop them for that "
        f"time: {names}",
        f"nothing was changed; as the owner of the tables type in the slave's database: {drops}; or let {SUPERUSER}, "
        f"say: GRANT SET ON PARAMETER session_replication_role TO {role}",
    )
