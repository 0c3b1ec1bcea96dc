"""The copy of a dump from any origin to any targets: creates tables, distributes chunks to tasks, and adds keys after
the data. A target that fails is left out, and the others go on (R8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from sqlalchemy import func

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import sealed_text
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError
from sluice.initial_update.progress import Unread, reporting_chunks
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.state.initial_update import UpdateEvent
from sluice.store import updates
from sluice.store.engine import Store
from sluice.vendors.protocol.load import Expected, SlaveTables, TableDefinition
from sluice.vendors.protocol.read import Chunk, agreed
from sluice.vendors.protocol.tasks import FromFiles, FromMaster, LoadJob, SlaveLoad, SlaveLoaded

Load = Callable[[LoadJob], list[SlaveLoaded]]


@dataclass(frozen=True)
class DumpSource:
    """The source of a copy: tables in a snapshot, and the origin of their rows.

    Attributes:
        snapshot, position: what is visible in it, and where the log ended before (R5).
    """

    definitions: Sequence[TableDefinition]
    sequences: Sequence[SequenceValue]
    snapshot: Snapshot
    position: Position
    origin: FromMaster | FromFiles


@dataclass(frozen=True)
class LoadTarget:
    """The target of a copy: a slave, or a directory for slaves that get the same rows.

    Attributes:
        plan: the tasks' view of it; its views of slaves are still to come.
    """

    pairs: tuple[Pair, ...]
    tables: SlaveTables
    plan: SlaveLoad

    @property
    def name(self) -> str:
        """The name of its (first) slave, by which errors are reported."""
        return self.plan.slave


class ResumeStrategy(Protocol):
    """The strategy for rows that earlier loads left on the targets, which decides what is copied."""

    def begin(self, target: LoadTarget) -> None:
        """Take over from earlier jobs on a target, and find the rows that may stay. Called first, once per target."""

    def chunks(self) -> Sequence[Chunk]:
        """All chunks of the copy."""

    def expected_chunks(self, target: LoadTarget) -> Sequence[Expected]:
        """The chunks as a target records them."""

    def kept_tables(self, target: LoadTarget) -> Collection[TableName]:
        """The tables of a target that keep their rows, and get more."""

    def catch_up(self, target: LoadTarget) -> None:
        """Bring the kept rows to the snapshot of the others, after all chunks are loaded."""

    def incomplete_tables(self, target: LoadTarget) -> Collection[TableName]:
        """The tables of a target that still lack rows after all chunks are loaded."""


class NoResume:
    """Copies everything, except chunks that the target has of the same load."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    def begin(self, target: LoadTarget) -> None:
        """Take over from earlier jobs."""
        target.tables.begin()

    def chunks(self) -> Sequence[Chunk]:
        """The chunks that were given."""
        return self._chunks

    def expected_chunks(self, target: LoadTarget) -> Sequence[Expected]:
        """All are to come."""
        return [Expected(None)] * len(self._chunks)

    def kept_tables(self, target: LoadTarget) -> Collection[TableName]:
        """None."""
        return ()

    def catch_up(self, target: LoadTarget) -> None:
        """There is nothing to be done."""

    def incomplete_tables(self, target: LoadTarget) -> Collection[TableName]:
        """None."""
        return ()


