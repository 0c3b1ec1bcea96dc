"""An ALTER of a slave's table: statement by statement, each of which commits, and as the catalog shows the table then.

The server takes few changes in one statement: a column that goes goes alone (ORA-12987), and so does a rename. So an
ALTER is a row of states. A job that finds the table in one of them goes on from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sluice.model.logical_type import Kind, logical_type
from sluice.model.names import TableName
from sluice.vendors.committed_ddl import State, key_of
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable, names_of
from sluice.vendors.oracle.ddl.defaults import default_of
from sluice.vendors.oracle.names import composed, literal, qualified, quoted
from sluice.vendors.oracle.slave_columns import CLOB, Form, Stored
from sluice.vendors.oracle.slave_refusals import not_altered
from sluice.vendors.planned_ddl import Altered, Rows, Step
from sluice.vendors.protocol.ddl_errors import unknown_values

_NULL, _NOT_NULL = "Y", "N"
# Of a column whose new name another one still has.
_ON_THE_WAY = "SLUICE_ON_THE_WAY"
_LONG = ("CLOB", "BLOB")
_VARYING = {"", "character varying"}

# What is known of a column but its name: its type, whether it may be NULL, and its place in the primary key. A column
# of the key that has no NOT NULL of its own may be NULL in this sense.
Known = tuple[str, str, str | None]


def described(columns: Iterable[Stored], key: Sequence[str]) -> Rows:
    """Columns of a table that is made so, in the catalog's words."""
    return sorted(
        [
            one.column.name,
            one.type,
            _NOT_NULL if one.column.not_null else _NULL,
            str(key.index(one.column.name) + 1) if one.column.name in key else None,
        ]
        for one in columns
    )


