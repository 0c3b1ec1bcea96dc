"""Files of a dump that went on where another one had broken off: their rows, of several snapshots, become those of the
last one on a slave, as they do over the wire (R5).
"""

from __future__ import annotations

from collections.abc import Sequence

from sluice.context import Context
from sluice.drain.catch_up import Overlap
from sluice.errors import SluiceError
from sluice.initial_update.chunks.catch_up import replay
from sluice.initial_update.chunks.copy import LoadTarget, NoResume, included_tables
from sluice.model.names import TableName
from sluice.vendors.protocol.load import TableDefinition
from sluice.vendors.protocol.read import Chunk


class MergedSnapshots(NoResume):
    """See `chunks.copy.ResumeStrategy`: rows may come twice, and the log says of which time each is to be."""

    def __init__(
        self, context: Context, chunks: Sequence[Chunk], definitions: Sequence[TableDefinition], overlap: Overlap
    ) -> None:
        super().__init__(chunks)
        self._context = context
        self._definitions = definitions
        self._overlap = overlap

    def begin(self, target: LoadTarget) -> None:
        """Take over from earlier jobs, and empty the tables; from here on rows of several snapshots stay in them.

        Raises:
            SluiceError: SLC-245, rows of several times cannot come into one of them.
        """
        super().begin(target)
        mapper = target.tables.mapper
        overlapping = [
            definition
            for definition in included_tables(mapper, self._definitions)
            if definition.name in self._overlap.tables
        ]
        unfiltered = [definition for definition in overlapping if not mapper.entry(definition.name).chooses]
        if others := {definition.name for definition in overlapping} - target.tables.merging(unfiltered, made=True):
            raise SluiceError(
                245,
                f"what was stored of {', '.join(map(str, sorted(others)))} is of two times, as the dump broke off and "
                f"went on, and slave {target.name} has more there than a primary key that stands between its rows",
                "its tables are as they were. Drop these there, or what they have beside the primary key (unique "
                "indexes, foreign keys, rules, triggers, `when`, `veto`), and run this again; or trigger "
                "initial_update with `store_initial_data` and `force`, without `resume`",
            )
        target.tables.prepare(included_tables(mapper, self._definitions))

    def kept_tables(self, target: LoadTarget) -> frozenset[TableName]:
        """Tables to which rows come beside others."""
        return self._overlap.tables

    def catch_up(self, target: LoadTarget) -> None:
        """Bring them to what the last snapshot shows. Raises as `replay` does."""
        replay(self._context, target, self._overlap)
