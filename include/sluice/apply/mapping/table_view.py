"""The slave's view of a table: its columns under the slave's names. It is applied before effects are netted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.change_filter import ChangeFilter, choice
from sluice.apply.transform.build import build_transform
from sluice.apply.transform.transform import RowTransform, transform_changes
from sluice.changelog.schema import have_actions
from sluice.config.mapper import Mapper
from sluice.config.slave_table import SlaveTableSettings
from sluice.errors import SluiceError
from sluice.model.action import ROWS, Action
from sluice.model.layout import Layout
from sluice.model.stylesheet import Stylesheet
from sluice.values.copy_text import lines_of, rows_of_lines


@dataclass(frozen=True)
class TableView:
    """One layout of the master, as one slave sees it.

    Attributes:
        master: the master's layout.
        layout: the slave's names and columns; types are spelled as on the master.
        picked: indices of these columns among the master's, unless the view has a transform.
        entry: the table's configuration.
        style: the stylesheet that the slave's messages pass.
    """

    master: Layout
    layout: Layout
    picked: tuple[int, ...]
    entry: SlaveTableSettings
    style: Stylesheet | None = None

    @property
    def is_shaped(self) -> bool:
        """Whether the view has a transform, which changes rows or values."""
        return self.entry.shapes or self.style is not None

    @property
    def is_plain(self) -> bool:
        """Whether the images of changes stay as they are, apart from the names of columns."""
        return not (self.entry.chooses or self.is_shaped) and self._all_picked

    @property
    def ours(self) -> Layout:
        """The columns of `layout`, in the same order, under the master's names."""
        return replace(
            self.master, columns=tuple(self.master.columns[index] for index in self.picked), key=self.layout.key
        )

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns to read on the master: the copied ones, or all for a transform."""
        if self.is_shaped:
            return tuple(column.name for column in self.master.columns)
        return tuple(column.name for column in self.ours.columns if not column.generated)

    @property
    def computed_columns(self) -> dict[str, str]:
        """The slave's names of the columns that it computes as the master does, each with the master's name."""
        if self.is_shaped:
            return {}
        pairs = zip(self.layout.columns, self.ours.columns, strict=True)
        return {column.name: ours.name for column, ours in pairs if column.generated}

    @property
    def for_transformed_rows(self) -> TableView:
        """The same view without its transform, for rows that are transformed already."""
        return replace(self, entry=SlaveTableSettings(), style=None)

    @property
    def needing_old(self) -> list[str]:
        """The features of the view that need old images of all updates, in words."""
        features = list(self.entry.looking_back)
        if self.style is not None:
            features.append("a stylesheet")
        if not self.layout.tells_by_key:
            features.append("that it has not the key there")
        return features

    def reads_like(self, other: TableView) -> bool:
        """Whether a slave with the other view gets the same rows, apart from the names of columns."""
        # Each shaped one by itself: its expressions and plugins may fail, and not stop another.
        return not (self.is_shaped or other.is_shaped) and self.read_columns == other.read_columns

    @property
    def written_columns(self) -> tuple[str, ...]:
        """The columns of the slave that are not generated."""
        return tuple(column.name for column in self.layout.columns if not column.generated)

    def shape(self, salt: bytes) -> RowTransform:
        """The transform of its rows, if it has one; `salt` is the key of hashes."""
        ours = (self.master.columns[index].name for index in self.picked)
        names = {name: self.entry.columns.get(name, name) for name in ours}
        return build_transform(self.entry, self.style, self.master, names, salt)[1]

    def choice(self) -> ChangeFilter:
        """The filter of the slave's changes."""
        return choice(self.entry, replace(self.layout, name=self.master.name))

    @property
    def _all_picked(self) -> bool:
        return len(self.picked) == len(self.master.columns)

    def pick(self, changes: pa.Table) -> pa.Table:
        """Changes of rows under the master's layout, with the columns that are picked; as in `CHANGES`, in and out."""
        if self._all_picked:
            return changes
        for side in ("new", "old"):
            index = changes.schema.get_field_index(side)
            chunks = [_pick(chunk, self.picked, len(self.master.columns)) for chunk in changes[side].chunks]
            rows = pa.chunked_array(chunks, changes.schema.field(index).type)
            changes = changes.set_column(index, changes.schema.field(index), rows)
        return changes


