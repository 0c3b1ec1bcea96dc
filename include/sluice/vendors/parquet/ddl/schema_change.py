"""An ALTER that was carried out on a table in files, and what it makes of rows that were there before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from sluice.model.layout import Column
from sluice.vendors.parquet.directory import GROUP_BYTES
from sluice.vendors.parquet.types import TEXT, TEXTS, kept_as, schema_of, texts, typed

Moment = tuple[int, int, int]


@dataclass(frozen=True)
class Alteration:
    """A change of the columns in a table's files.

    Attributes:
        moment: epoch, ordinal and key; what comes before it in a history has the columns of before.
        columns: the columns from here on.
        names: the old names of columns that existed before, by their new names.
        filled: the values of new columns in existing rows, as the master prints them; NULL if missing.
    """

    moment: Moment
    columns: tuple[Column, ...]
    names: Mapping[str, str]
    filled: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """As readers find it."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Alteration:
        """The value that `to_json` wrote."""
        epoch, ordinal, key = plain["moment"]
        columns = tuple(Column(**column) for column in plain["columns"])
        return cls((epoch, ordinal, key), columns, plain["names"], plain["filled"])

    def apply(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Rows that were there, with the columns that they have from here on, some at a time."""
        most = max(1, GROUP_BYTES // (1 + sum(map(len, self.filled.values()))))
        for begin in range(0, len(rows), most):
            yield self._apply(rows.slice(begin, most))

    def _apply(self, rows: pa.Table) -> pa.Table:
        old_names: dict[str, str] = {}
        anew: dict[Column, pa.Array] = {}
        for column in self.columns:
            name = self.names.get(column.name)
            if name is None or name not in rows.column_names:
                anew[column] = pa.repeat(pa.scalar(self.filled.get(column.name), pa.string()), len(rows))
            elif _alike(rows[name].type, kept_as(column.type)):
                old_names[column.name] = name
            else:
                anew[column] = texts(rows, name)
        made = typed(list(anew), list(anew.values())) if anew else rows.select([])
        values = [
            rows[old_names[one.name]].cast(kept_as(one.type)) if one.name in old_names else made[one.name]
            for one in self.columns
        ]
        beside = _beside(rows[TEXT], {name: new for new, name in old_names.items()}, made[TEXT] if anew else None)
        return pa.Table.from_arrays([*values, beside], schema=schema_of(self.columns))


def _alike(before: pa.DataType, after: pa.DataType) -> bool:
    """Whether what stands as a text in the one does so in the other."""
    return bool(before == after or (pa.types.is_decimal(before) and pa.types.is_decimal(after)))


def _beside(before: pa.ChunkedArray, names: Mapping[str, str], more: pa.ChunkedArray | None) -> pa.Array:
    """Values kept as texts, of columns that stay, under their new names, and of new ones."""
    sides = [before] if more is None else [before, more]
    if all(side.null_count == len(side) for side in sides):
        return before
    kept = [[(names[name], text) for name, text in row or () if name in names] for row in before.to_pylist()]
    others = more.to_pylist() if more is not None else [None] * len(kept)
    return pa.array([[*row, *(other or ())] or None for row, other in zip(kept, others, strict=True)], TEXTS)
