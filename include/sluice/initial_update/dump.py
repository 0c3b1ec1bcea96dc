"""One dump for all slaves: one exported snapshot, chunks copied by Spark tasks, keys and indexes after the data (R5).

The order is the rule: the tables are locked against DDL before the first snapshot, the log's end is read before it
too, and the catalog after it. What is visible in the snapshot is obsolete for these slaves, all else is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from sluice import hints, shell
from sluice.capture.reconcile import reconcile
from sluice.context import Context
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import PasswordExpired, SluiceError, TransientError
from sluice.initial_update import loss_approval, pending_drops, start_stream
from sluice.initial_update.blocks.plan import BlockPlan, replace_keys
from sluice.initial_update.chunks.copy import DumpSource, Load, LoadTarget, copy, for_each
from sluice.initial_update.chunks.plan import chunks
from sluice.initial_update.chunks.resume import Resumption, has_begun
from sluice.initial_update.chunks.some_tables import HeldPoint, SomeTables
from sluice.initial_update.files.versions import hand_out, keep
from sluice.initial_update.options import EXTERNAL, ONLINE, SNAPSHOT, expect_together
from sluice.initial_update.participants import Leased, acquire_leases, find_unfit, split_reachable
from sluice.initial_update.preflight import UpdateChoices
from sluice.initial_update.programs.update import ProgramUpdate
from sluice.initial_update.targets import directories, slave_target
from sluice.log import event
from sluice.model.key_range import KeyInterval
from sluice.model.names import Pair, TableName
from sluice.state.initial_update import UpdateEvent
from sluice.state.replication import ReplicationEvent
from sluice.store import kept_versions, leases, replications, updates
from sluice.store.leases import Lease
from sluice.vendors.protocol.load import DumpSnapshot
from sluice.vendors.protocol.read import Chunk
from sluice.vendors.protocol.tasks import FromMaster


def dump(
    context: Context,
    source: str,
    slaves: Sequence[str],
    load: Load,
    *,
    mode: str = SNAPSHOT,
    store: bool = False,
    resume: bool = False,
    version: str = "",
) -> dict[str, object]:
    """Copy every watched table to every slave that is in INITIAL, or into directories for them.

    A slave that fails becomes INCONSISTENT, and the others go on (R8). They go on, too, if one cannot be reached: its
    rows wait in the change log, or its update waits for it, as it is configured.

    Args:
        load: copies chunks.
        mode: see `sluice.initial_update.options`; for blocks tables are made here, and emptied.
        store: the data is to be carried to the slaves by hand.
        version: of the source, whose data slaves are to have, as `prefix_Ver_x`; the newest if it is not given.
        resume: go on where an earlier update broke off. A second try of the same one does so by itself.

    Raises:
        SluiceError: the source failed, or every slave did.
        PasswordExpired: SLC-691, the passwords of all slaves that are left expired.
    """
    whole = UpdateEvent.STORED if store else UpdateEvent.MADE_TABLES if mode == ONLINE else UpdateEvent.LOADED
    with ExitStack() as stack:
        update, held = acquire_leases(context, source, slaves)
        ended = partial(_end, context, source, update, dict(held))
        for _, lease in held:
            stack.callback(leases.release, context.store, lease)
        # Only once it is known that this run has slaves to fill.
        stages = _stages(context, source)
        only, ranges = updates.tables(context.store, update), updates.keys(context.store, update)
        older = kept_versions.requested_version(context.config.source(source), version)
        expect_together(mode, some=bool(only), keys=bool(ranges), store=store, older=older)
        if older not in ("", context.config.source(source).messages.version):
            failed = hand_out(context, [pair for pair, _ in held], update, older)
            how = UpdateEvent.STORED if len(failed) < len(held) else UpdateEvent.FAIL
            return ended(how, _FillResult(failed))
        asked = _DumpRequest(context, source, update, stages, only, load, mode, store, resume)
        updates.keep_choices(context.store, update, asked.choices)
        already_loaded, held = start_stream.split_loaded(context, update, held)
        if not held:
            return ended(whole, _FillResult({}))
        here, away = (
            ([], held) if store else split_reachable(context, held, update, asked.choices, may_store=asked.storable)
        )
        unreachable = [] if store else [lease[0].slave for lease in held if lease not in here]
        if not here and not away:
            return ended(whole if already_loaded else UpdateEvent.PUT_OFF, _FillResult({}), unreachable=unreachable)
        if ranges:
            failed = find_unfit(context, here)
            if fit := [lease for lease in here if lease[0].slave not in failed]:
                between = [KeyInterval.parse(text) for text in ranges]
                failed |= replace_keys(context, fit, update, between, resume=resume)
            how = whole if len(failed) < len(here) else UpdateEvent.FAIL
            again = {"mode": mode, "key_ranges": ranges}
            return ended(how, _FillResult(failed, choices=asked.choices), again, unreachable)
        choices = {"resume": True, **asked.choices}
        filled = _fill(asked, here, away)
        # The next try has another password, and goes on where this one was. No slave that has all waits for that (R8).
        expired = [error for error in filled.failed.values() if isinstance(error, PasswordExpired)]
        if expired and not filled.well and len(expired) == len(filled.failed):
            raise expired[0]
    return ended(whole if filled.well or already_loaded else UpdateEvent.FAIL, filled, choices, unreachable)


def filled_slaves(done: Mapping[str, Any], slaves: Sequence[str], mode: str, *, store: bool) -> list[str]:
    """The slaves that have all their rows by a dump, by its result: none if rows come in blocks later, or by hand."""
    if store or mode == ONLINE:
        return []
    return [name for name in slaves if name not in {*done["failed"], *done["unreachable"]}]


@dataclass(frozen=True)
class _DumpRequest:
    """The arguments of a dump; see `dump`.

    Attributes:
        stages: the watched tables, in the order in which they are loaded.
        only: those of them that the update is for, if these are not all.
    """

    context: Context
    source: str
    update: int
    stages: Sequence[Sequence[TableName]]
    only: frozenset[TableName]
    load: Load
    mode: str
    store: bool
    resume: bool

    @property
    def storable(self) -> bool:
        """Whether the rows can go into files, too: all of them, in chunks of one snapshot."""
        return UpdateChoices(self.mode, self.only).storable

    @property
    def choices(self) -> dict[str, object]:
        """The choices of the form, for a request of another run."""
        return UpdateChoices(self.mode, store=self.store, resume=self.resume).as_asked

    @cached_property
    def goes_on(self) -> bool:
        """Whether what an earlier update, or an earlier try at this one, has brought may stay."""
        return self.resume or has_begun(self.context.store, self.update)

    def all_chunks(self, snapshot: DumpSnapshot) -> list[Chunk]:
        """The chunks of a snapshot, for whom nothing stays."""
        return chunks(snapshot.leaves(), self.context.config.bulk_tasks, self.stages)


@dataclass(frozen=True)
class _FillResult:
    """The result: rows, and errors by slave.

    Attributes:
        failed: the errors of slaves.
        well: whether any slave has everything.
        choices: the choices of the update, for slaves that were refused.
    """

    failed: dict[str, SluiceError]
    well: bool = False
    rows: int = 0
    chunks: int = 0
    choices: Mapping[str, object] = field(default_factory=dict)


def _stages(context: Context, source: str) -> Sequence[Sequence[TableName]]:
    """Watch all that is to be watched: the tables in the order in which they are loaded."""
    installed = reconcile(context, source)
    for cycle in installed.cycles:
        event("cycle", source=source, tables=",".join(map(str, cycle)), constraints="after the data")
    return installed.stages


def _fill(asked: _DumpRequest, here: Sequence[Leased], away: Sequence[Leased]) -> _FillResult:
    """Copy one snapshot to the slaves that can be reached, and into directories for the others."""
    failed = find_unfit(asked.context, (*here, *away))
    here, away = ([lease for lease in some if lease[0].slave not in failed] for some in (here, away))
    with ExitStack() as stack:
        return _copy_rows(asked, here, away, failed, stack)


def _copy_rows(
    asked: _DumpRequest,
    here: Sequence[Leased],
    away: Sequence[Leased],
    failed: dict[str, SluiceError],
    stack: ExitStack,
) -> _FillResult:
    context, source, update, load = asked.context, asked.source, asked.update, asked.load
    stages = [[name for name in stage if name in asked.only or not asked.only] for stage in asked.stages]
    settings = context.config.source(source)
    at = HeldPoint(context, [pair for pair, _ in here], stack) if asked.only and here else None
    database = context.source(source)
    stack.callback(database.close)
    snapshot = stack.enter_context(
        database.master.dump_snapshot(stages, context.manifest(source).end, at, settings.yields_after_s)
    )
    if not asked.only:
        snapshot.expect_complete()
    event("dump", source=source, update=update, snapshot=snapshot.snapshot.text, position=snapshot.position)
    dumped = DumpSource(
        snapshot.definitions(),
        database.master.sequences(),
        snapshot.snapshot,
        snapshot.position,
        FromMaster(settings.vendor, settings.connection, snapshot.id, tuple(settings.trusted_code)),
    )
    targets = [slave_target(context, pair, lease) for pair, lease in here]
    log = None if asked.store else context.config.initial_data_url
    files, unmade = directories(
        context, update, [pair for pair, _ in away], dumped.definitions, log, resume=asked.goes_on
    )
    for target in (*targets, *files):
        stack.callback(target.tables.close)
    if not asked.only:
        names = {table.name for table in dumped.definitions}
        # The snapshot has one session, which is not for several slaves at once.
        queued = snapshot.dropped()
        targets = for_each(targets, lambda target: pending_drops.carry_out(context, target, queued, names), failed)
    later = BlockPlan(context, source, snapshot, dumped.definitions) if asked.mode == ONLINE else None
    going_on: list[LoadTarget] = []
    if later:
        targets, going_on = later.split(targets, update, failed, resume=asked.resume)
    before: Resumption | ProgramUpdate | SomeTables
    if at:
        before = SomeTables(context, snapshot, asked.stages, update, asked.only, at)
    elif asked.mode == EXTERNAL:
        before = ProgramUpdate(context, source, update, database, snapshot, dumped.definitions, dumped.sequences)
    else:
        before = _resumption(asked, snapshot, dumped, later)
    bring = before.load if isinstance(before, ProgramUpdate) else load
    kept = (
        asked.storable
        and kept_versions.missing_version(context.store, source, context.config.source(source)) is not None
    )

    def unread(tables: Collection[TableName], *, again: bool) -> None:
        # If the locks were lost, who reads a chunk sees whether its table was rewritten since.
        with suppress(TransientError):
            if not again:
                snapshot.keep_locked(tables)

    once = partial(unread, again=bool(files) or kept)
    loaded, wrong = copy(context, source, update, dumped, targets, bring, before, once) if targets else ([], {})
    count = len(before.chunks())
    if files:
        resumption = _resumption(asked, snapshot, dumped, None)
        stored, others = copy(context, source, update, dumped, files, load, resumption, partial(unread, again=kept))
        loaded, wrong, count = loaded + stored, wrong | others, len(resumption.chunks())
    rows = sum(loaded[0].tables.progress().values()) if loaded else 0
    crash_if_asked(CrashPoint.DUMPED)
    held = dict((*here, *away))
    loaded = for_each(
        loaded, lambda target: start_stream.join(context, target, update, before.shown, later, held), wrong
    )
    if asked.storable:
        keep(context, source, update, dumped, load, lambda: asked.all_chunks(snapshot))
    for target in (*targets, *files):
        failed |= {pair.slave: wrong[target.name] for pair in target.pairs if target.name in wrong}
    return _FillResult(failed | unmade, bool(loaded or going_on), rows, count, asked.choices)


def _resumption(asked: _DumpRequest, snapshot: DumpSnapshot, dumped: DumpSource, later: BlockPlan | None) -> Resumption:
    return Resumption(
        asked.context,
        asked.source,
        asked.update,
        dumped.definitions,
        snapshot,
        asked.stages,
        later.tables if later else (),
        wanted=asked.goes_on,
    )


def _end(
    context: Context,
    source: str,
    update: int,
    held: Mapping[Pair, Lease],
    how: UpdateEvent,
    filled: _FillResult,
    again: Mapping[str, object] = {},
    unreachable: Sequence[str] = (),
) -> dict[str, object]:
    """Give up slaves that failed, record how the update ended, and return the result.

    Args:
        again: the choices in the form for slaves that failed.

    Raises:
        SluiceError: SLC-080, it is over for all of them.
        FencedError: SLC-050, another try of it goes on with one of them, which has the say.
    """
    failed = filled.failed
    for slave, error in failed.items():
        event("failed", slave=slave, error=error.message)
        pair = Pair(source, slave)
        still = partial(leases.expect_held, held=held[pair])
        # It may belong to another update by now.
        if replications.try_record(
            context.store, pair, ReplicationEvent.FAIL, error.message, update_id=update, also=still
        ):
            loss_approval.ask(context, pair, update, error, filled.choices)
    updates.finish(context.store, update, how)
    if how is UpdateEvent.FAIL:
        facts = "; ".join(f"{slave}: {error.message}" for slave, error in failed.items())
        causes = "; ".join(f"{slave}: {hints.for_update(error)}" for slave, error in failed.items())
        raise SluiceError(
            80,
            f"no slave could be loaded: {facts}",
            f"fix each ({causes}), then type: {shell.update(source, list(failed), **again)}",
        )
    ways_out = {slave: hints.for_update(error, Pair(source, slave), **again) for slave, error in failed.items()}
    reasons = {slave: f"{error.message}\nHINT: {ways_out[slave]}" for slave, error in failed.items()}
    counts = {"rows": filled.rows, "chunks": filled.chunks}
    return {"update": update, **counts, "failed": reasons, "unreachable": list(unreachable)}
