"""The first step: the slave's gate shuts, and what is held back is obsolete (guide: "Preparing the update").

Airflow is asked before, and told after, what the databases are asked and told as one work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from sluice import shell
from sluice.airflow_api import standby
from sluice.capture.unwatched import expect_present
from sluice.context import Context
from sluice.errors import ConfigError, Lossy, SluiceError
from sluice.initial_update import loss_approval
from sluice.initial_update.cancel import Cancelled, end_runs, end_updates
from sluice.initial_update.fence import fence_out
from sluice.initial_update.options import ONLINE, SNAPSHOT, expect_together
from sluice.initial_update.participants import restart
from sluice.initial_update.preflight import UpdateChoices, UpdateRefused, expect_possible
from sluice.log import event
from sluice.model.key_range import KeyInterval
from sluice.model.names import Pair, TableName
from sluice.state.initial_update import UpdateState
from sluice.state.replication import UNDER_WAY, Status
from sluice.steps import Do, Result, do_here
from sluice.store import (
    blocked,
    cascades,
    kept_versions,
    leases,
    loaded_slaves,
    replications,
    transfers,
    updates,
    upgrades,
)
from sluice.throttle import active


@dataclass(frozen=True)
class InhibitRequest:
    """The choices of a run, as they were typed.

    Attributes:
        tables: the ones to be filled; all if none is named. The others keep their rows then.
        keys: ranges of keys, as `sluice.model.key_range` reads them; all other rows stay.
        mode: how rows are to come; as they may, if it is not given.
        store, version: the data is to be carried by hand, or is not the newest; see `sluice.initial_update.dump`.
        force: cancel the updates that they are in.
        resume: they go on where an update broke off, if they can, and perhaps with their stream as it is.
        cascade, after: what is filled once they have been, and what led to this; see `sluice.store.cascades`.
    """

    tables: Sequence[TableName] = ()
    keys: Sequence[str] = ()
    mode: str = ""
    store: bool = False
    version: str = ""
    force: bool = False
    resume: bool = False
    cascade: str = ""
    after: Sequence[str] = ()


ALL = InhibitRequest()


@dataclass(frozen=True)
class _Heard:
    """The answers of Airflow about a slave.

    Attributes:
        paused_by: the person who paused its drain.
        update: the one that is under way, if there is one.
        runs: at work on it; None if Airflow does not tell.
    """

    paused_by: str | None
    update: int | None = None
    runs: Sequence[str] | None = None


def inhibit(
    context: Context, source: str, slaves: Sequence[str], request: InhibitRequest = ALL, do: Do | None = None
) -> dict[str, object]:
    """Ask for an initial update of these slaves: INITIAL, STANDBY, and the running drain fenced out.

    An update whose run is gone is given up for it.

    Args:
        do: does what databases are asked and told; else it is done here.

    Raises:
        SluiceError: SLC-020 if one of them is in an update already, if it waits for data that is on its way by
            hand, SLC-096 if a person paused its drain, SLC-021 if what this run asked for was cancelled, SLC-040,
            and SLC-196 if these tables alone cannot be filled, SLC-040 if one of them does not get them,
            SLC-230 if it would take rows that others bring, SLC-236 if `max_active` cannot be kept to, SLC-640
            and SLC-099 if these keys cannot be filled, SLC-914 if choices do not go together; whatever else
            would stop the update and can be known, as SLC-960; see `expect_possible`. All are left as they were.
    """
    pairs = [Pair(source, slave) for slave in dict.fromkeys(slaves)]
    for pair in pairs:
        context.config.replication(source, pair.slave)
    if not pairs:
        known = ", ".join(context.config.slaves_of(source))
        raise ConfigError(914, "no slave was named", f"name at least one of them as `slaves`: {known}")
    context.store.migrate()
    pairs = _drop_cancelled(context, pairs)
    heard = {pair: _ask_airflow(context, pair) for pair in pairs}
    done = (do or do_here(context))(partial(_shut_gates, source=source, heard=heard, request=request))
    end_runs(context, {Pair(source, slave): number for slave, number in done["ended"].items()}, Cancelled())
    if refused := done.get("refused"):
        code, fact, hint = refused
        error = SluiceError(code, fact, hint)
        for slave, number in done["to_allow"].items():
            loss_approval.send(context, Pair(source, slave), number, error)
        raise error
    return {"update": done["update"], "slaves": done["slaves"]}


def _ask_airflow(context: Context, pair: Pair) -> _Heard:
    paused_by = standby.paused_by(context.store, pair, context.switch(pair))
    known = replications.get(context.store, pair)
    if known.status not in UNDER_WAY or updates.is_put_off(context.store, known):
        return _Heard(paused_by)
    runs = context.runs().at_work(pair, updates.run_of(context.store, known.update_id))
    return _Heard(paused_by, known.update_id, runs)


def _shut_gates(context: Context, source: str, heard: Mapping[Pair, _Heard], request: InhibitRequest) -> Result:
    """Check what is asked for, and do it. Updates that it ended, and what people may allow, are told in its result."""
    upgrades.expect_none(context.store, source)
    pairs, tables, keys, resume = list(heard), request.tables, request.keys, request.resume
    mode = request.mode or (ONLINE if keys else SNAPSHOT)
    between = _parse_keys(keys, tables, mode)
    if mode == ONLINE and context.config.source(source).blocks.max_active is not None:
        active(context, source)
    present = context.present(source)
    only = _chosen_tables(
        context, source, present, [*tables, *(interval.table for interval in between)], whole=not keys
    )
    older = kept_versions.requested_version(context.config.source(source), request.version)
    expect_together(mode, some=bool(only), keys=bool(keys), store=request.store, older=older)
    following = None if request.cascade.strip() == cascades.NONE else context.config.parse_pair(request.cascade)
    number, begun = _current_update(context, pairs)
    wanted = [pair for pair in pairs if pair not in begun]
    for pair in wanted:
        if not request.force:
            _refuse_under_way(context, pair, heard[pair])
        _refuse_paused(pair, heard[pair])
        _refuse_excluded(context, pair, only)
        if only:
            _refuse_inexact(context, pair, only, whole=not keys)
    if wanted:
        newest = older == context.config.source(source).messages.version
        choices = UpdateChoices(mode, only, between, request.store, resume, "" if newest else older)
        try:
            expect_possible(context, wanted, choices)
        except UpdateRefused as refused:
            told = [refused.code, refused.fact, refused.hint]
            return {"ended": {}, "refused": told, "to_allow": _prepare_questions(context, refused, choices, keys)}
    ended = end_updates(context, wanted, why="another initial update was asked for")
    number = number or updates.new(context.store, source, only, keys)
    with ExitStack() as stack:
        # Before the state: a job that cancels this update has a later epoch, and is not fenced out here.
        held = {
            pair: stack.enter_context(leases.hold_lease(context.store, f"drain {pair}", force=True)) for pair in pairs
        }
        replications.request(context.store, wanted, number)
        # A run that begins with this task wants all of it anew.
        loaded_slaves.keep_current(context.store, number, {})
        for pair in pairs:
            cascades.remember(context.store, pair, request.cascade, following, request.after)
        # What is held back is obsolete, unless tables keep their rows. The dump begins at the log's end of then; a
        # failure ends in INCONSISTENT. Somebody may have cancelled it by now for some of them.
        if not (only or resume):
            pairs = restart(context, pairs, context.manifest(source).end(), number)
        for pair in pairs:
            fence_out(context, pair, held[pair])
            event("inhibited", slave=pair.slave, update=number)
    return {
        "update": number,
        "slaves": [pair.slave for pair in pairs],
        "ended": {pair.slave: update for pair, update in ended.items()},
    }


def _refuse_under_way(context: Context, pair: Pair, heard: _Heard) -> None:
    """Refuse a second update while one is running; one whose job died without a report is over."""
    if carried := transfers.pending_transfer(context.store, pair):
        raise SluiceError(
            20,
            f"initial data {'was carried' if carried.is_in else 'is on its way'} to slave {pair.slave} by hand, "
            f"see `{shell.status()}`",
            "nothing was changed; copy it, if it is not there, and trigger receive_initial_files. To give it up, "
            "trigger initial_update with `force`",
        )
    known = replications.get(context.store, pair)
    if known.status not in UNDER_WAY or updates.is_put_off(context.store, known):
        return
    # Of an update that began since, Airflow was not asked.
    runs = heard.runs if heard.update == known.update_id else None
    if runs is None or runs:
        named = ", ".join(runs or [updates.run_of(context.store, known.update_id)])
        raise SluiceError(
            20,
            f"an initial update of slave {pair.slave} is under way, in {named}",
            f"nothing was changed; wait for it. Or end it, with {shell.cancel(pair)}, and trigger initial_update "
            "again, or at once with `force`",
        )


def _prepare_questions(
    context: Context, refused: UpdateRefused, choices: UpdateChoices, keys: Sequence[str]
) -> dict[str, int]:
    """Put losses that people may allow as questions; the numbers of the refused updates, by slave."""
    prepared = {}
    for pair, error in refused.why.items():
        if isinstance(error, Lossy) and error.allowable:
            number = updates.new(context.store, pair.source, choices.tables, keys, UpdateState.REFUSED)
            loss_approval.prepare(context, pair, number, choices.as_asked)
            prepared[pair.slave] = number
    return prepared


def _parse_keys(keys: Sequence[str], tables: Sequence[TableName], mode: str) -> list[KeyInterval]:
    """The ranges of keys that are named."""
    try:
        if keys and mode != ONLINE:
            raise ValueError(f"the mode is {mode}, and not {ONLINE}")
        if keys and tables:
            raise ValueError("`tables` are named as well")
        return [KeyInterval.parse(text) for text in keys]
    except ValueError as error:
        raise SluiceError(
            640,
            f"{'; '.join(keys)} cannot be filled: {error}",
            f"nothing was changed; trigger initial_update with mode {ONLINE}, without `tables`, and with `key_ranges` "
            "that are written like this: public.legs: 2013, 'UA' .. 2013, 'WN'",
        ) from None


def _chosen_tables(
    context: Context, source: str, present: Mapping[TableName, TableName], named: Sequence[TableName], *, whole: bool
) -> frozenset[TableName]:
    """The named tables, if they are not all that exist, or not all of their rows."""
    expect_present(context, source, present, named)
    return frozenset() if present.keys() == set(named) and whole else frozenset(named)


def _refuse_excluded(context: Context, pair: Pair, only: frozenset[TableName]) -> None:
    """Refuse tables that the slave excludes."""
    if excluded := sorted(filter(context.config.slave(pair.slave).mapper.excludes, only)):
        raise SluiceError(
            40,
            f"slave {pair.slave} does not get {', '.join(map(str, excluded))}: its `tables` exclude that",
            "nothing was changed; name other tables or slaves, or take `exclude` out of the slave's entry",
        )


def _refuse_inexact(context: Context, pair: Pair, only: frozenset[TableName], *, whole: bool) -> None:
    """Refuse a partial update of a slave whose other tables are not consistent.

    Args:
        whole: all rows of these tables are to come.
    """
    store, known = context.store, replications.get(context.store, pair)
    lacking = updates.tables(store, known.update_id) if known.status is not Status.NORMAL else frozenset()
    enough = whole or bool(updates.keys(store, known.update_id))
    left_out = frozenset() if whole else blocked.skipped_tables(store, pair).keys() & only
    broke_off = known.status is not Status.UNCONFIGURED and lacking and lacking <= only and enough
    if (known.status is Status.NORMAL or broke_off) and not left_out:
        return
    lacking |= left_out
    missing = f"; it lacks {', '.join(map(str, sorted(lacking)))}" if lacking else ""
    raise SluiceError(
        196,
        f"slave {pair.slave} is {known.status}: what is not to be filled may not be as on the master{missing}",
        f"nothing was changed; trigger an update of all tables: {shell.update(pair.source, [pair.slave])}",
    )


def _refuse_paused(pair: Pair, heard: _Heard) -> None:
    """A person's pause is respected, so the update could not end: say so before anything is emptied."""
    if who := heard.paused_by:
        raise SluiceError(
            96,
            f"an initial update of {pair.slave} could not end: its drain DAG was paused by {who}",
            f"nothing was changed; type: {shell.unpause(pair)}, then trigger initial_update again",
        )


def _drop_cancelled(context: Context, pairs: Sequence[Pair]) -> list[Pair]:
    """The slaves whose update by this run was not cancelled before its retry."""
    gone = updates.cancelled_slaves(context.store)
    left = [pair for pair in pairs if pair.slave not in gone]
    if not left:
        anew = shell.update(pairs[0].source, [pair.slave for pair in pairs])
        raise SluiceError(
            21,
            f"the initial update that this run asked for was cancelled, for {', '.join(sorted(gone))}",
            f"nothing was changed; if it is wanted all the same, trigger it again: {anew}",
        )
    return left


def _current_update(context: Context, pairs: Sequence[Pair]) -> tuple[int | None, list[Pair]]:
    """The update that this run has asked for already, which a retried task finds, and those of these that are in it."""
    known = [replications.get(context.store, pair) for pair in pairs]
    ours = [state for state in known if state.status is Status.INITIAL and updates.is_ours(context.store, state)]
    return (ours[0].update_id if ours else None), [state.pair for state in ours]
