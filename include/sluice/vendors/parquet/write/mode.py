"""Write modes of files: the current rows of a table, or every change of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from sluice.apply.net.effects import Effect
from sluice.model.layout import Column, Layout
from sluice.vendors.parquet.ddl.schema_change import Alteration, Moment
from sluice.vendors.parquet.versions import Table
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.history_mode import HistoryMode
from sluice.vendors.parquet.write.rows_mode import RowsMode


class WriteMode(Protocol):
    """The conversion of changes into files, and of files into rows.

    Attributes:
        lasting: whether the files of before stay at an initial update.
    """

    name: str
    lasting: bool

    def fitting(self, known: Table | None, layout: Layout) -> Table | None:
        """The table that takes rows of this layout; None if it has to be filled before.

        Raises:
            SluiceError: SLC-153, the rows have other columns than its files.
        """

    def forget(self, files: TableFiles) -> None:
        """Every row comes again: those that are there do not count any more."""

    def alter(self, alteration: Alteration, files: TableFiles) -> None:
        """Let rows that are there have other columns from here on."""

    def begun_anew(self, known: Table, made: Table, files: TableFiles, moment: Moment) -> Table:
        """A table that is made where one is already whose rows are not to count any more."""

    def left(self, known: Table, moment: Moment) -> Table | None:
        """The table that keeps the files of a dropped table, under a new name; None if nothing is kept."""

    def apply(self, effect: Effect, files: TableFiles) -> int:
        """Write the changes of one table. Returns how many rows were missing, or, if less than 0, there already."""

    def schema(self, columns: Sequence[Column]) -> pa.Schema:
        """The columns of a file."""

    def loaded(self, rows: pa.Table, epoch: int) -> pa.Table:
        """Rows of an initial update, as a file keeps them."""

    def begun(self, before: Table | None, filled: Table, files: TableFiles) -> Table:
        """The table at the end of an initial update, given what it was before and the files that were filled."""

    def rows(self, files: TableFiles, table: Table) -> Iterator[tuple[pa.Table, int]]:
        """Every row that is there, as rows that come (1) and rows that go (-1), in no order."""


MODES: dict[str, WriteMode] = {kind.name: kind for kind in (RowsMode(), HistoryMode())}
