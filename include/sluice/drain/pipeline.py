"""The steps of a batch from the change log to a slave, in their order.

    read           read_batches             whole transactions of the log, about as many changes as are wanted (R4)
    skip           without_obsolete         without what the slave's first load has seen (R5)
                   without_part             without what a slave whose DDL commits took before it stopped (R3)
    parse DDL      parsed_ddl               what commands say of their tables
    exclude        without_excluded_tables  tables that the slave does not get, or not for a time
    place DDL      with_alters_in_time      an ALTER that was found late, before the first row that needs it (R7)
    map, filter    mapped_and_filtered      the slave's columns, rows and names
    net            Deferred.steps           the last state of each key, table by table, between the commands
    policy         apply_policies           commands that the slave carries out, passes over, or waits in front of
    write          SlaveDatabase.apply      one transaction of the slave, with its position (R3)

How large batches are, and what is tried when one fails, is in `drain.py`. A thread does all but the last two steps for
the next batch, while the slave's server is at the one before: `prepare.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import mapped_and_filtered
from sluice.apply.net.effects import Step
from sluice.arrow_rows import filter_rows
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import have_actions
from sluice.changelog.segment_files import SegmentFiles
from sluice.crash import CrashPoint, crash_if_asked
from sluice.drain.batches import MOST_BYTES, Batch, read_batches
from sluice.drain.ddl_policy import ALL, DdlPermission, apply_policies
from sluice.drain.deferred import Deferred
from sluice.drain.excluded_tables import without_excluded_tables, without_layouts
from sluice.drain.obsolete import without_obsolete, without_part
from sluice.drain.parsed_ddl import ParsedDdl, parsed_ddl
from sluice.drain.prepare import PreparedSteps
from sluice.drain.reorder_ddl import with_alters_in_time
from sluice.drain.slave_view import SlaveViews
from sluice.model.action import COMMANDS, Action, Command
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.position import PartWay, Position
from sluice.model.row_conflict import RejectedChange, Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import NodeOutcome, Statement
from sluice.model.write_policy import WritePolicies
from sluice.vendors.protocol.slave import Replayed, SlaveDatabase
from sluice.vendors.protocol.visibility import Visibility

# Changes as a slave sees them, and the layouts in them.
Seen = tuple[pa.Table, dict[int, Layout]]
See = Callable[[pa.Table, ParsedDdl], Seen]


class BatchPipeline:
    """The steps of one slave. Changes are as in `CHANGES` from the first to the last of them.

    Args:
        salt: what hashes are made with.
        skipped: tables of the master that the slave is not given.
        permission: what the slave does about commands of the master.
        rejected: called with the changes that the slave did not carry out, before the commit.
        answered: called with the result of each statement; without it the slave skips statements.

    Attributes:
        views: how the slave sees tables that were met.
        emptied: tables of the slave that were emptied.
        commanded: whether a command was carried out, which may have made, emptied or altered any table.
    """

    def __init__(
        self,
        slave: SlaveDatabase,
        manifest: Manifest,
        files: SegmentFiles,
        salt: bytes = b"",
        skipped: Collection[TableName] = (),
        permission: DdlPermission = ALL,
        rejected: Callable[[Iterable[RejectedChange]], None] = lambda _: None,
        answered: Callable[[Statement, NodeOutcome], None] | None = None,
    ) -> None:
        self._slave = slave
        self._files = files
        self._permission = permission
        self._answered = answered
        self.emptied: set[TableName] = set()
        self.commanded = False
        self.views = SlaveViews(slave.mapper, manifest, salt, skipped, lasting=slave.lasting)
        self._policies = WritePolicies(self.views.tables, rejected)

    def read(
        self,
        segments: list[Segment],
        begin: Position,
        seen: Visibility | None,
        size: int,
        most_bytes: int = MOST_BYTES,
        *,
        in_parts: bool = False,
        whole: int = 0,
        until: int | None = None,
    ) -> Iterator[Batch]:
        """Read, skip, parse DDL. Arguments are those of `read_batches`, and what the slave's load has seen."""
        cut = read_batches(self._files, segments, begin, size, most_bytes, in_parts=in_parts, whole=whole, until=until)
        # No batch is held while the next one is read.
        return map(partial(_newer_and_parsed, seen, self._slave.part_way()), cut)

    def see(self, changes: pa.Table, ddl: ParsedDdl) -> Seen:
        """Exclude, place DDL, map, filter."""
        views = self.views.for_changes(changes)
        changes = without_excluded_tables(changes, views.excluded, self.views.gives, ddl)
        changes = without_layouts(changes, views.left_out)
        changes = with_alters_in_time(changes, views.masters(), ddl)
        return mapped_and_filtered(changes, views.given), views.layouts()

    def prepare(self, batch: Batch, waiting: Deferred, see: See | None = None) -> PreparedSteps:
        """All steps from the batch that was read to its net effects.

        Args:
            waiting: changes of earlier parts of the transaction that wait for its end.
            see: in place of `see`.
        """
        changes, _ = (see or self.see)(batch.changes, batch.ddl)
        left_out = self.views.left_out(batch.changes)
        steps = list(waiting.steps(changes, self.views.layouts(), batch.ddl, last=batch.last))
        return PreparedSteps(steps, batch.end, len(batch.changes), left_out, batch.last)

    def write(
        self, steps: Iterable[Step], end: Position, sequences: Sequence[SequenceValue], then: Iterable[Step] = ()
    ) -> Tolerated:
        """Policy, write. Returns which rows were not as expected.

        Args:
            then: what comes after all others, whatever the policies are.
        """
        passed = self._note_commands(apply_policies(steps, self._slave.pair, self._permission))
        tolerated = self._slave.apply(chain(passed, then), end, sequences, self._answered, self._policies)
        crash_if_asked(CrashPoint.DELIVERED)
        return self._policies.counted_conflicts(tolerated)

    def replay(self, batch: Batch, begin: Position, collected: int, sequences: Sequence[SequenceValue]) -> Replayed:
        """In place of `prepare` and `write`: each transaction of the master as one of the slave's, row by row."""
        changes, layouts = self._permission.spare_others(*self.see(batch.changes, batch.ddl))
        self.commanded |= bool(pc.any(have_actions(changes["action"], COMMANDS)).as_py())
        of_emptied = filter_rows(changes, have_actions(changes["action"], {Action.TRUNCATE}))["layout"]
        self.emptied |= {layouts[number].name for number in pc.unique(of_emptied).to_pylist() if number in layouts}
        # Answers come after commits there: too late for a table whose changes may be rejected, say.
        patient = {
            number: layout for number, layout in layouts.items() if not self._policies.for_table(layout.name).by_row
        }
        replayed = self._slave.replay(changes, patient, begin, batch.end, collected, sequences)
        return replace(replayed, tolerated=self._policies.counted_conflicts(replayed.tolerated))

    def _note_commands(self, steps: Iterable[Step]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Command):
                self.commanded = True
            else:
                self.emptied |= {effect.layout.name for effect in step if effect.is_emptied}
            yield step


def _newer_and_parsed(seen: Visibility | None, part_way: PartWay | None, batch: Batch) -> Batch:
    batch = without_part(without_obsolete(batch, seen), part_way)
    return replace(batch, ddl=parsed_ddl(batch.changes))
