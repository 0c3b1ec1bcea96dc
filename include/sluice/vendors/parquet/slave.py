"""A slave of files: one version a batch, which has the data, the position and the fence (R3, R4, R6)."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import pyarrow as pa

from sluice.apply.net.effects import Step
from sluice.changelog.points import PointWait
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import FencedError, SluiceError
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.parquet.directory import reachable, replication_directory
from sluice.vendors.parquet.load.tables import LakeTables, admitted
from sluice.vendors.parquet.versions import Table, Version, Versions
from sluice.vendors.parquet.write.commit import Commit
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import WriteMode
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.load import TableDefinition, TableFit
from sluice.vendors.protocol.slave import AtPosition, Replayed, StepsOf


class ParquetSlave(AtPosition):
    """See `sluice.vendors.protocol.slave.SlaveDatabase`."""

    portable_alone = True

    def __init__(
        self,
        kind: WriteMode,
        info: ConnectionInfo,
        pair: Pair,
        schema: str,
        mapper: Mapper,
        masters: Collection[Resources] = (),
    ) -> None:
        self.kind = kind
        self.pair = pair
        self.mapper = mapper
        self.lasting = kind.lasting
        self.directory = replication_directory(info, pair)
        self.versions = Versions(self.directory, pair)
        self.version = Version()

    def capabilities(self) -> Capabilities:
        """Files have no triggers, rules or foreign keys."""
        return Capabilities()

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Look whether the directory can be written to. Columns are compared when rows come."""
        directory = self.directory.root.parents[1]
        with reachable(f"looking at the directory of {self.pair.slave}"):
            if not (directory.is_dir() and os.access(directory, os.W_OK)):
                raise FileNotFoundError(2, "there is no such directory, or it cannot be written to", str(directory))
        return TableFit()

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables can be filled; nothing is written."""
        if wanted:
            self.wiped(wanted)
        self.version = self.versions.current()
        admitted(self, tables)
        return self.fit({table.name: table.layout.columns for table in tables})

    def looks_through(self, layout: Layout) -> bool:
        """Files have no index; to a history changes are added."""
        return not self.kind.lasting

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """Files have neither triggers nor foreign keys."""
        return []

    def expect_lasting(self, tables: Sequence[TableName]) -> None:
        """Nothing to do: a commit is a file."""

    def table_files(self, tables: Sequence[TableName]) -> Mapping[TableName, str]:
        """The files of its tables are read as the position names them: others change nothing."""
        return {}

    def loosen(self, tables: Collection[TableName]) -> None:
        """Nothing to do: files have no foreign keys."""

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence, by taking the next version number of earlier jobs."""
        with reachable(f"taking over {self.pair}"):
            self.directory.make()
            before = self.versions.current()
            if before.epoch > epoch:
                raise FencedError(50, f"a drain of {self.pair} with an epoch above {epoch} is at work")
            self.version = before
            self._become(replace(before, epoch=epoch))
            self._tidy(self.versions.oldest())
        return self.version.position, self.version.snapshot

    def apply(
        self,
        steps: Iterable[Step],
        end: Position,
        sequences: Sequence[SequenceValue] = (),
        answered: Answered | None = None,
        policies: WritePolicies = DEFAULT_POLICIES,
    ) -> Tolerated:
        """One version: the steps in order, the position. Returns which rows were not as expected.

        Raises:
            FencedError: SLC-050, another job took over; nothing was changed.
            SluiceError: SLC-159, no initial update has ended here; SLC-103, a statement; SLC-121, changes that are to
                be looked at one by one; or what `Commit` raises.
        """
        if self.version.snapshot is None or self.version.keeps != self.kind.name:
            raise SluiceError(
                159,
                f"there is no {self.kind.name} at {self.directory.root} that an initial update has made",
                "mount the directory that had it; if it is lost, make it anew by initial_update",
            )
        tolerated = Tolerated()
        commit = Commit(self.kind, self.mapper, self.version.tables, self._files, self.admit)
        try:
            for step in steps:
                if isinstance(step, Command):
                    if step.action is not Action.STATEMENT:
                        commit.carry_out(step, self.version.epoch)
                    elif answered is not None:
                        raise _no_statements(self.pair)
                    continue
                for effect in step:
                    if policies.for_table(effect.layout.name).by_row or effect.layout.searched:
                        raise _too_strict(effect.layout.name)
                    tolerated += commit.write(effect)
            crash_if_asked(CrashPoint.STAGED)
            tables = commit.end()
        except BaseException:
            commit.discard()
            raise
        crash_if_asked(CrashPoint.MERGED)
        # What fails from here on may have become a version: then others rely on its files.
        self._become(replace(self.version, position=end, tables=tables))
        return tolerated

    def doubts(self, command: Command) -> tuple[str, ...]:
        """None: files have columns and types, and evaluate no expressions."""
        return ()

    def carry_out(
        self, numbers: Collection[int], kept: Collection[int], steps: StepsOf, answered: Answered
    ) -> Tolerated:
        """Refused: the files do not record which rejected changes they have."""
        raise SluiceError(
            468,
            f"slave {self.pair.slave} keeps files, and takes no change of earlier",
            "fill it anew by initial_update; what is kept can be dropped then",
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
        """Replays nothing: transactions are applied as batches, since the commit is the cost."""
        return Replayed(begin)

    def understands(self, statement: Statement) -> None:
        """No statement is."""
        raise _no_statements(self.pair)

    def make_durable(self) -> None:
        """Every version is."""

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """None: files are made as the master's values are."""
        return []

    def wiped(self, wanted: WipeOut) -> list[str]:
        """It has no schema. Raises SluiceError SLC-438."""
        raise SluiceError(
            438,
            f"slave {self.pair.slave} is a directory of files, and has no schema {wanted.schema_} to be wiped out",
            "nothing was changed; take `wipe_out` out of the configuration",
        )

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> LakeTables:
        """The tables of this slave, for a dump under an epoch of its own; what is in of an `earlier` one may stay."""
        return LakeTables(self, epoch, earlier)

    def merging(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """None of them: no file can be merged into."""
        return set()

    def admit(self, table: Table, beside: TableName | None) -> None:
        """Look whether a table can be kept under these columns, beside the rows that the current version has under
        that name. Files can have any.
        """

    def begin_update(self, position: Position, snapshot: Snapshot, filled: Iterable[Table]) -> None:
        """Commit an initial update as the current version. Raises FencedError SLC-050 if another job took over."""
        before = self.version.tables if self.version.keeps == self.kind.name else {}
        tables = {}
        for one in filled:
            marks = self._files(Table(one.name, one.columns))
            tables[one.name] = self.kind.begun(before.get(one.name), one, marks)
        after = replace(
            self.version, keeps=self.kind.name, position=position, snapshot=snapshot, tables={**before, **tables}
        )
        self._become(after)

    @contextmanager
    def _aligned(self, waiting: PointWait) -> Iterator[str]:
        while not waiting.has_arrived((version := self.versions.current()).position.ordinal):
            time.sleep(0.2)
        yield str(self.versions.path(version.number))

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """The version exactly at a point of the stream; its path."""
        return self._aligned(PointWait(self.pair, at, patience_s))

    def close(self) -> None:
        """Nothing to close."""

    def _become(self, after: Version) -> None:
        self.version = self.versions.commit(self.version, after)

    def _tidy(self, oldest: int) -> None:
        self.versions.tidy(oldest)

    def _files(self, table: Table) -> TableFiles:
        return TableFiles(self.directory, table.name, self.version.epoch, table.files)


def _too_strict(table: TableName) -> SluiceError:
    return SluiceError(
        121,
        f"{table} cannot be written row by row, as searchable, on_missing, on_duplicate, before or after demand: these "
        "are files",
        "take these settings out of the configuration; nothing is lost",
    )


def _no_statements(pair: Pair) -> SluiceError:
    return SluiceError(
        103,
        f"slave {pair.slave} keeps files, and executes no statement",
        "set `statements: false` for its replication; what statements change then reaches it by an initial_update",
    )
