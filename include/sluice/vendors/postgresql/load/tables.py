"""A slave's tables during an initial update: made if missing, emptied if not, keys and indexes after the data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import psycopg
from psycopg import sql

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.libpq import name_session
from sluice.library_errors import name_table
from sluice.model.action import FilledRows
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.vendors.postgresql import fence, migrations, ownership
from sluice.vendors.postgresql import sequences as following
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import definition, relations, user_types
from sluice.vendors.postgresql.catalog.definition import PostgresTable, for_slave, identifier
from sluice.vendors.postgresql.catalog.neutral import as_ours
from sluice.vendors.postgresql.catalog.row_identity import UNFINISHED, is_unfinished, merges
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.copy_formats import BINARY
from sluice.vendors.postgresql.ddl import schemas, trust
from sluice.vendors.postgresql.ddl.compatibility import fitting, other_types
from sluice.vendors.postgresql.ddl.constraints import to_make, understood
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.ddl.owners import expect_trusted_owners
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load import deferred_indexes, finish, preflight
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys
from sluice.vendors.postgresql.load.wipe_schema import wipe_out
from sluice.vendors.postgresql.session import Connection, composed, limit_lock_waits, restore
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.load import Expected, TableDefinition, importing
from sluice.vendors.protocol.read import TakenFormats

# Readers of the slave's tables are not to queue behind us for longer.
_PATIENCE = "60s"


class FilledPostgres(Protocol):
    """The slave whose tables are filled: as much of `PostgresSlave` as that takes."""

    info: ConnectionInfo
    schema: str
    pair: Pair
    mapper: Mapper
    parts: dict[str, sql.Composable]
    masters: Collection[Resources]

    def take_over(self, epoch: int) -> object:
        """Raise the fence."""

    def capabilities(self) -> Capabilities:
        """The capabilities of the slave and of our role on it."""

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Let the stream go on at a position, without what the snapshot shows."""

    def make_durable(self) -> None:
        """Flush what was committed."""

    def close(self) -> None:
        """End the session."""