def copy(
    context: Context,
    source: str,
    update: int,
    dumped: DumpSource,
    targets: Sequence[LoadTarget],
    load: Load,
    strategy: ResumeStrategy,
    unread: Unread = lambda _: None,
) -> tuple[list[LoadTarget], dict[str, SluiceError]]:
    """Copy everything to every target. Return the targets that have all of it, and the errors of the others, by name.

    Args:
        unread: called every few seconds with the tables that have rows to be read; at the end with none.
    """
    failed: dict[str, SluiceError] = {}
    names = [definition.name for definition in dumped.definitions]
    included = {target.name: included_tables(target.tables.mapper, dumped.definitions) for target in targets}
    ready = for_each(targets, lambda target: target.tables.mapper.keep_apart(names), failed)
    # What goes into files is loaded later, and looked at then.
    ready = for_each(ready, lambda target: None if target.plan.files else _expect_kept(context, target, names), failed)
    ready = for_each(ready, strategy.begin, failed)
    chunks = strategy.chunks()
    count = len(chunks)
    ready = for_each(ready, lambda target: target.tables.expect(_expected_chunks(target, strategy)), failed)
    several = Counter(chunk.leaf.table for chunk in chunks)
    in_parts = {table for table, parts in several.items() if parts > 1}
    ready = for_each(
        ready,
        lambda target: target.tables.prepare(included[target.name], strategy.kept_tables(target), in_parts),
        failed,
    )
    formats = [target.tables.formats for target in ready]
    job = LoadJob(
        source=source,
        origin=dumped.origin,
        sealed=sealed_text(),
        chunks=tuple(chunks),
        formats={
            definition.name: agreed(definition.name, definition.formats, formats) for definition in dumped.definitions
        },
        slaves=tuple(_plan_for(target, dumped, strategy.kept_tables(target)) for target in ready),
        tasks=context.config.bulk_tasks,
    )
    _record_begin(context.store, update, dumped)
    # Without chunks only the program knows its progress.
    reporter = reporting_chunks(
        context.store, update, [target.tables for target in ready], chunks, at_once=job.tasks, unread=unread
    )
    with reporter if chunks else nullcontext():
        for result in load(job) if ready else []:
            if result.error:
                failed.setdefault(result.slave, result.error)
    unread(())
    loaded = [target for target in ready if target.name not in failed]
    loaded = for_each(loaded, lambda target: _expect_whole(target, count), failed)
    loaded = for_each(loaded, strategy.catch_up, failed)
    tasks = context.config.bulk_tasks
    loaded = for_each(
        loaded,
        lambda target: target.tables.finish(included[target.name], tasks, strategy.incomplete_tables(target)),
        failed,
    )
    loaded = for_each(loaded, lambda target: target.tables.follow(dumped.sequences), failed)
    return loaded, failed


def included_tables(mapper: Mapper, tables: Sequence[TableDefinition]) -> list[TableDefinition]:
    """The tables without the ones that the slave excludes."""
    return [definition for definition in tables if not mapper.excludes(definition.name)]


def _expected_chunks(target: LoadTarget, strategy: ResumeStrategy) -> list[Expected]:
    """The chunks as a target expects them: none of a table that it excludes."""
    excludes, chunks = target.tables.mapper.excludes, strategy.chunks()
    pairs = zip(chunks, strategy.expected_chunks(target), strict=True)
    return [Expected(None, 0) if excludes(chunk.leaf.table) else expected for chunk, expected in pairs]


def _plan_for(target: LoadTarget, dumped: DumpSource, merged: Collection[TableName]) -> SlaveLoad:
    mapper = target.tables.mapper
    views = {
        definition.name: view(mapper, definition.layout) for definition in included_tables(mapper, dumped.definitions)
    }
    if isinstance(dumped.origin, FromFiles):
        # What shapes rows did so when they were stored.
        views = {name: table_view.for_transformed_rows for name, table_view in views.items()}
    return replace(target.plan, views=views, merged=frozenset(merged), upserted=frozenset(target.tables.upserted))


def _expect_kept(context: Context, target: LoadTarget, names: Sequence[TableName]) -> None:
    for pair in target.pairs:
        shared_tables.expect_kept(context, pair, names)


def _expect_whole(target: LoadTarget, chunks: int) -> None:
    done = len(target.tables.progress())
    if done != chunks:
        raise SluiceError(80, f"{done} of {chunks} chunks were loaded", "trigger initial_update again with `resume`")


def for_each(
    targets: Sequence[LoadTarget], step: Callable[[LoadTarget], None], failed: dict[str, SluiceError]
) -> list[LoadTarget]:
    """Do one step on all targets at once; targets that fail are recorded in `failed` and left out."""

    def attempt(target: LoadTarget) -> LoadTarget | None:
        try:
            step(target)
        except SluiceError as error:
            failed[target.name] = error
            return None
        return target

    with ThreadPoolExecutor(max(len(targets), 1)) as pool:
        return [target for target in pool.map(attempt, targets) if target]


def _record_begin(store: Store, update: int, dumped: DumpSource) -> None:
    # If the source turned out to have lost changes, they are INCONSISTENT by now, and nothing is to be resumed.
    with store.begin() as connection:
        if connection.execute(updates.select_under_way(update).limit(1)).first():
            updates.record_event(
                connection,
                update,
                UpdateEvent.DUMP if isinstance(dumped.origin, FromMaster) else UpdateEvent.LOAD,
                snapshot=dumped.snapshot.text,
                segment=dumped.position.segment,
                ordinal=dumped.position.ordinal,
                started_at=func.clock_timestamp(),
            )
