"""Members of the port of a slave that are the same where a database takes batches and whole tables, and nothing else.

It takes statements that are portable, and no change that is looked at one by one. It carries out DDL by
`committed_ddl`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa

from sluice.apply.net.effects import Run
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.errors import SluiceError
from sluice.model.action import FilledRows
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement
from sluice.model.write_policy import WritePolicies
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.load import TableDefinition, TableFit
from sluice.vendors.protocol.slave import Replayed, StepsOf


class Unguarded:
    """A `SlaveDatabase` on whose tables no trigger or foreign key acts, and whose commits are durable."""

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """None: tables with triggers or foreign keys are refused where rows come."""
        return []

    def expect_lasting(self, tables: Sequence[TableName]) -> None:
        """Nothing to do: no other kind of table is written to."""

    def table_files(self, tables: Sequence[TableName]) -> Mapping[TableName, str]:
        """Not told here."""
        return {}

    def loosen(self, tables: Collection[TableName]) -> None:
        """Nothing to do: no table has foreign keys."""

    def make_durable(self) -> None:
        """Every commit is."""


class BatchesAlone(Unguarded, ABC):
    """A `SlaveDatabase` that refuses all else by name, before anything is written."""

    pair: Pair
    mapper: Mapper
    portable_alone = True

    @abstractmethod
    def not_supported(self, what: str, hint: str) -> SluiceError:
        """The error that refuses a setting or a command."""

    @abstractmethod
    def look_at(self, layouts: Iterable[Layout], *, keyed: bool) -> None:
        """See that tables which are there take every row, and that the others can be made.

        Args:
            keyed: the layouts say which columns are the key.
        """

    def capabilities(self) -> Capabilities:
        """DDL commits here, and nothing that acts is silenced."""
        return Capabilities()

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Look whether those of these tables that are there take every row, and whether the others could be made."""
        self.look_at([Layout(0, name, tuple(columns)) for name, columns in tables.items()], keyed=False)
        return TableFit()

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables can be filled; nothing is written."""
        if wanted:
            self.wiped(wanted)
        for table in tables:
            self.expect_replaced(table.name)
        self.look_at([table.layout for table in tables], keyed=True)
        return TableFit()

    def expect_replaced(self, table: TableName) -> None:
        """See that an initial update may empty a table. Raises what `not_supported` gives."""
        if self.mapper.existing_rows(table) is not FilledRows.TRUNCATE:
            raise self.not_supported(
                f"`on_existing_rows` {self.mapper.existing_rows(table)} of {table}",
                "nothing was changed; take `on_existing_rows` out of the configuration",
            )

    def looks_through(self, layout: Layout) -> bool:
        """Rows without a key are compared as a whole, which no index does."""
        return not layout.key

    def expect_plain(self, run: Run, policies: WritePolicies) -> None:
        """See that changes may be written by sets. Raises what `not_supported` gives."""
        for effect in run:
            if policies.for_table(effect.layout.name).by_row or effect.layout.searched:
                raise self.not_supported(
                    f"writing {effect.layout.name} row by row (searchable, on_missing, on_duplicate, before, after)",
                    "take these settings out of the configuration; nothing is lost",
                )

    def carry_out(
        self, numbers: Collection[int], kept: Collection[int], steps: StepsOf, answered: Answered
    ) -> Tolerated:
        """Refused: nothing records which rejected changes the slave has."""
        raise self.not_supported(
            "carrying out a rejected change", "fill it anew by initial_update; what is kept can be dropped then"
        )

    def replay(
        self,
        changes: pa.Table,
        layouts: Mapping[int, Layout],
        begin: Position,
        end: Position,
        collected: int,
        sequences: Sequence[SequenceValue] = (),
    ) -> Replayed:
        """Replays nothing: transactions are applied as batches."""
        return Replayed(begin)

    def understands(self, statement: Statement) -> None:
        """Whether it is portable, as far as its text tells. Raises SluiceError SLC-103 or SLC-577 if not."""
        # A parser takes long to import, and hardly a drain needs it.
        from sluice.vendors.portable.carried_out import expect_seen
        from sluice.vendors.portable.parser import portable

        expect_seen(self.mapper, portable(statement.sql, statement.schema).table)

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """None that could be allowed: a table that does not take every row is refused."""
        return []

    def wiped(self, wanted: WipeOut) -> list[str]:
        """Refused. Raises what `not_supported` gives."""
        raise self.not_supported("`wipe_out`", "nothing was changed; take `wipe_out` out of the configuration")

    def merging(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """None of them: rows come once, from one snapshot."""
        return set()
