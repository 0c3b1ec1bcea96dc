"""Keeping the master's rows as they are: what became of each key, or of rows that look alike, in a table's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa

from sluice.apply.net.effects import Effect
from sluice.apply.net.net_effect import CountedNet, KeyedNet, cells
from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.parquet.ddl.schema_change import Alteration, Moment
from sluice.vendors.parquet.types import schema_of, tokens, typed
from sluice.vendors.parquet.versions import Table
from sluice.vendors.parquet.write.data_files import TableFiles


class RowsMode:
    """See `sluice.vendors.parquet.write.mode.WriteMode`."""

    name = "rows"
    lasting = False

    def fitting(self, known: Table | None, layout: Layout) -> Table | None:
        """The table as it is known, if its files have the columns of the layout."""
        if known is not None:
            _refuse_others(known, layout)
        return known

    def forget(self, files: TableFiles) -> None:
        """They are gone."""
        files.empty()

    def alter(self, alteration: Alteration, files: TableFiles) -> None:
        """Rewrite all rows, so that all files of the table have the same columns."""
        files.remake(schema_of(alteration.columns), alteration.apply)

    def begun_anew(self, known: Table, made: Table, files: TableFiles, moment: Moment) -> Table:
        """It is as it was made."""
        files.empty()
        return made

    def left(self, known: Table, moment: Moment) -> Table | None:
        """Nothing stays of a dropped table."""
        return None

    def apply(self, effect: Effect, files: TableFiles) -> int:
        """Write the net effect."""
        if effect.is_emptied:
            files.empty()
        missing = 0
        for net, changes in effect.nets():
            missing += _keyed(net, changes, files) if isinstance(net, KeyedNet) else _counted(net, files)
        return 0 if effect.is_emptied else missing

    def schema(self, columns: Sequence[Column]) -> pa.Schema:
        """The row alone."""
        return schema_of(columns)

    def loaded(self, rows: pa.Table, epoch: int) -> pa.Table:
        """The row alone."""
        return rows

    def begun(self, before: Table | None, filled: Table, files: TableFiles) -> Table:
        """Earlier rows are deleted."""
        return filled

    def rows(self, files: TableFiles, table: Table) -> Iterator[tuple[pa.Table, int]]:
        """The rows of every file."""
        return ((rows, 1) for rows in files.read())


def images(layout: Layout, rows: pa.ChunkedArray, indices: Sequence[int]) -> pa.Table:
    """The rows at these places, typed, without what the master computes by itself."""
    width = len(layout.columns)
    texts = cells(rows, indices, width, range(width))
    kept = [(column, values) for column, values in zip(layout.columns, texts, strict=True) if not column.generated]
    return typed([column for column, _ in kept], [values for _, values in kept])


def _keyed(net: KeyedNet, changes: pa.Table, files: TableFiles) -> int:
    key = [net.layout.columns[index].name for index in net.layout.key]
    new = images(net.layout, changes["new"], [*net.changed, *net.fresh])
    gone = images(net.layout, changes["old"], net.gone)
    found = files.remove_keys(pa.concat_tables([gone, new]), key) if files.listed else 0
    files.append(new)
    return net.known_gone + len(net.changed) - found


def _counted(net: CountedNet, files: TableFiles) -> int:
    """Count c of rows that look alike becomes max(c + a, b); only where b > a it matters what c was."""
    columns = net.layout.columns
    kept = [index for index, column in enumerate(columns) if not column.generated]
    names = [columns[index].name for index in kept]
    texts = [pa.array([image[index] for image, _, _ in net.effects], pa.string()) for index in kept]
    rows = typed([columns[index] for index in kept], texts)
    asking = [index for index, (_, a, b) in enumerate(net.effects) if b > a]
    found = files.count(rows.take(pa.array(asking, pa.int64())), names) if asking and files.listed else Counter[bytes]()
    coming, tolerated = list[int](), 0
    quota = Counter[bytes]()
    for index, (token, (_, a, b)) in enumerate(zip(tokens(rows, names).to_pylist(), net.effects, strict=True)):
        count = found[token]
        becomes = max(count + a, b)
        tolerated += becomes - (count + a)
        if becomes > count:
            coming += [index] * (becomes - count)
        elif becomes < count:
            quota[token] = count - becomes
    if quota:
        files.remove_rows(quota, names)
    files.append(rows.take(pa.array(coming, pa.int64())))
    return tolerated


def _refuse_others(known: Table, layout: Layout) -> None:
    new = [column for column in layout.columns if not column.generated]
    if schema_of(known.kept) != schema_of(new):
        raise unlike(known, new)


def unlike(known: Table, new: Sequence[Column]) -> SluiceError:
    """Why rows of these columns cannot stand in a table's files."""
    ours, theirs = _written(known.kept), _written(new)
    changed = ", ".join([*(f"without {one}" for one in sorted(ours - theirs)), *sorted(theirs - ours)])
    return not_followed(known.name, changed or "in another order")


def not_followed(table: TableName, what: str) -> SluiceError:
    """Why a table in files does not become what it is on the master."""
    return SluiceError(
        153,
        f"{table} has other columns on the master than in its files: {what}",
        "make the files anew by initial_update; what is there stays as it was until that has ended",
    )


def _written(columns: Sequence[Column]) -> set[str]:
    return {f"{column.name} {column.type}" for column in columns}
