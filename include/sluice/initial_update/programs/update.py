"""An initial update whose rows programs bring, such as the database's own for export and import (R5).

An export with the argument `{snapshot}` reads the dump's snapshot, so the slave's stream begins there as ever. Another
one reads at times of its own, between two snapshots of ours: then the log brings what it read to the second one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sluice.config.mapper import Mapper
from sluice.config.models import Program
from sluice.context import Context
from sluice.drain.catch_up import Overlap
from sluice.errors import SluiceError
from sluice.initial_update.chunks.catch_up import await_published, mergeable_tables, replay
from sluice.initial_update.chunks.copy import LoadTarget, NoResume, included_tables
from sluice.initial_update.programs.run import Mask, ProgramRun, expect_there, fill_words, pour
from sluice.initial_update.progress import LoadedAmount, ProgressReporter
from sluice.model.action import FilledRows
from sluice.model.names import Pair, TableName
from sluice.model.sequence import SequenceValue
from sluice.vendors.protocol.load import DumpSnapshot, Programs, TableDefinition, importing
from sluice.vendors.protocol.master import Source
from sluice.vendors.protocol.tasks import FromMaster, LoadJob, SlaveLoad, SlaveLoaded
from sluice.vendors.registry import master, vendor


def expect_exportable(context: Context, source: str) -> Sequence[str]:
    """The program that exports from a master. Raises SluiceError SLC-200, SLC-684: it is not there, or not safe."""
    settings = context.config.source(source)
    exporting = master(settings.vendor).exporting
    if exporting is None:
        raise _refusal(f"of {source}", "no program exports what a snapshot of this kind of master shows")
    command = settings.initial_program.command or exporting.command
    expect_there(f"source {source}", command)
    exporting.expect_safe(context.connection(settings.connection), command)
    return command


def expect_importable(
    context: Context,
    pair: Pair,
    mapper: Mapper,
    definitions: Sequence[TableDefinition],
    merging: Callable[[Sequence[TableDefinition]], set[TableName]],
) -> None:
    """See that the rows of a slave can come by a program; nothing is changed on it.

    Args:
        merging: see `sluice.initial_update.chunks.catch_up.mergeable_tables`.

    Raises:
        SluiceError: SLC-200, SLC-204, SLC-684.
    """
    slave = context.config.slave(pair.slave)
    command, importing_ = slave.initial_program.command, vendor(slave.vendor).importing
    names = [table.name for table in included_tables(mapper, definitions)]
    if importing_ is None:
        raise _refusal(pair.slave, "no program imports into this kind of slave")
    if context.unheard(pair):
        raise _refusal(pair.slave, "with `block_loop` a master in its database would hear of the rows")
    if own := [str(name) for name in names if mapper.existing_rows(name) is FilledRows.MERGE]:
        raise _refusal(pair.slave, f"some rows in tables that it fills are the slave's own: {', '.join(own)}")
    bent = [
        str(table.name)
        for table in definitions
        if not mapper.whole(table.name) or mapper.table(table.name) != table.name
    ]
    if bent and not command:
        raise _refusal(pair.slave, f"its own program brings tables as the master has them: {', '.join(bent)}")
    if not _reads_snapshot(expect_exportable(context, pair.source)):
        exact = mergeable_tables(context, pair.source, mapper, definitions, merging)
        if others := [str(name) for name in names if name not in exact]:
            raise SluiceError(
                204,
                f"the program of source {pair.source} reads no {{snapshot}} of ours, and these tables of "
                f"{pair.slave} cannot have rows of several times: {', '.join(others)}",
                "nothing was changed on the slave; give them a primary key and no other unique one, see R5 in "
                "correctness.md, use a program that reads a snapshot, or trigger initial_update with mode snapshot",
            )
    expect_there(f"slave {pair.slave}", command or importing_.command)
    importing_.expect_safe(context.connection(slave.connection), command or importing_.command)


def _reads_snapshot(command: Sequence[str]) -> bool:
    return any("{snapshot}" in word for word in command)


class ProgramUpdate(NoResume):
    """See `sluice.initial_update.chunks.copy.ResumeStrategy`: nothing stays, and what the programs left is looked at.

    Attributes:
        shown: the snapshot that the slaves equal in the end.

    Raises:
        SluiceError: SLC-200, SLC-684, the program of the master's side is not there, or not safe.
    """

    def __init__(
        self,
        context: Context,
        source: str,
        update: int,
        database: Source,
        snapshot: DumpSnapshot,
        definitions: Sequence[TableDefinition],
        sequences: Sequence[SequenceValue],
    ) -> None:
        super().__init__(())
        self.shown = snapshot
        self._context = context
        self._source = source
        self._update = update
        self._database = database
        self._first = snapshot
        self._definitions = definitions
        self._sequences = sequences
        self._settings = context.config.source(source).initial_program
        self._at_once = _reads_snapshot(expect_exportable(context, source))
        exporting = master(context.config.source(source).vendor).exporting
        assert exporting is not None
        self._exporting = exporting
        self._rows: set[TableName] = set()

    def begin(self, target: LoadTarget) -> None:
        """Fence out earlier jobs, if the rows can come by a program.

        Raises:
            SluiceError: SLC-200, SLC-204, SLC-684; nothing was changed on the slave.
        """
        (pair,) = target.pairs
        merging = partial(target.tables.merging, made=True)
        expect_importable(self._context, pair, target.tables.mapper, self._definitions, merging)
        super().begin(target)

    def load(self, job: LoadJob) -> list[SlaveLoaded]:
        """See `sluice.initial_update.chunks.copy.Load`: run the programs.

        Raises:
            SluiceError: SLC-200, SLC-201, the export failed.
        """
        with self._progress_reporter(job), TemporaryDirectory(prefix="sluice-") as directory:
            export = self._export(job, Path(directory))
            imports = [self._import(plan, Path(directory)) for plan in job.slaves]
            wrong = pour(export, imports, Mask(self._context.connections))
        if self._at_once:
            self._rows = self._first.filled()
        else:
            with self._database.master.dump_snapshot(
                [[table.name for table in self._definitions]], self._context.manifest(self._source).end
            ) as self.shown:
                # Who answers now has kept the tables locked all along, until the second one had them locked as well.
                self._rows = self.shown.filled() & self._first.filled()
            self._sequences = self._database.master.sequences()
        return [SlaveLoaded(plan.slave, 0, error) for plan, error in zip(job.slaves, wrong, strict=True)]

    def catch_up(self, target: LoadTarget) -> None:
        """See that something came, and bring what was read at other times to the last snapshot.

        Raises:
            SluiceError: SLC-201, a program left nothing; SLC-080, no publisher runs; see `replay`.
        """
        mapper = target.tables.mapper
        imported = target.tables.imported(included_tables(mapper, self._definitions))
        rows = {name for name in self._rows if mapper.complete(name)}
        empty = rows - imported
        # Of a table that is read at another time all rows may have gone, and others come.
        if empty and (self._at_once or empty == rows):
            raise SluiceError(
                201,
                f"the programs succeeded and left no rows on {target.name}, but the master has some: "
                f"{', '.join(sorted(map(str, empty)))}",
                "see in the log of this task what they said, fix `initial_program`, then trigger initial_update again",
            )
        if not self._at_once:
            await_published(self._source, self.shown)
            names = frozenset(table.name for table in self._definitions)
            overlap = Overlap(names, self._first.position, self._first.snapshot, self.shown.snapshot)
            replay(self._context, target, overlap)
            target.tables.follow(self._sequences)

    def _progress_reporter(self, job: LoadJob) -> ProgressReporter:
        """Reports the sizes of the slaves' tables compared with the master's, also before programs commit."""
        given_ = {name for plan in job.slaves for name in plan.views}
        planned = sum(leaf.bytes for leaf in self._first.leaves() if leaf.table in given_)

        def far(plan: SlaveLoad) -> LoadedAmount:
            size, info = vendor(plan.vendor).size, self._context.connection(plan.connection)
            assert size
            # Files grow ahead of their rows, and those of a master may be full of holes.
            return LoadedAmount(
                min(size(info, [table_view.layout.name for table_view in plan.views.values()]), planned)
            )

        return ProgressReporter(
            self._context.store, self._update, LoadedAmount(planned), [partial(far, plan) for plan in job.slaves]
        )

    def _export(self, job: LoadJob, directory: Path) -> ProgramRun:
        assert isinstance(job.origin, FromMaster)
        own, info = self._exporting, self._context.connection(job.origin.connection)
        names = {
            "table": [table.name for table in self._definitions],
            "relation": [leaf.relation for leaf in self._first.leaves()],
            "sequence": sorted({sequence.sequence for sequence in self._sequences}),
        }
        settings = {"snapshot": own.snapshot(job.origin.snapshot_id), "database": info.database}
        words = _words(self._settings, own, settings, names)
        variables = own.environment(info, f"export {settings['snapshot']}", _make(directory / "export"), False)
        return ProgramRun(f"source {job.source}", self._settings, words, variables, directory / "export")

    def _import(self, plan: SlaveLoad, directory: Path) -> ProgramRun:
        own, info = vendor(plan.vendor).importing, self._context.connection(plan.connection)
        assert own
        settings, pair = self._context.config.slave(plan.slave).initial_program, Pair(self._source, plan.slave)
        slave = self._context.slave(pair)
        try:
            silent = slave.capabilities().silent_triggers
        finally:
            slave.close()
        names = {"table": [table_view.layout.name for table_view in plan.views.values()]}
        words = _words(settings, own, {"database": info.database}, names)
        variables = own.environment(info, importing(pair), _make(directory / plan.slave), silent)
        return ProgramRun(f"slave {plan.slave}", settings, words, variables, directory / plan.slave)


def _words(
    settings: Program, own: Programs, once: Mapping[str, str], names: Mapping[str, Sequence[TableName]]
) -> list[str]:
    each = {placeholder: [own.quoted(name) for name in some] for placeholder, some in names.items()}
    return fill_words(settings.command or own.command, once, each)


def _make(directory: Path) -> Path:
    directory.mkdir()
    return directory


def _refusal(slave: str, why: str) -> SluiceError:
    return SluiceError(
        204,
        f"slave {slave} cannot be filled by a program: {why}",
        "nothing was changed on it; trigger initial_update with mode snapshot, or give the slave an `initial_program` "
        "that makes the rows as it is to have them",
    )
