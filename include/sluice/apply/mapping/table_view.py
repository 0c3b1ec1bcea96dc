"""What a slave sees of each table: the columns that it gets, under its names. Before effects are netted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.change_filter import ChangeFilter, choice
from sluice.apply.transform.build import shaped
from sluice.apply.transform.transform import RowTransform, reshaped
from sluice.changelog.schema import are
from sluice.config.mapper import Mapper
from sluice.config.models import SlaveTable
from sluice.errors import SluiceError
from sluice.model.action import ROWS, Action
from sluice.model.layout import Layout
from sluice.model.stylesheet import Stylesheet
from sluice.values.copy_text import lines_of, rows_of_lines


@dataclass(frozen=True)
class TableView:
    """One layout of the master, as one slave sees it.

    Attributes:
        master: the layout.
        layout: the same under the slave's names, with the columns that it gets; types are written as the master does.
        picked: which of the master's columns these are, by their places, unless it is shaped.
        entry: what the configuration says of the table.
        style: the stylesheet that its messages pass.
    """

    master: Layout
    layout: Layout
    picked: tuple[int, ...]
    entry: SlaveTable
    style: Stylesheet | None = None

    @property
    def shaped(self) -> bool:
        """Whether something makes other rows, or other values, of the master's."""
        return self.entry.shapes or self.style is not None

    @property
    def plain(self) -> bool:
        """Whether changes of rows go as they are, whatever their columns are called."""
        return not (self.entry.chooses or self.shaped) and self._all_picked

    @property
    def ours(self) -> Layout:
        """What the slave gets of it, under the master's names; column by column beside `layout`."""
        return replace(
            self.master, columns=tuple(self.master.columns[place] for place in self.picked), key=self.layout.key
        )

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that are read of the master for it: those that it copies, or, to be shaped, all of them."""
        if self.shaped:
            return tuple(column.name for column in self.master.columns)
        return tuple(column.name for column in self.ours.columns if not column.generated)

    @property
    def of_shaped_rows(self) -> TableView:
        """The same view of rows that it has shaped already."""
        return replace(self, entry=SlaveTable(), style=None)

    @property
    def needing_old(self) -> list[str]:
        """What of it needs to know what a row was before an update that left its key as it was."""
        found = list(self.entry.looking_back)
        if self.style is not None:
            found.append("a stylesheet")
        if not self.layout.tells_by_key:
            found.append("that it has not the key there")
        return found

    def reads_like(self, other: TableView) -> bool:
        """Whether a slave that has the other view gets the same rows, whatever it calls their columns."""
        # Each shaped one by itself: its expressions and plugins may fail, and not stop another.
        return not (self.shaped or other.shaped) and self.read == other.read

    @property
    def written(self) -> tuple[str, ...]:
        """The columns that it does not compute itself."""
        return tuple(column.name for column in self.layout.columns if not column.generated)

    def shape(self, salt: bytes) -> RowTransform:
        """The shape of its rows, if it is shaped; hashes are made with the salt."""
        ours = (self.master.columns[place].name for place in self.picked)
        names = {name: self.entry.columns.get(name, name) for name in ours}
        return shaped(self.entry, self.style, self.master, names, salt)[1]

    def choice(self) -> ChangeFilter:
        """Which changes reach the slave, of those that it sees."""
        return choice(self.entry, replace(self.layout, name=self.master.name))

    @property
    def _all_picked(self) -> bool:
        return len(self.picked) == len(self.master.columns)

    def seen(self, changes: pa.Table) -> pa.Table:
        """Changes of rows under the master's layout, with the columns that are picked; as in `CHANGES`, in and out."""
        if self._all_picked:
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
        ConfigError: SLC-007, two columns would be called alike, or none is left; SLC-161, SLC-163, what is said of its
            rows or changes does not go with its columns.
    """
    names = mapper.columns(layout.name, (column.name for column in layout.columns))
    picked = tuple(place for place, column in enumerate(layout.columns) if column.name in names)
    columns = tuple(replace(layout.columns[place], name=names[layout.columns[place].name]) for place in picked)
    whole = all(place in picked for place in layout.key)
    key = tuple(picked.index(place) for place in layout.key) if whole else ()
    there = replace(layout, columns=columns, key=key)
    entry, style = mapper.entry(layout.name), mapper.style(layout.name)
    if entry.shapes or style:
        there, _ = shaped(entry, style, layout, names, b"")
    searched = tuple(sorted(names.get(column, column) for column in entry.searchable))
    there = replace(there, name=mapper.table(layout.name), searched=searched)
    found = TableView(layout, there, picked, entry, style)
    found.choice()
    return found


class BoundView:
    """A view with all that it takes to see by it, which is made once in a process.

    Args:
        lasting: the slave keeps what rows were before.

    Attributes:
        view: the view.
        needing_old: what needs the old image of every update.
    """

    def __init__(self, view: TableView, salt: bytes, *, lasting: bool = False) -> None:
        self.view = view
        self.needing_old = [*view.needing_old, *(["its history"] if lasting else [])]
        self._shape = view.shape(salt) if view.shaped else None
        self._choice = view.choice()

    def expect_old(self, why_not: str) -> None:
        """See that it needs no more of updates than what rows are after them.

        Args:
            why_not: why they say no more.

        Raises:
            SluiceError: SLC-226, it needs more.
        """
        if self.needing_old:
            raise SluiceError(
                226,
                f"the slave needs to know what rows of {self.view.master.name} were before they were updated, for "
                f"{', '.join(self.needing_old)}; {why_not}",
                "let the table have `old_images: full`, run the DAG bootstrap, then initial_update; or take that out "
                "of what the slave sees; nothing is lost",
            )

    def of(self, changes: pa.Table) -> pa.Table:
        """Changes of rows under the master's layout, as the slave sees them. Columns as in `CHANGES`, in and out."""
        return self._choice.of(reshaped(changes, self._shape.made) if self._shape else self.view.seen(changes))


