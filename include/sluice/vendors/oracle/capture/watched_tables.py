"""Watched tables: their columns are recorded, and their triggers made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import oracledb

from sluice.model.names import TableName
from sluice.model.watched import Watch
from sluice.vendors.oracle.capture import registry
from sluice.vendors.oracle.capture.commands import only_drops
from sluice.vendors.oracle.capture.install import make
from sluice.vendors.oracle.capture.registry import Registered
from sluice.vendors.oracle.capture.triggers import CapturedTable, for_ddl, statements
from sluice.vendors.oracle.catalog.recorded import NO, YES, RecordedTable, columns_text, layout_of
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import OracleResources, composed, qualified, quoted
from sluice.vendors.oracle.session import Row, changed, execute, transaction

# Why changes of a table are not known.
_LOST = (
    "a trigger could not write a change, a command took rows away or disabled triggers, or the table became one that "
    "cannot be watched"
)
_SILENT = "its trigger is gone or disabled"
_REWRITTEN = "a command wrote its segments anew, such as TRUNCATE by another user or CASCADE, or one on partitions"
_RESTORED = "it was dropped, and came back from the recycle bin"
# Types whose values are filled up to their length.
_PADDED = ("CHAR", "NCHAR")
# What is to be dropped is not there.
_GONE = ("ORA-04080", "ORA-04043", "ORA-00942")


class WatchedTables:
    """The tables of a source, in one session."""

    def __init__(self, session: oracledb.Connection, resources: OracleResources, parts: Mapping[str, str]) -> None:
        self._session = session
        self._resources = resources
        self._parts = parts

    def watch(
        self,
        table: CapturedTable,
        settings: Watch,
        before: Registered | None,
        *,
        found_lost: bool = False,
        lost: bool = False,
    ) -> None:
        """Record the columns of a table if they are new, and make its trigger.

        The columns are recorded first. An image names its columns, so those that the older trigger writes meanwhile are
        read by the older ones.

        Args:
            before: as it was, which `let_go` has seen.
            found_lost: its slaves are INCONSISTENT by now, so it counts as LOST no more.
            lost: changes of it are not known, and its slaves are not INCONSISTENT yet.

        Raises:
            SluiceError: SLC-477, it cannot be captured.
            LockTimeout: SLC-036, a transaction that wrote to it does not end; it is tried again.
        """
        layout_of(table)
        same = before is not None and before.recorded.table == table
        made = self._made(table, settings, before)
        known = before.recorded if before and same else self._recorded(table, before)
        trigger = settings.trigger or self._resources.capture(table.relation)
        # Another table bears the name by now, of whose rows nothing is known.
        replaced = before is not None and before.recorded.table.relation != table.relation
        anew = before is None or replaced or found_lost
        named = {"schema": table.name.schema, "name": table.name.table}
        gap = found_lost or lost or not (before and before.ready and before.actions and not replaced)
        if made and before and before.trigger != trigger and not replaced:
            self._rename(before.trigger, trigger)
        with transaction(self._session):
            if anew:
                self._change("capture/registry/lock_segments", {})
            marked = [mark == YES for (mark,) in self._ask("capture/registry/lock_lost", named)]
            # A trigger may have marked it since it was read: of that nobody was told.
            lost = (
                lost
                or replaced
                or _pads(before, table)
                or (any(marked) and not (found_lost and before is not None and before.lost))
            )
            if not same:
                self._change("capture/registry/add_layout", known.values)
            values = {
                **named,
                "actions": registry.actions(settings) or registry.NONE,
                "layout": known.number,
                "trigger_": trigger,
                "debug": settings.debug,
                "relation": table.relation,
                "old_images": settings.old_images,
                "lost": YES if lost else NO,
            }
            self._change("capture/registry/register_again" if marked else "capture/registry/register", values)
            if anew:
                self._change("capture/registry/note_segments", {"relation": table.relation})
            self._change("capture/registry/forget_current", {**named, "relation": table.relation})
            self._change(
                "capture/registry/add_current",
                {**named, "relation": table.relation, "definition": columns_text(table)},
            )
        if before and not made:
            self.drop("TRIGGER", before.trigger)
        for statement in made:
            make(self._session, self._resources, f"the trigger of {table.name}", statement)
        if made and gap:
            # Whoever wrote while no trigger noted it is to end before a snapshot is taken (R5).
            with transaction(self._session):
                execute(self._session, composed("capture/watch/lock", table=qualified(table.name)))
        with transaction(self._session):
            self._change("capture/registry/finish", {"relation": table.relation})

    def _made(self, table: CapturedTable, settings: Watch, before: Registered | None) -> list[str]:
        letters = registry.actions(settings)
        if not letters:
            return []
        first = self._resources.image(table.relation)
        trigger = before.trigger if before else self._resources.capture(table.relation)
        values = {"trigger_": trigger, "schema": first.schema, "image": first.table}
        ((used,),) = self._ask("capture/registry/image_used", values)
        return statements(
            self._resources,
            self._parts,
            table,
            letters,
            trigger=settings.trigger,
            old_images=settings.old_images,
            debug=settings.debug,
            second=used > 0,
        )

    def _recorded(self, table: CapturedTable, before: Registered | None) -> RecordedTable:
        number = None
        if before is not None:
            values = {"relation": table.relation, "layout": before.recorded.number}
            ((number,),) = self._ask("capture/registry/altered_at", values)
        if number is None:
            ((number,),) = self._ask("capture/registry/next_key", {})
        return RecordedTable(int(number), table)

    def _rename(self, trigger: str, becomes: str) -> None:
        """Call a trigger otherwise, without a moment in which none fires, or two."""
        whole = qualified(TableName(self._resources.schema, trigger))
        try:
            execute(self._session, composed("capture/watch/rename", trigger=whole, becomes=quoted(becomes)))
        except oracledb.DatabaseError as error:
            if code_of(error) not in _GONE:
                raise

    def settings(self, one: Registered) -> Watch:
        """How a table is captured. A trigger that bears the number of its table gets the one of another by itself."""
        named = one.trigger != self._resources.capture(one.recorded.table.relation)
        return one.watch if named else replace(one.watch, trigger=None)

    def let_go(
        self, known: Mapping[TableName, Registered], there: Mapping[TableName, CapturedTable]
    ) -> list[TableName]:
        """Drop the triggers of tables that are not there, and of those whose names others bear; the former ones.

        What bears a name later is another table. A trigger stays on its table, whatever that is called, and is dropped
        before one of its name is made for another.
        """
        for name, one in known.items():
            if name not in there:
                self._release(one)
            elif there[name].relation != one.recorded.table.relation:
                self.drop("TRIGGER", one.trigger)
        return [name for name in known if name not in there]

    def _release(self, one: Registered) -> None:
        """Watch a table no more; what is queued of it is published yet."""
        self.drop("TRIGGER", one.trigger)
        named = {"schema": one.name.schema, "name": one.name.table}
        with transaction(self._session):
            self._change("capture/registry/unregister", named)
            self._change("capture/registry/forget_current", {**named, "relation": one.recorded.table.relation})

    def lose(self, one: Registered) -> None:
        """Note that changes of a watched table may not be known: its slaves become INCONSISTENT."""
        if one.actions and not one.lost:
            with transaction(self._session):
                self._change("capture/registry/lose", {"relation": one.recorded.table.relation})

    def note_drops(
        self, known: Mapping[TableName, Registered], there: Mapping[TableName, CapturedTable]
    ) -> set[TableName]:
        """Note commands that took nothing but columns away, and of which no trigger noted that; their tables.

        A trigger does not fire for other users than the owner of a table. And it may see a column that is dropped: on
        which place of the command the server lets it fire, no manual says.
        """
        lacking = {name for name, one in known.items() if only_drops(one.recorded.table, there[name])}
        if not lacking or not registry.carries_ddl(self._session, self._parts):
            return set()
        for name in sorted(lacking):
            values = {"schema": name.schema, "name": name.table, "relation": there[name].relation}
            with transaction(self._session):
                self._change("capture/registry/note_drop", values)
        return lacking

    def watch_definitions(self, schemas: Collection[str]) -> None:
        """Make the triggers for the DDL of these schemas, as far as they are there."""
        for schema in sorted(schemas):
            for (number,) in execute(self._session, composed("catalog/user_number"), {"schema": schema}):
                for statement in for_ddl(self._resources, self._parts, schema, int(number)):
                    make(self._session, self._resources, f"the triggers for DDL of {schema}", statement)

    def drop(self, kind: str, name: str) -> None:
        """Drop an object of our schema, if it is there."""
        whole = qualified(TableName(self._resources.schema, name))
        try:
            execute(self._session, composed("capture/remove/object", kind=kind, name=whole))
        except oracledb.DatabaseError as error:
            if code_of(error) not in _GONE:
                raise

    def rewritten(self) -> frozenset[int]:
        """The numbers of tables with other segments than before. All segments in the catalog are looked through."""
        return frozenset(int(relation) for (relation,) in self._ask("capture/registry/rewritten", {}))

    def silenced(self, known: Mapping[TableName, Registered], rewritten: Collection[int]) -> dict[TableName, str]:
        """Watched tables of which changes are not known, and why; `rewritten` are those with other segments."""
        rows = self._ask("capture/registry/firing", {"schema": self._resources.schema})
        firing = {str(name) for (name,) in rows}
        restored = {TableName(schema, table) for _, schema, table in self._restored()}
        found: dict[TableName, str] = {}
        for name, one in known.items():
            reasons = {
                _LOST: one.lost,
                _SILENT: one.trigger not in firing,
                _REWRITTEN: one.recorded.table.relation in rewritten,
                _RESTORED: name in restored,
            }
            why = [why for why, holds in reasons.items() if holds]
            if why and (one.lost or (one.ready and one.actions)):
                found[name] = "; ".join(why)
        return found

    def keep_segments(self) -> None:
        """Take the segments of new partitions for known ones, and forget those of tables that are watched no more."""
        with transaction(self._session):
            # The DDL of an application may note those of the same partitions, in another order.
            self._change("capture/registry/lock_segments", {})
            self._change("capture/registry/add_segments", {})
            self._change("capture/registry/forget_segments", {})

    def drop_restored(self, spared: Collection[TableName] = ()) -> None:
        """Drop triggers of ours that came back from the recycle bin, but for those of some tables."""
        for trigger, schema, table in self._restored():
            if TableName(schema, table) not in spared:
                self.drop("TRIGGER", str(trigger))

    def _restored(self) -> list[Row]:
        values = {"schema": self._resources.schema, "lose": self._resources.name("lose")}
        return self._ask("capture/registry/restored", values)

    def _change(self, name: str, values: Mapping[str, object]) -> None:
        statement = composed(name, **self._parts)
        changed(self._session, statement, values)

    def _ask(self, name: str, values: Mapping[str, object]) -> list[Row]:
        return execute(self._session, composed(name, **self._parts), values)


def _pads(before: Registered | None, table: CapturedTable) -> bool:
    """Whether an ALTER filled values up with blanks, which no trigger of rows sees."""
    if before is None:
        return False
    kinds = {column.name: (column.type, column.length) for column in before.recorded.table.columns}
    return any(
        column.type in _PADDED and kinds.get(column.name, (column.type, column.length)) != (column.type, column.length)
        for column in table.columns
    )


def is_as_wanted(one: Registered, table: CapturedTable, settings: Watch, resources: OracleResources) -> bool:
    """Whether a table is watched as it is and as it is wanted."""
    trigger = settings.trigger or resources.capture(table.relation)
    now = (one.recorded.table, one.actions, one.trigger, one.debug, one.old_images, one.is_up_to_date)
    return now == (table, registry.actions(settings), trigger, settings.debug, settings.old_images, True)
