"""Keeping every change: what happened to a row, when in the stream, and its values before and after.

Epoch, ordinal and key together are the order: an epoch is a run of a drain, or an initial update, whose rows bear the
ordinal 0 and stand behind a TRUNCATE, since they replace what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sluice.apply.net.effects import Effect
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.parquet.ddl.schema_change import Alteration, Moment
from sluice.vendors.parquet.types import schema_of
from sluice.vendors.parquet.versions import Table
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.rows_mode import images

_ORDER = [("sluice_epoch", pa.int64()), ("sluice_ordinal", pa.int64()), ("sluice_key", pa.int64())]
_WHAT = [*_ORDER, ("sluice_transaction", pa.string()), ("sluice_action", pa.string())]
_OLD = "sluice_old"
# A row of an initial update; it comes after the TRUNCATE that begins it.
LOADED = "L"


class HistoryMode:
    """See `sluice.vendors.parquet.write.mode.WriteMode`."""

    name = "history"
    lasting = True

    def fitting(self, known: Table | None, layout: Layout) -> Table:
        """Any table takes any columns from here on; a new one begins here."""
        return replace(known, columns=layout.columns) if known else Table(layout.name, layout.columns)

    def forget(self, files: TableFiles) -> None:
        """They stay: a TRUNCATE follows."""

    def alter(self, alteration: Alteration, files: TableFiles) -> None:
        """Nothing to do: earlier rows of the history keep their columns."""

    def begun_anew(self, known: Table, made: Table, files: TableFiles, moment: Moment) -> Table:
        """Earlier rows stay and are followed by a TRUNCATE; none of their columns continues."""
        files.append(_truncated(moment, made))
        altered = (*known.altered, Alteration(moment, made.kept, {}, {}))
        return replace(known, columns=made.columns, altered=altered)

    def left(self, known: Table, moment: Moment) -> Table | None:
        """All that happened to it, under a name that tells when it ended."""
        schema, table = known.name.schema, known.name.table
        return replace(known, name=TableName(schema, f"{table}~dropped-{'-'.join(map(str, moment))}"))

    def apply(self, effect: Effect, files: TableFiles) -> int:
        """Append the changes, each as it was."""
        for changes in effect.changes():
            what = [
                pa.repeat(pa.scalar(files.epoch, pa.int64()), len(changes)),
                *(changes[name].combine_chunks() for name in ("ordinal", "repl_key", "trans_key", "action")),
            ]
            new, old = (_side(effect.layout, changes[side]) for side in ("new", "old"))
            missing = pc.is_null(changes["old"]).combine_chunks()
            before = pa.StructArray.from_arrays(_arrays(old), fields=list(old.schema), mask=missing)
            files.append(_with(what, new, before))
        return 0

    def schema(self, columns: Sequence[Column]) -> pa.Schema:
        """The columns of the action, of the new row and of the old row."""
        row = schema_of(columns)
        return pa.schema([*_WHAT, *row, (_OLD, pa.struct(list(row)))])

    def loaded(self, rows: pa.Table, epoch: int) -> pa.Table:
        """Rows that came from nowhere."""
        return _without_old((epoch, 0, 1, None, LOADED), rows)

    def begun(self, before: Table | None, filled: Table, files: TableFiles) -> Table:
        """Earlier rows stay and are followed by a TRUNCATE."""
        files.append(_truncated((files.epoch, 0, 0), filled))
        return replace(filled, files=(*(before.files if before else ()), *files.listed, *filled.files))

    def rows(self, files: TableFiles, table: Table) -> Iterator[tuple[pa.Table, int]]:
        """New rows come and old ones go, after the last TRUNCATE. What goes had come before, so no order is needed."""
        order = [name for name, _ in _ORDER]
        row = schema_of(table.kept)
        emptied = (
            tuple(moment.values())
            for rows in files.read([*order, "sluice_action"])
            for moment in rows.filter(pc.equal(rows["sluice_action"], "T")).select(order).to_pylist()
        )
        last = max(emptied, default=(0, 0, 0))
        for rows in files.read():
            rows = rows.filter(pa.array(_after(rows.select(order), last)))
            for some, since in _by_time(rows, table.altered):
                comes = some.filter(pc.is_in(some["sluice_action"], pa.array(["I", "U", LOADED])))
                olds = pc.drop_null(some[_OLD]).combine_chunks()
                for sign, side in ((1, comes), (-1, pa.Table.from_struct_array(olds))):
                    for part in _altered(side, since):
                        yield _under(row, part), sign


def _by_time(rows: pa.Table, altered: Sequence[Alteration]) -> Iterator[tuple[pa.Table, Sequence[Alteration]]]:
    """Rows, with the ALTERs that came after them."""
    for index, one in enumerate(altered):
        epoch, ordinal, key = one.moment
        later = _after(rows.select([name for name, _ in _ORDER]), (epoch, ordinal, key - 1))
        yield rows.filter(pa.array(~later)), altered[index:]
        rows = rows.filter(pa.array(later))
    yield rows, ()


def _altered(rows: pa.Table, since: Sequence[Alteration]) -> Iterable[pa.Table]:
    parts: Iterable[pa.Table] = [rows]
    for one in since:
        parts = chain.from_iterable(map(one.apply, parts))
    return parts


def _under(row: pa.Schema, rows: pa.Table) -> pa.Table:
    """Rows of an earlier layout: a column that was added later is NULL in them."""
    known = set(rows.column_names)
    columns = [rows[one.name] if one.name in known else pa.nulls(len(rows), one.type) for one in row]
    return pa.Table.from_arrays(columns, names=row.names)


def _side(layout: Layout, rows: pa.ChunkedArray) -> pa.Table:
    """The images of one side, with a row of nothing where there is none."""
    present = np.flatnonzero(pc.is_valid(rows).to_numpy())
    found = images(layout, rows, present.tolist())
    indices = np.full(len(rows), -1)
    indices[present] = np.arange(len(present))
    return found.take(pa.array(indices, mask=indices < 0))


def _with(what: Sequence[pa.Array], new: pa.Table, old: pa.Array) -> pa.Table:
    names = [*(name for name, _ in _WHAT), *new.column_names, _OLD]
    return pa.Table.from_arrays([*what, *new.columns, old], names=names)


def _without_old(what: tuple[object, ...], rows: pa.Table) -> pa.Table:
    """Rows of the history with constant columns and without old rows."""
    columns = [pa.array([value] * len(rows), kind) for value, (_, kind) in zip(what, _WHAT, strict=True)]
    return _with(columns, rows, pa.nulls(len(rows), pa.struct(list(rows.schema))))


def _truncated(moment: Moment, table: Table) -> pa.Table:
    row = schema_of(table.kept)
    nothing = pa.Table.from_arrays([pa.nulls(1, one.type) for one in row], schema=row)
    return _without_old((*moment, None, "T"), nothing)


def _arrays(rows: pa.Table) -> list[pa.Array]:
    return [column.combine_chunks() for column in rows.columns]


def _after(order: pa.Table, last: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask of the rows after a moment."""
    epochs, ordinals, keys = (column.to_numpy() for column in order.columns)
    epoch, ordinal, key = last
    later = (ordinals > ordinal) | ((ordinals == ordinal) & (keys > key))
    return np.asarray((epochs > epoch) | ((epochs == epoch) & later), np.bool_)
