"""The temporary tables that changes are staged in, one for each table of the slave and layout of the master."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.relations import DeferrableKey, TargetColumn
from sluice.vendors.postgresql.ddl.compatibility import fitting
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.write import lookup_columns, side_effects

# A table has 1,600 columns at most, and a stage has up to two of its own. Source: PostgreSQL manual, "Limits".
_MOST_STAGED = 1_598


@dataclass(frozen=True)
class StagedTable:
    """A slave's table, as the columns of one layout are written to it.

    Attributes:
        columns: the slave's own, in the order of the layout's.
        key: places of the key's columns among them; none if the master's table has no key.
        searched: places of the columns that rows are looked up by instead, if the configuration says so.
        written: places of those that the slave does not compute itself.
        updated: there are columns that an UPDATE can set.
        numbered: there are columns that it cannot: identities that are GENERATED ALWAYS.
        unchecked: a unique constraint is deferrable on either side. A session that silences triggers silences the
            check of such a constraint with them, so nothing would tell that a key is there already.
        late: names of such constraints of the slave, and when a staged row and one of the table are alike by them.
        enforced: an index lets no two rows bear one key, and says so at once.
        by_row: changes can be written one by one: no key is checked late.
        acting: triggers or rules of the slave are to see each of them, or no stage has room for the columns.
        ruled: there are such rules.
        coded: writing a row may run code of others, which may set anything in the session.
    """

    name: TableName
    stage: str
    columns: tuple[TargetColumn, ...]
    key: tuple[int, ...]
    searched: tuple[int, ...]
    written: tuple[int, ...]
    updated: bool
    numbered: bool
    unchecked: bool
    late: tuple[tuple[str, sql.Composable], ...]
    enforced: bool
    by_row: bool
    acting: bool
    ruled: bool
    coded: bool
    parts: Mapping[str, sql.Composable]

    def named(self, staged: str) -> str:
        """What the slave calls a column of the stage."""
        return self.columns[int(staged[1:])].name if staged[1:].isdecimal() else staged


class Stages:
    """The stages of one session.

    Attributes:
        coded: one of its tables is, or was: what was prepared in this session may be something else by now.
    """

    def __init__(self, connection: Connection, mapper: Mapper) -> None:
        self._connection = connection
        self._names = names_of(connection, mapper)
        self._targets: dict[Layout, StagedTable] = {}
        self._shapes: dict[TableName, tuple[str, bool]] = {}
        self._made = 0
        self.coded = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction of the session; if it is rolled back, so are the stages that were made in it."""
        targets, shapes = dict(self._targets), dict(self._shapes)
        try:
            with self._connection.transaction():
                yield
        except BaseException:
            self._targets, self._shapes = targets, shapes
            raise

    def lock(self, names: Collection[TableName]) -> None:
        """Lock tables against DDL until the transaction ends, and forget the stages of those altered since.

        Raises:
            SluiceError: SLC-070 if one is gone.
        """
        known = sorted(self._shapes.keys() & names)
        if not known:
            return
        self._lock(known)
        for name, shape in self._shaped(known).items():
            if shape != self._shapes[name]:
                del self._shapes[name]
                for key in [key for key in self._targets if key.name == name]:
                    stage = self._targets.pop(key).stage
                    dropped = sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier("pg_temp", stage))
                    self._connection.execute(dropped)

    def target(self, layout: Layout) -> StagedTable:
        """The stage for rows of a layout as the slave sees it, on their way to its table.

        Raises:
            SluiceError: SLC-070 if the table is missing, SLC-073 if columns are, if one cannot hold a value,
                SLC-074 or SLC-372 if something acts on its rows that may not.
        """
        if layout not in self._targets:
            self._made += 1
            self._targets[layout] = self._create(layout, f"sluice_stage_{self._made}")
        return self._targets[layout]

    def _create(self, layout: Layout, stage: str) -> StagedTable:
        name = layout.name
        if not relations.columns(self._connection, name):
            raise missing(f"the slave has no table {name}")
        self._lock([name])
        self._shapes |= self._shaped([name])
        self.coded |= self._shapes[name][1]
        fitting(self._connection, layout, self._names)
        acting = relations.side_effects(self._connection, name)
        side_effects.refuse(self._connection, {name: acting}, silent=side_effects.is_silent(self._connection))
        existing = relations.target_columns(self._connection, name)
        columns = tuple(existing[column.name] for column in layout.columns)
        written = tuple(index for index, column in enumerate(columns) if not column.generated)
        beside = [index for index in written if index not in layout.key]
        parts = {
            "table": sql.Identifier(name.schema, name.table),
            "rows": relations.rows_of(self._connection, name),
            "stage": sql.Identifier(stage),
            **_columns(columns, written, layout.key),
        }
        too_wide = len(written) > _MOST_STAGED
        if not too_wide:
            kind = "stage" if layout.key else "stage_counted"
            self._connection.execute(composed(f"write/{kind}", **parts))
        late = relations.deferrable_keys(self._connection, name)
        unchecked = layout.deferrable or bool(late)
        firing = {one.kind for one in acting if one.fires}
        searched, warnings = lookup_columns.searched(self._connection, layout)
        for warning in warnings:
            event("searchable", warning=warning)
        return StagedTable(
            name,
            stage,
            columns,
            layout.key,
            searched,
            written,
            updated=any(not columns[index].numbered for index in beside),
            numbered=any(columns[index].numbered for index in beside),
            unchecked=unchecked,
            late=tuple(_late(late, columns, written, layout.key_names)),
            enforced=relations.enforced(self._connection, name, layout.key_names),
            by_row=not unchecked,
            acting=too_wide or (not unchecked and not firing.isdisjoint({"trigger", "rule"})),
            ruled="rule" in firing,
            coded=self._shapes[name][1],
            parts=parts,
        )

    def _lock(self, names: Sequence[TableName]) -> None:
        try:
            self._connection.execute(side_effects.lock(names))
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            raise missing(f"a table of the slave is gone: {error.diag.message_primary}") from None

    def _shaped(self, names: Sequence[TableName]) -> dict[TableName, tuple[str, bool]]:
        shapes = composed("write/shape", harmless=composed("catalog/harmless"))
        rows = self._connection.execute(shapes, relations.among(names))
        return {TableName(schema, table): (shape, coded) for schema, table, shape, coded in rows}


