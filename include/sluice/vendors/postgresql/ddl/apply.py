"""CREATE, ALTER and DROP of the master, carried out on a slave at their place in the stream."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg
from psycopg import sql

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.errors import CommandRefused, UnclassifiedError
from sluice.log import event
from sluice.model.action import Existing
from sluice.model.names import TableName
from sluice.model.table_definition import DefinedTable, TableChange
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import definition, relations, user_types
from sluice.vendors.postgresql.catalog.definition import carried, for_slave, identifier, regclass
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl import alter, schemas, trust
from sluice.vendors.postgresql.ddl.compatibility import fitting
from sluice.vendors.postgresql.ddl.constraints import open_to_all, understood
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.ddl.slave_definition import mapped
from sluice.vendors.postgresql.ddl.trust import Judged
from sluice.vendors.postgresql.errors import explained
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys
from sluice.vendors.postgresql.session import Connection, limit_lock_waits
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.postgresql.write.staging import missing
from sluice.vendors.protocol.ddl_errors import failed, more_to_be_seen, name_taken, not_the_one, there_already

# Readers of the slave's tables are not to queue behind us for longer.
_PATIENCE = "5s"
# How constraints begin that have expressions.
_EVALUATED = ("CHECK", "EXCLUDE")
# What `explained` calls an error that is in no class of its own.


def define(
    connection: Connection,
    change: TableChange,
    mapper: Mapper,
    loop_filter: LoopFilter,
    references: WaitingForeignKeys,
    existing: Existing,
    judged: Judged | None = None,
    *,
    silent: bool,
) -> None:
    """Do to the slave's table what was done to the master's, in the transaction of the batch that it belongs to.

    Args:
        existing: what a CREATE does about a table that is there already.
        judged: what was looked at; without it somebody has decided that all of it is made.
        silent: see `sluice.vendors.postgresql.catalog.definition.references`.

    Raises:
        SluiceError: SLC-140, it fails; SLC-141, a table that is to be made is there already; SLC-142, so is the name
            that one is to bear; SLC-070, the table is missing; SLC-073, an empty one does not fit;
            SLC-140, it is a partition; SLC-145, its new name lets more of it be seen; SLC-321, SLC-322, its
            definition is none, or names a type or a collation that the slave lacks; SLC-371, it is missing, and another
            has its new name.
        TransientError: SLC-036, another session has locked the table; SLC-115, see `LoopFilter.expect_recorded`;
            SLC-095, it lacks now what it had when that was looked at.
    """
    loop_filter.expect_recorded([mapper.table(side.name) for side in (change.before, change.after) if side])
    # No table can be altered for which something waits until the end of the transaction.
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
    limit_lock_waits(connection, _PATIENCE)
    one = _Defining(connection, mapper, references, judged, silent=silent)
    with _failing(change), connection.transaction():
        if change.before is None:
            assert change.after is not None
            one.create(change.after, existing)
        elif change.after is None:
            one.drop(change.before)
        else:
            one.alter(change.before, change.after)
    limit_lock_waits(connection, None)
    loop_filter.record()


def judge(connection: Connection, change: TableChange, mapper: Mapper, existing: Existing) -> Judged:
    """Look at the definitions of a command; see `ddl.trust`. Nothing is changed.

    Raises:
        SluiceError: SLC-140, SLC-321, SLC-322, it fails.
    """
    if change.after is None or (change.before is None and change.after.unfilled):
        return Judged()
    names = names_of(connection, mapper)
    before = for_slave(carried(change.before), names) if change.before else None
    after = for_slave(understood(connection, carried(change.after)), names)
    exists = before is None and existing is not Existing.RECREATE
    exists = exists and bool(relations.columns(connection, mapper.table(after.name)))
    with _failing(change):
        return trust.judge(connection, after, names, TypeNames(connection), before=before, exists=exists)


@contextmanager
def _failing(change: TableChange) -> Iterator[None]:
    """Say what it means that a command fails."""
    try:
        yield
    except psycopg.Error as error:
        table = change.after or change.before
        meant = explained(error, f"defining {table.name if table else 'a table'} as the master does")
        if not isinstance(meant, UnclassifiedError):
            raise meant from error
        raise failed(meant) from error


class _Defining:
    """One command on one slave."""

    def __init__(
        self,
        connection: Connection,
        mapper: Mapper,
        references: WaitingForeignKeys,
        judged: Judged | None,
        *,
        silent: bool,
    ) -> None:
        self._connection = connection
        self._references = references
        self._mapper = mapper
        self._names = names_of(connection, mapper)
        self._types = TypeNames(connection)
        self._judged = judged
        self._silent = silent

    def create(self, table: DefinedTable, existing: Existing) -> None:
        """Make it with all its keys; its rows follow. If they do not, it is left to an initial update, since half a
        table is worse than none.
        """
        if table.unfilled:
            event("left to an initial update", table=table.name)
            return
        name = self._mapper.table(table.name)
        self._provide(table)
        made = open_to_all(self._seen(table), silent=self._silent)
        if existing is Existing.RECREATE:
            self.drop(table)
        if fitting(self._connection, view(self._mapper, carried(table).layout).layout, self._names):
            self._take(name, existing)
            return
        if self._judged:
            self._judged.expect_looked_at(name)
        schemas.provide(self._connection, name.schema)
        self._run([definition.create_table(made, name, self._types)])
        self._run(definition.after_data(made, name))
        self._refer(open_to_all(carried(table), silent=self._silent))

    def alter(self, before: DefinedTable, after: DefinedTable) -> None:
        """Bring it from one definition to the other."""
        old, new = self._mapper.table(before.name), self._mapper.table(after.name)
        if old != new and self._exists(old):
            if self._exists(new):
                raise name_taken(
                    old,
                    new,
                    f"rename or drop {new} there, if it is not the master's; else rename both by hand, and run with "
                    "`alters: ignore` for this replication until they are passed",
                )
            schemas.provide(self._connection, new.schema)
            self._run(alter.moved(old, new))
        elif not self._exists(new):
            raise missing(f"the slave has no table {new} to be altered")
        elif old != new:
            raise not_the_one(old, new)
        self._provide(after)
        lacking = self._lacking(new, before, after)
        was, becomes = self._seen(before, lacking), self._seen(after, lacking)
        unseen = {one.number for one in before.columns} - {one.number for one in was.columns}
        # What the slave computes of rows that it has is not known here.
        unseen |= {one.number for one in becomes.columns if one.number < 0} - {one.number for one in was.columns}
        shown = [one.name for one in becomes.columns if one.number in unseen]
        if not self._mapper.same_rows(before.name, after.name):
            shown.append("rows that it did not get")
        if shown and not becomes.rewritten:
            raise more_to_be_seen(after.name, shown)
        if becomes.rewritten:
            becomes = open_to_all(becomes, silent=self._silent)
            # The server checks a key that refers to columns of other types against the rows that are there, which are
            # none until those of the stream come.
            retyped = alter.retyped(was, becomes)
            # No table can be altered for whose rows something waits until the end of the transaction.
            self._references.put_off([new], retyped if self._silent else None, all_=not self._silent)
            self._empty(new)
        if statements := list(alter.columns(was, becomes, definition.read(self._connection, new), self._types)):
            self._make_ordinary(new)
        self._run(statements)
        existing = definition.read(self._connection, new)
        kept = {key.name for key in after.foreign_keys}
        self._references.forget(new, [key.name for key in before.foreign_keys if key.name not in kept])
        self._run(alter.constraints(was, becomes, existing))
        self._refer(alter.references(carried(before), carried(after), existing))

    def drop(self, table: DefinedTable) -> None:
        """It is gone. What depends on it on the slave alone keeps it there: an error."""
        self._run([sql.SQL("DROP TABLE IF EXISTS {}").format(identifier(self._mapper.table(table.name)))])

    def _provide(self, table: DefinedTable) -> None:
        types = carried(table).types
        expect = self._judged.expect_lacked if self._judged else lambda _: None
        user_types.provide(self._connection, types, self._names, expect)

    def _lacking(self, name: TableName, before: DefinedTable, after: DefinedTable) -> set[tuple[str, str]]:
        """Checks and exclusions that stay, and that the slave's table has not: perhaps somebody has rejected them. Not
        even a model has them, since to make it runs what they call with constants.
        """
        stay = {one for one in set(before.constraints) & set(after.constraints) if one[1].startswith(_EVALUATED)}
        existing = {key for key, _ in definition.read(self._connection, name).constraints} if stay else set()
        return {one for one in stay if one[0] not in existing}

    def _seen(self, table: DefinedTable, lacking: Collection[tuple[str, str]] = ()) -> definition.PostgresTable:
        """The table in the slave's words, with the columns that it gets, without these of its constraints."""
        whole = carried(table)
        constraints = tuple(one for one in whole.constraints if one not in lacking)
        known = understood(self._connection, replace(whole, constraints=constraints))
        return mapped(self._connection, for_slave(known, self._names), self._mapper)

    def _take(self, name: TableName, existing: Existing) -> None:
        """A table that is there already does, if nothing is lost by it, or that is wanted so."""
        part = self._connection.execute(
            "SELECT relispartition FROM pg_class WHERE oid = %s::regclass", [regclass(name)]
        )
        rows = relations.rows_of(self._connection, name)
        filled = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(rows)
        if part.fetchone() == (True,):
            raise CommandRefused(
                140,
                f"{name} is a partition on the slave, and a table of its own on the master from here on",
                "take it from its table there: ALTER TABLE ... DETACH PARTITION; the slave goes on with it as it is",
            )
        if existing is Existing.OVERWRITE:
            self._empty(name)
        elif self._connection.execute(filled).fetchone() == (True,):
            raise there_already(
                name,
                "drop, rename or empty it there; or set `overwrite_tables: true` (its rows are deleted), "
                "`recreate_tables: true` (it is dropped) or `creates: ignore` (it stays, as where others fill it) "
                "for this replication",
            )

    def _empty(self, name: TableName) -> None:
        side_effects.hold(self._connection, name, self._mapper.adopted, silent=self._silent)
        self._run([sql.SQL("DELETE FROM {}").format(relations.rows_of(self._connection, name))])

    def _make_ordinary(self, name: TableName) -> None:
        """A table that has its columns from a type changes with it alone, and what else has them from it would, too."""
        typed = "SELECT FROM pg_class WHERE oid = %s::regclass AND reloftype <> 0"
        if self._connection.execute(typed, [regclass(name)]).rowcount:
            self._run([sql.SQL("ALTER TABLE {} NOT OF").format(identifier(name))])

    def _refer(self, table: definition.PostgresTable) -> None:
        parents = {key.parent for key in table.foreign_keys if self._exists(self._mapper.table(key.parent))}
        known = understood(self._connection, table)
        for reference in definition.references(known, self._mapper, parents, silent=self._silent):
            self._references.add(reference)

    def _exists(self, name: TableName) -> bool:
        return bool(relations.columns(self._connection, name))

    def _run(self, statements: Iterable[sql.Composed]) -> None:
        for statement in statements:
            self._connection.execute(statement)