class PostgresTables:
    """One slave of one dump, fenced by the dump's epoch (R6).

    Attributes:
        formats: tables whose columns have wider types here take no `BINARY`.
    """

    def __init__(self, slave: FilledPostgres, epoch: int, earlier: int | None, wiped: WipeOut | None) -> None:
        self._slave = slave
        self._epoch = epoch
        self._earlier = earlier
        self._wiped = wiped
        self._sessions = fence.Sessions(slave.pair, slave.parts["position"], epoch, self._connected)
        self._goes_on = self._broke_off = False
        self._unfinished: dict[TableName, PostgresTable] = {}
        self.mapper = slave.mapper
        self.formats = TakenFormats({BINARY})
        self.upserted: set[TableName] = set()

    def begin(self) -> list[Expected]:
        """Fence out earlier jobs; returns the chunks of an interrupted load."""
        self._slave.take_over(self._epoch)
        with self._sessions.writing("looking at the load") as session:
            left = name_session(importing(self._slave.pair))
            session.execute(composed("load/end_programs"), {"application": left})
            if self._earlier is not None:
                carried = {**self._values(), "earlier": self._earlier}
                session.execute(composed("load/carry_over", **self._slave.parts), carried)
            rows = session.execute(composed("load/found", **self._slave.parts), self._values())
            found = [Expected(*row) for row in rows]
        # Whatever is in came after the tables were emptied.
        self._broke_off, self._goes_on = any(one.rows is not None for one in found), any(self.progress().values())
        return found

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """The tables whose rows are identified by a primary key that is not deferrable, and by nothing else."""
        with self._sessions.reading("looking at the slave's tables") as session:
            # What a load has put off that did not end: it may be what tells rows apart.
            slave_tables = self._slave_tables(tables)
            deferred_indexes.build(session, self._slave.parts["indexes"], slave_tables)
            # Rows of two times may bear one value of a key until the log has made them rows of one.
            deferred_indexes.drop(session, [name for name in slave_tables if is_unfinished(session, name)])
            self._silence(session)
            return {one.name for one in as_ours(tables) if merges(session, self.mapper, one, made=made)}

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Write down the chunks, for tasks to claim; those of a load that goes on are. Earlier ones are forgotten."""
        if self._goes_on:
            return
        with self._sessions.writing("planning the load") as session:
            session.execute(composed("load/forget", **self._slave.parts), self._values())
            parts, rows = [one.part for one in chunks], [one.rows for one in chunks]
            expected = {**self._values(), "parts": parts, "rows": rows}
            session.execute(composed("load/expect", **self._slave.parts), expected)

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Create what is missing, empty what is there unless it stays, as all does if this load goes on, or its rows
        are the slave's own. Before that a schema is wiped out, if that is wanted. Indexes of what is emptied, and comes
        in parts, are put off.

        Raises:
            SluiceError: SLC-073 a table lacks a column, a column cannot hold the master's values, SLC-074
                foreign keys or triggers of the slave would act on the rows and cannot be silenced, SLC-076 a type is
                missing that cannot be made, one that is there is another, SLC-210 a table has rows and is not
                to have any, nothing tells which of its rows are the master's, rows are to stay in one
                that was not made to its end, SLC-033 a foreign key would hold rows back and cannot be dropped, SLC-320
                a table is not made by itself, SLC-210, SLC-664 one belongs to somebody else; see `wipe_out`, `to_make`.
            TransientError: SLC-036, another session keeps a table locked.
        """
        with self._sessions.writing("preparing the slave's tables") as session:
            limit_lock_waits(session, _PATIENCE)
            if self._wiped and not (self._goes_on or staying):
                wipe_out(session, self._wiped, migrations.IN_SLAVE)
            # What blocks had brought is gone with this.
            session.execute(composed("load/blocks/forget", **self._slave.parts), self._values())
            loop_filter = LoopFilter(session, self._slave.masters)
            names, types = names_of(session, self.mapper), TypeNames(session)
            indexes = self._slave.parts["indexes"]
            merged = [table for table in tables if self.mapper.existing_rows(table.name) is FilledRows.MERGE]
            deferred_indexes.build(session, indexes, self._slave_tables(merged))
            emptied, made, keyless = [], [], set()
            present = set(relations.existing(session, self._slave_tables(tables)))
            references, referring = WaitingForeignKeys(session, self._slave.parts), set()
            silent = self._slave.capabilities().silent_triggers
            expect_trusted_owners(session, present, self.mapper.adopted)
            side_effects.expect_none(
                session, [name for name in self._slave_tables(tables) if name in present], silent=silent
            )
            if not silent:
                referring = references.put_off(present)
            for table in as_ours(tables):
                with name_table(table.name), translated("preparing the slave's table"):
                    layout = view(self.mapper, table.layout).layout
                    name = layout.name
                    whole = name in present and not is_unfinished(session, name)
                    known = understood(session, for_slave(table, names))
                    judged = trust.expect_trusted(session, known, names, types, exists=whole)
                    user_types.provide(session, table.types, names, judged.expect_lacked)
                    stays = self._goes_on or table.name in staying
                    unfinished = name in present and not whole
                    if unfinished and stays:
                        self._unfinished[table.name] = to_make(session, table, names, self.mapper)
                        if table.name in staying and not relations.primary_key(session, name):
                            session.execute(definition.primary_key(self._unfinished[table.name], name))
                    elif unfinished:
                        # Ours, and perhaps of another shape than the master's table is now.
                        self._expect_ours(session, table.name, name)
                        session.execute(sql.SQL("DROP TABLE {}").format(identifier(name)))
                        present.remove(name)
                    if name in present:
                        existing = fitting(session, layout, names)
                        if other_types(layout, existing, names):
                            self.formats.as_text.add(table.name)
                        if self._emptied(session, table, stays=stays):
                            emptied.append(name)
                        if (name in emptied and table.name in in_parts) or (
                            self._goes_on and table.name not in staying
                        ):
                            keyless.add(name)
                    else:
                        made.append(name)
                        self._unfinished[table.name] = to_make(session, table, names, self.mapper)
                        # The master's table may have been renamed since that was looked at.
                        preflight.expect_names_free(session, self._unfinished[table.name], name)
                        schemas.provide(session, name.schema)
                        session.execute(definition.create_table(self._unfinished[table.name], name, types))
                        remark = sql.SQL("COMMENT ON TABLE {} IS {}")
                        session.execute(remark.format(identifier(name), sql.Literal(UNFINISHED)))
            if emptied:
                self._empty(session, emptied)
            deferred_indexes.forget(session, indexes, made)
            for name in made:
                references.forget(name)
            deferred_indexes.build(session, indexes, present - keyless)
            deferred_indexes.put_off(session, indexes, keyless.intersection(emptied), emptied)
            loop_filter.record([*made, *referring])
            loop_filter.remove()

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """Keys, indexes and foreign keys of the tables that we made, those that were put off, and ANALYZE. Foreign keys
        wait on, if they have to do with a table that lacks rows yet.

        Raises:
            SluiceError: SLC-271, rows do not meet a foreign key.
        """
        unfinished = {self.mapper.table(table.name): self._unfinished.get(table.name) for table in tables}
        indexes, masters = self._slave.parts["indexes"], self._slave.masters
        finish.finish(self._sessions, indexes, masters, unfinished, tasks)
        with self._sessions.writing("making foreign keys") as session:
            loop_filter = LoopFilter(session, self._slave.masters)
            created = [table for table in as_ours(tables) if table.name in self._unfinished]
            among = {table.name for table in tables}
            silent = self._slave.capabilities().silent_triggers
            references = WaitingForeignKeys(session, self._slave.parts)
            for table in created:
                for one in definition.references(understood(session, table), self.mapper, among, silent=silent):
                    references.note(one)
                remark = sql.SQL("COMMENT ON TABLE {} IS NULL")
                session.execute(remark.format(identifier(self.mapper.table(table.name))))
            made = references.make(self._slave_tables(tables), [self.mapper.table(name) for name in lacking])
            loop_filter.record([*self._slave_tables(created), *made])
            loop_filter.remove()

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """Primary keys of the tables that we made; which of all have rows."""
        with self._sessions.writing("looking at what was imported") as session:
            for name, made in self._unfinished.items():
                slave_table = self.mapper.table(name)
                if made.key and not relations.primary_key(session, slave_table):
                    session.execute(definition.primary_key(made, slave_table))
            return relations.filled(session, {table.name: self.mapper.table(table.name) for table in tables})

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Let the sequences give out nothing that the master's have given out."""
        with self._sessions.writing("moving the sequences") as session:
            following.follow(session, self.mapper, sequences)

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """The data is complete: from here on the stream, without what the snapshot saw."""
        self._slave.begin_update(position, snapshot)
        with self._sessions.writing("ending the load") as session:
            session.execute(composed("load/forget", **self._slave.parts), self._values())
        self._slave.make_durable()

    def progress(self) -> dict[int, int]:
        """The chunks that are in, and how many rows each has."""
        looked = composed("load/progress", **self._slave.parts)
        with self._sessions.reading("looking at the load") as session:
            return dict(session.execute(looked, self._values()))

    def close(self) -> None:
        """End the sessions."""
        self._sessions.close()
        self._slave.close()

    def _connected(self, application: str) -> Connection:
        slave = self._slave
        return ownership.session_on_slave(slave.info, application, slave.schema)

    def _slave_tables(self, tables: Sequence[TableDefinition]) -> list[TableName]:
        """The slave's names of tables."""
        return [self.mapper.table(table.name) for table in tables]

    def _empty(self, session: Connection, names: Sequence[TableName]) -> None:
        """Empty tables; row by row if others refer to them that keep their rows, or that are not ours to touch."""
        tables = [relations.rows_of(session, name) for name in names]
        try:
            with session.transaction():
                session.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(tables)))
        except psycopg.errors.FeatureNotSupported:
            self._silence(session)
            for table in tables:
                session.execute(sql.SQL("DELETE FROM {}").format(table))
        restore(session)
        limit_lock_waits(session, _PATIENCE)

    def _emptied(self, session: Connection, table: PostgresTable, *, stays: bool) -> bool:
        """Whether a table that is there is to be emptied."""
        name, policy = self.mapper.table(table.name), self.mapper.existing_rows(table.name)
        if policy is FilledRows.MERGE and table.name not in self._unfinished:
            preflight.expect_keyed(session, self.mapper, table)
            self.upserted.add(table.name)
            return False
        # What a load that broke off has left is the master's.
        if policy is FilledRows.REFUSE and not (stays or self._broke_off):
            preflight.expect_empty(session, name)
        return not stays

    def _expect_ours(self, session: Connection, table: TableName, name: TableName) -> None:
        """See that no rows are in it that others may have brought there meanwhile, and that are to stay."""
        if self.mapper.existing_rows(table) is FilledRows.MERGE:
            session.execute(sql.SQL("LOCK TABLE {}").format(identifier(name)))
            preflight.expect_unfilled(session, self.mapper, table)

    def _silence(self, session: Connection) -> None:
        """Disable triggers and rules in this transaction, if the role may."""
        if self._slave.capabilities().silent_triggers:
            session.execute("SET LOCAL session_replication_role = replica")

    def _values(self) -> dict[str, object]:
        return {"source": self._slave.pair.source, "slave": self._slave.pair.slave, "update": self._epoch}