def mapped_and_filtered(changes: pa.Table, sights: Mapping[int, BoundView]) -> pa.Table:
    """A batch as a slave sees it, given its sight of each layout in it; as it is, where all of them are plain.

    Raises:
        SluiceError: SLC-160, an expression cannot be evaluated for a row; SLC-162, a plugin, a stylesheet or a veto
            failed; SLC-226, an update has no old image, and the slave needs it.
    """
    _expect_old(changes, sights)
    numbers = [number for number, one in sights.items() if not one.view.plain]
    if not numbers:
        return changes
    of_rows = are(changes["action"], ROWS)
    bent = pc.and_(of_rows, pc.is_in(changes["layout"], value_set=pa.array(numbers, pa.int64())))
    parts = [changes.filter(pc.invert(bent))]
    for number in numbers:
        parts.append(sights[number].of(changes.filter(pc.and_(of_rows, pc.equal(changes["layout"], number)))))
    together = pa.concat_tables(parts)
    # Stable: what a view makes of one change stays in its order.
    order = np.lexsort((together["repl_key"].to_numpy(), together["ordinal"].to_numpy()))
    return together if np.array_equal(order, np.arange(len(order))) else together.take(pa.array(order))


def _expect_old(changes: pa.Table, sights: Mapping[int, BoundView]) -> None:
    needing = pa.array([number for number, one in sights.items() if one.needing_old], pa.int64())
    lacking = pc.and_(pc.equal(changes["action"], Action.UPDATE), changes["old"].is_null())
    place = pc.index(pc.and_(lacking, pc.is_in(changes["layout"], value_set=needing)), True).as_py()
    if place >= 0:
        one = sights[changes["layout"][place].as_py()]
        one.expect_old(f"the change {changes['repl_key'][place]} does not say it")


def _picked(rows: pa.ListArray, places: Sequence[int], width: int) -> pa.ListArray:
    """The rows with these of their values; no row stays none."""
    there = rows.is_valid().to_numpy(zero_copy_only=False)
    starts = np.arange(np.count_nonzero(there)) * width
    values = rows.flatten().take(pa.array((starts[:, None] + np.array(places)).ravel()))
    offsets = np.concatenate(([0], np.cumsum(there))) * len(places)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(~there))


def shaped_lines(view: TableView, shape: RowTransform, buffer: bytes, columns: Collection[str]) -> tuple[bytes, int]:
    """Lines of COPY with the columns that are read -> lines with these of the slave's columns, and how many."""
    made = shape.made(rows_of_lines(buffer, len(view.read)))
    places = [place for place, column in enumerate(view.layout.columns) if column.name in columns]
    return lines_of([pc.list_element(made.rows, place) for place in places]), len(made.rows)