class Alteration:
    """One table on its way from one definition to another.

    Raises:
        SluiceError: SLC-140, rows would have values that nobody knows; Oracle cannot do it; SLC-431, a column
            cannot hold the value that rows are to have in it.
    """

    def __init__(self, altered: Altered, before: SlaveTable, after: SlaveTable) -> None:
        self._altered = altered
        self._before, self._after = before, after
        self._old, self._new = altered.was.name, altered.becomes.name
        self._is_called = self._old
        self._there: dict[str, Known] = {
            str(name): (str(kind), str(nullable), place) for name, kind, nullable, place in altered.rows
        }
        self._filled = {one.column.name: one.text for one in altered.filled}
        # Columns that take the place of others with their values, and those.
        self._converted: dict[str | None, str] = {}
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        """All of it, in its order."""
        twins = self._twins()
        becomes = {
            one.column.name: self._known(one, twin) for one, twin in zip(self._after.columns, twins, strict=True)
        }
        key_stays = self._key_stays()
        new = [one for one, twin in zip(self._after.columns, twins, strict=True) if twin is None]
        gone = [name for name in self._there if name not in twins]
        if not key_stays and self._before.key:
            self._without_key()
        if len(gone) == len(self._there) and not self._converted:
            # A table is never without columns.
            if both := sorted({one.column.name for one in new} & {*gone}):
                raise not_altered(self._old, f"no column of it stays, and {', '.join(both)} comes again")
            self._add(new, becomes)
            new = []
        self._add_converted()
        self._set_unused(gone)
        self._rename({twin: one.column.name for one, twin in zip(self._after.columns, twins, strict=True) if twin})
        self._modify(becomes)
        self._add(new, becomes)
        if not key_stays and self._after.key:
            self._with_key()
        if self._old != self._new:
            self._is_called = self._new
            renamed = composed("ddl/rename", table=qualified(self._old), becomes=quoted(self._new.table))
            self._step(renamed)
        return self._steps

    def _twins(self) -> list[str | None]:
        """For each column of `after` the name that it has; None if it is made anew, as where no row has a value."""
        found: list[str | None] = []
        for one, twin in zip(self._after.columns, self._altered.twins, strict=True):
            known = None if twin is None else self._stays_as(one, twin)
            if twin is None:
                self._expect_value(one)
            elif known != self._there[twin][0]:
                twin = self._changed(one, twin, known)
            found.append(twin)
        return found

    def _changed(self, one: Stored, twin: str, becomes: object) -> str | None:
        """The column that becomes one of another type, which may be one that takes its place."""
        if self._altered.has_rows and self._becomes_text(one, twin):
            place = self._free_name(self._converted)
            self._converted[place] = twin
            return place
        self._expect_changeable(one, twin)
        return None if becomes in _LONG or self._there[twin][0] in _LONG else twin

    def _becomes_text(self, one: Stored, twin: str) -> bool:
        """Whether it is a text of any length from here on, and was a shorter one."""
        was, becomes = (logical_type(side.column.type) for side in (self._was(twin), one))
        varying = was.kind is becomes.kind is Kind.TEXT and was.native in _VARYING
        return varying and one.type == CLOB and self._was(twin).holds_as(self._there[twin][0])

    def _expect_value(self, one: Stored) -> None:
        if self._altered.has_rows and one.column.not_null and one.column.name not in self._filled:
            why = f"{one.column.name} is new and NOT NULL, and the command says no value for it"
            raise unknown_values(self._old, why)

    def _expect_changeable(self, one: Stored, twin: str) -> None:
        kind = self._there[twin][0]
        form = Form.LONG_TEXT if self._is_as_text(twin) else self._was(twin).form
        if self._altered.has_rows and not one.widens(kind, form):
            why = f"{one.column.name} was a {kind}, and becomes a {one.type}, which no column with values does there"
            raise not_altered(self._old, why)

    def _known(self, one: Stored, twin: str | None) -> Known:
        """A column after it, in the catalog's words. It stays as somebody made it, where it takes every value."""
        wanted = _NOT_NULL if one.column.not_null else _NULL
        if twin is None:
            return one.type, wanted, None
        origin = self._converted.get(twin, twin)
        held = self._there[origin][1]
        by_key = one.column.name in self._after.key
        looser = (held, wanted) == (_NULL, _NOT_NULL) and self._was(origin).column.not_null
        kind = one.type if twin in self._converted else self._stays_as(one, twin)
        return kind, held if by_key or looser else wanted, None

    def _stays_as(self, one: Stored, twin: str) -> str:
        """The type that a column has after it."""
        kind = self._there[twin][0]
        if self._is_as_text(twin):
            # No index takes a large object.
            return one.type if one.column.name in self._after.key else kind
        return kind if self._was(twin).type == one.type or one.holds_as(kind) else one.type

    def _is_as_text(self, twin: str) -> bool:
        """Whether somebody made a column so that it takes every value as its text."""
        return self._there[twin][0] == CLOB and self._was(twin).type != CLOB

    def _was(self, twin: str) -> Stored:
        return next(one for one in self._before.columns if one.column.name == twin)

    def _key_stays(self) -> bool:
        stays = {twin: one.column.name for one, twin in zip(self._after.columns, self._altered.twins, strict=True)}
        return [stays.get(one) for one in self._before.key] == [*self._after.key]

    def _without_key(self) -> None:
        self._there = {name: (kind, nullable, None) for name, (kind, nullable, _) in self._there.items()}
        self._step(composed("ddl/drop_key", table=self._table))

    def _with_key(self) -> None:
        for number, name in enumerate(self._after.key):
            kind, nullable, _ = self._there[name]
            self._there[name] = kind, nullable, str(number + 1)
        self._step(composed("ddl/add_key", table=self._table, columns=names_of(self._after.key)))

    def _add_converted(self) -> None:
        if self._converted:
            for place in self._converted:
                self._there[str(place)] = CLOB, _NULL, None
            added = ", ".join(f"{quoted(str(place))} {CLOB} NULL" for place in self._converted)
            self._step(composed("ddl/add", table=self._table, columns=added))

    def _set_unused(self, gone: Sequence[str]) -> None:
        if not gone:
            return
        for name in gone:
            del self._there[name]
        statement = composed("ddl/set_unused", table=self._table, columns=names_of(gone))
        if self._converted:
            assigned = ", ".join(f"{quoted(str(place))} = {quoted(name)}" for place, name in self._converted.items())
            filled = {"table": self._table, "assigned": assigned, "statement": literal(statement)}
            statement = composed("ddl/convert", **filled)
        self._step(statement)

    def _rename(self, names: Mapping[str, str]) -> None:
        """Let columns bear other names; one whose name another one has yet waits."""
        waiting = {twin: name for twin, name in names.items() if twin != name}
        while waiting:
            free = [twin for twin, name in waiting.items() if name not in self._there]
            if free:
                self._rename_one(free[0], waiting.pop(free[0]))
            else:
                # They have each other's names.
                twin = next(iter(waiting))
                waiting[self._rename_one(twin, self._free_name())] = waiting.pop(twin)

    def _free_name(self, others: Collection[str | None] = ()) -> str:
        taken = {*self._there, *self._after.names, *others}
        return next(name for number in range(len(taken) + 1) if (name := f"{_ON_THE_WAY}_{number}") not in taken)

    def _rename_one(self, name: str, becomes: str) -> str:
        self._there[becomes] = self._there.pop(name)
        renaming = composed("ddl/rename_column", table=self._table, column=quoted(name), becomes=quoted(becomes))
        self._step(renaming)
        return becomes

    def _modify(self, becomes: Mapping[str, Known]) -> None:
        parts = []
        for name, (kind, nullable, place) in self._there.items():
            wanted, may_be_null, _ = becomes[name]
            part = "" if kind == wanted else f" {wanted}"
            if nullable != may_be_null:
                part += " NULL" if may_be_null == _NULL else " NOT NULL"
            if part:
                parts.append(f"{quoted(name)}{part}")
                self._there[name] = wanted, may_be_null, place
        if parts:
            self._step(composed("ddl/modify", table=self._table, columns=", ".join(parts)))

    def _add(self, new: Sequence[Stored], becomes: Mapping[str, Known]) -> None:
        parts = []
        for one in new:
            name = one.column.name
            kind, nullable, _ = self._there[name] = becomes[name]
            filled = self._filled.get(name)
            default = "" if filled is None else f" DEFAULT {default_of(self._new, one, filled)}"
            parts.append(f"{quoted(name)} {kind}{default} {'NULL' if nullable == _NULL else 'NOT NULL'}")
        if parts:
            self._step(composed("ddl/add", table=self._table, columns=", ".join(parts)))

    @property
    def _table(self) -> str:
        return qualified(self._is_called)

    def _step(self, statement: str) -> None:
        self._steps.append(Step(statement, self._state()))

    def _state(self) -> State:
        rows: Rows = sorted([name, *known] for name, known in self._there.items())
        others: State = {key_of(one): None for one in (self._old, self._new) if one != self._is_called}
        return {**others, key_of(self._is_called): rows}


def without_defaults(table: TableName, columns: Iterable[str]) -> tuple[str, ...]:
    """What takes the defaults away that columns were added with."""
    parts = ", ".join(f"{quoted(name)} DEFAULT NULL" for name in columns)
    return (composed("ddl/modify", table=qualified(table), columns=parts),) if parts else ()