def _late(
    keys: Sequence[DeferrableKey], columns: Sequence[TargetColumn], written: Sequence[int], key: Sequence[str]
) -> Iterator[tuple[str, sql.Composable]]:
    """Deferrable keys that writes may violate: not those on unwritten columns, nor those implied by the primary key."""
    staged = {columns[index].name: sql.Identifier("stage", f"c{index}") for index in written}
    for one in keys:
        names = [name for name, _ in one.columns if name in staged]
        if len(names) == len(one.columns) and not (key and set(key) <= set(names)):
            alike = (
                operator.between(sql.Identifier("target", name), staged[name]) for name, operator in one.columns if name
            )
            yield one.name, sql.SQL(" AND ").join(alike)


def missing(fact: str) -> SluiceError:
    """Why a table cannot be written to."""
    return SluiceError(70, fact, "create it there and fill it, or let initial_update make it; nothing is lost")


def _columns(columns: Sequence[TargetColumn], written: Sequence[int], key: Sequence[int]) -> dict[str, sql.Composable]:
    """Lists of columns for the statements. Columns of the stage are named by index: a user's column may have any name,
    and its domain may forbid NULL, which is the value of columns that are not needed.
    """
    staged = {index: sql.Identifier(f"c{index}") for index in written}
    # A key stays as it is where it is matched by itself.
    beside = [index for index in written if index not in key]
    others = [index for index in beside if not columns[index].numbered]
    numbers = [index for index in beside if columns[index].numbered]

    def qualified(alias: str, indices: Sequence[int]) -> sql.Composable:
        names = staged if alias == "stage" else {index: sql.Identifier(columns[index].name) for index in indices}
        return sql.SQL(", ").join(sql.SQL("{}.{}").format(sql.Identifier(alias), names[index]) for index in indices)

    def named(indices: Sequence[int]) -> sql.Composable:
        return sql.SQL(", ").join(sql.Identifier(columns[index].name) for index in indices)

    def same(index: int) -> sql.Composable:
        target, stage = sql.Identifier("target", columns[index].name), sql.SQL("stage.{}").format(staged[index])
        return columns[index].equality.between(target, stage)

    return {
        "columns": named(written),
        "staged": sql.SQL(", ").join(
            sql.SQL("{}::{} AS {}").format(sql.Identifier(columns[index].name), sql.SQL(columns[index].type), name)
            for index, name in staged.items()
        ),
        "values": qualified("stage", written),
        "targets": qualified("target", written),
        "others": named(others),
        "other_values": qualified("stage", others),
        "numbers": qualified("target", numbers),
        "stage_numbers": qualified("stage", numbers),
        "same_key": sql.SQL(" AND ").join(map(same, key)),
    }