def view(mapper: Mapper, layout: Layout) -> TableView:
    """The slave's view of a layout. If a column of the key is left out, the slave's table has no key.

    Raises:
        ConfigError: SLC-007, two columns would have one name, or none is left; SLC-161, SLC-007, an expression, a
            plugin or a stylesheet does not fit the columns.
    """
    names = mapper.columns(layout.name, (column.name for column in layout.columns))
    picked = tuple(index for index, column in enumerate(layout.columns) if column.name in names)
    columns = tuple(replace(layout.columns[index], name=names[layout.columns[index].name]) for index in picked)
    whole = all(index in picked for index in layout.key)
    key = tuple(picked.index(index) for index in layout.key) if whole else ()
    seen = replace(layout, columns=columns, key=key)
    entry, style = mapper.entry(layout.name), mapper.style(layout.name)
    if entry.shapes or style:
        seen, _ = build_transform(entry, style, layout, names, b"")
    searched = tuple(sorted(names.get(column, column) for column in entry.searchable))
    seen = replace(seen, name=mapper.table(layout.name), searched=searched)
    table_view = TableView(layout, seen, picked, entry, style)
    table_view.choice()
    return table_view


class BoundView:
    """A view with its transform and its filter, which are built once in a process.

    Args:
        lasting: the slave keeps the history of rows.

    Attributes:
        view: the view.
        needing_old: the features that need the old image of every update, in words.
    """

    def __init__(self, view: TableView, salt: bytes, *, lasting: bool = False) -> None:
        self.view = view
        self.needing_old = [*view.needing_old, *(["its history"] if lasting else [])]
        self._shape = view.shape(salt) if view.is_shaped else None
        self._choice = view.choice()

    def expect_old(self, why_not: str) -> None:
        """Check that the view needs no old image of updates.

        Args:
            why_not: the reason why an old image is missing, for the message.

        Raises:
            SluiceError: SLC-226, it needs old images.
        """
        if self.needing_old:
            raise SluiceError(
                226,
                f"the slave needs to know what rows of {self.view.master.name} were before they were updated, for "
                f"{', '.join(self.needing_old)}; {why_not}",
                "let the table have `old_images: full`, run the DAG bootstrap, then initial_update; or take that out "
                "of what the slave sees; nothing is lost",
            )

    def as_seen(self, changes: pa.Table) -> pa.Table:
        """The slave's view of changes of rows under the master's layout. Columns as in `CHANGES`, in and out."""
        return self._choice.select(
            transform_changes(changes, self._shape.transform) if self._shape else self.view.pick(changes)
        )


def mapped_and_filtered(changes: pa.Table, sights: Mapping[int, BoundView]) -> pa.Table:
    """The slave's view of a batch, by its views of the layouts; the batch itself if all of them are plain.

    Raises:
        SluiceError: SLC-162, an expression cannot be evaluated for a row; a plugin, a stylesheet or a veto
            failed; SLC-226, an update has no old image, and the slave needs it.
    """
    _expect_old(changes, sights)
    numbers = [number for number, sight in sights.items() if not sight.view.is_plain]
    if not numbers:
        return changes
    of_rows = have_actions(changes["action"], ROWS)
    bent = pc.and_(of_rows, pc.is_in(changes["layout"], value_set=pa.array(numbers, pa.int64())))
    parts = [changes.filter(pc.invert(bent))]
    for number in numbers:
        parts.append(sights[number].as_seen(changes.filter(pc.and_(of_rows, pc.equal(changes["layout"], number)))))
    together = pa.concat_tables(parts)
    # Stable: what a view makes of one change stays in its order.
    order = np.lexsort((together["repl_key"].to_numpy(), together["ordinal"].to_numpy()))
    return together if np.array_equal(order, np.arange(len(order))) else together.take(pa.array(order))


def _expect_old(changes: pa.Table, sights: Mapping[int, BoundView]) -> None:
    needing = pa.array([number for number, sight in sights.items() if sight.needing_old], pa.int64())
    lacking = pc.and_(pc.equal(changes["action"], Action.UPDATE), changes["old"].is_null())
    index = pc.index(pc.and_(lacking, pc.is_in(changes["layout"], value_set=needing)), True).as_py()
    if index >= 0:
        sight = sights[changes["layout"][index].as_py()]
        sight.expect_old(f"the change {changes['repl_key'][index]} does not say it")


def _pick(rows: pa.ListArray, indices: Sequence[int], width: int) -> pa.ListArray:
    """The rows with the values at these indices; a null row stays null."""
    present = rows.is_valid().to_numpy(zero_copy_only=False)
    starts = np.arange(np.count_nonzero(present)) * width
    values = rows.flatten().take(pa.array((starts[:, None] + np.array(indices)).ravel()))
    offsets = np.concatenate(([0], np.cumsum(present))) * len(indices)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=pa.array(~present))


def shape_lines(view: TableView, shape: RowTransform, buffer: bytes, columns: Collection[str]) -> tuple[bytes, int]:
    """Transform lines of COPY with the columns to read; returns lines with `columns` of the slave, and their number."""
    made = shape.transform(rows_of_lines(buffer, len(view.read_columns)))
    indices = [index for index, column in enumerate(view.layout.columns) if column.name in columns]
    return lines_of([pc.list_element(made.rows, index) for index in indices]), len(made.rows)
