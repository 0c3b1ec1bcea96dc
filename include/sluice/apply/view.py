"""What a slave sees of each table: the columns that it gets, under its names. Before effects are netted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapper import Mapper
from sluice.model.action import ROWS, Action
from sluice.model.layout import Layout

_ROWS = pa.array(sorted(ROWS), pa.string())


@dataclass(frozen=True)
class TableView:
    """One layout of the master, as one slave sees it.

    Attributes:
        master: the layout.
        layout: the same under the slave's names, with the columns that it gets; types are written as the master does.
        picked: which of the master's columns these are, by their places.
        applied: which changes of its rows reach the slave.
    """

    master: Layout
    layout: Layout
    picked: tuple[int, ...]
    applied: frozenset[Action] = ROWS

    @property
    def plain(self) -> bool:
        """Whether changes of rows go as they are, whatever their columns are called."""
        return self.applied == ROWS and len(self.picked) == len(self.master.columns)

    @property
    def ours(self) -> Layout:
        """What the slave gets of it, under the master's names; column by column beside `layout`."""
        return replace(
            self.master, columns=tuple(self.master.columns[place] for place in self.picked), key=self.layout.key
        )

    @property
    def copied(self) -> dict[str, str]:
        """The columns that it gets and does not compute: the master's names, and what each is called on the slave."""
        pairs = zip(self.ours.columns, self.layout.columns, strict=True)
        return {ours.name: theirs.name for ours, theirs in pairs if not ours.generated}

    def seen(self, changes: pa.Table) -> pa.Table:
        """Changes of rows under the master's layout, as this slave sees them. Columns as in `CHANGES`, in and out."""
        if self.plain:
            return changes
        for side in ("new", "old"):
            place = changes.schema.get_field_index(side)
            chunks = [_picked(chunk, self.picked, len(self.master.columns)) for chunk in changes[side].chunks]
            rows = pa.chunked_array(chunks, changes.schema.field(place).type)
            changes = changes.set_column(place, changes.schema.field(place), rows)
        return changes


def view(mapper: Mapper, layout: Layout) -> TableView:
    """What a slave sees of a layout. Without one of its key's columns the table has no key there.

    Raises:
        ConfigError: SLC-007, two columns would be called alike, or none is left.
    """
    names = mapper.columns(layout.name, (column.name for column in layout.columns))
    picked = tuple(place for place, column in enumerate(layout.columns) if column.name in names)
    columns = tuple(replace(layout.columns[place], name=names[layout.columns[place].name]) for place in picked)
    whole = all(place in picked for place in layout.key)
    key = tuple(picked.index(place) for place in layout.key) if whole else ()
    there = replace(layout, name=mapper.table(layout.name), columns=columns, key=key)
    return TableView(layout, there, picked, _applied(mapper.entry(layout.name).actions))


def seen(changes: pa.Table, views: Mapping[int, TableView]) -> pa.Table:
    """A batch as a slave sees it, given its view of each layout in it; as it is, where all of them are plain."""
    numbers = [number for number, one in views.items() if not one.plain]
    if not numbers:
        return changes
    of_rows = pc.is_in(changes["action"], value_set=_ROWS)
    bent = pc.and_(of_rows, pc.is_in(changes["layout"], value_set=pa.array(numbers, pa.int64())))
    parts = [changes.filter(pc.invert(bent))]
    for number in numbers:
        own = changes.filter(pc.and_(of_rows, pc.equal(changes["layout"], number)))
        own = views[number].seen(own)
        parts.append(own.filter(pc.is_in(own["action"], pa.array(sorted(views[number].applied), pa.string()))))
    together = pa.concat_tables(parts)
    # Stable: what a view makes of one change stays in its order.
    order = np.lexsort((together["repl_key"].to_numpy(), together["ordinal"].to_numpy()))
    return together.take(pa.array(order))


def _applied(letters: str) -> frozenset[Action]:
    """The changes that the configuration means; a TRUNCATE is as many deletes."""
    actions = frozenset(Action(letter) for letter in "IUD" if letter in letters)
    return actions | {Action.TRUNCATE} if Action.DELETE in actions else actions


def _picked(rows: pa.ListArray, places: Sequence[int], width: int) -> pa.ListArray:
    """The rows with these of their values; no row stays none."""
    there = rows.is_valid().to_numpy(zero_copy_only=False)
    starts = np.arange(np.count_nonzero(there)) * width
    values = rows.flatten().take(pa.array((starts[:, None] + np.array(places)).ravel()))
    offsets = np.concatenate(([0], np.cumsum(there))) * len(places)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(~there))
