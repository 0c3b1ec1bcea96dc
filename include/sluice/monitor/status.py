"""The status of all replications: the table of `./sluice status` with its notes, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, func, select

from sluice.changelog import initial_data
from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.errors import TransientError
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.names import Pair
from sluice.model.progress import LoadProgress
from sluice.model.row_conflict import Tolerated
from sluice.monitor import advice
from sluice.paths import at_home
from sluice.state.dispatcher import Dispatcher, Hold, shown
from sluice.state.initial_update import UpdateState
from sluice.state.replication import DELIVERING, Status
from sluice.store import blocked, replications, transfers, updates
from sluice.store.replications import ReplicationState, behind
from sluice.store.tables import comparison, for_pair, initial_update
from sluice.store.transfers import Transfer


@dataclass(frozen=True)
class ReplicationStatus:
    """One replication. `holdback` counts transactions; `lag_s` is the age of the oldest of them in the log.

    Attributes:
        why: why it does not go on, what is safe and what to type, a line each; empty if all is well.
        publishing: the same of its source.
        unwatched: tables that its source is to watch and does not, each with its reason and what to type.
        outdated: that event triggers of another version are there, and what to type.
        complete: none of these has rows that no slave gets.
        odd: numbers of row conflicts since it was filled, by table of the slave and by kind; `tolerated` is their
            sum.
        loading: how far it is in being filled, if it is.
        stuck: the transaction that it stands in front of: ordinal, trans_key, first_key, last_key, touched tables.
        skipped: tables of the master that it is not given, and how many changes that were.
        excluded: entries of the configuration for tables that it does not get.
        answers: its server does.
        resting: that no drain is at work on what it lacks, and when the next one starts.
    """

    source: str
    slave: str
    status: str
    colour: str
    dispatcher: str
    why: str
    position: str
    holdback: int
    lag_s: float
    loaded: str
    tolerated: int
    compared: int | None
    different: int | None
    publishing: str = ""
    unwatched: Sequence[str] = ()
    outdated: str = ""
    complete: bool = True
    odd: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stuck: BlockingTransaction | None = None
    loading: LoadProgress | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    excluded: Sequence[str] = ()
    answers: bool = True
    resting: str = ""

    @property
    def well(self) -> bool:
        """Whether it gets all that it is to get, and was equal when it was compared last."""
        active = (self.status, self.dispatcher) == (Status.NORMAL, Dispatcher.ACTIVE)
        lacking = self.skipped or self.different or self.publishing
        return active and self.answers and self.complete and not lacking


def statuses(context: Context, *pairs: Pair) -> list[ReplicationStatus]:
    """These replications; every configured one, in the file's order, if none is named."""
    for pair in pairs:
        context.config.replication(pair.source, pair.slave)
    pairs = pairs or tuple(Pair(one.source, one.slave) for one in context.config.replications)
    sources = {name: advice.for_source(context, name) for name in dict.fromkeys(pair.source for pair in pairs)}
    absent = offline_slaves.unanswered(context, pairs)
    return [_standing(context, pair, sources[pair.source], absent.get(pair)) for pair in pairs]


def brief(context: Context, pair: Pair) -> str:
    """One replication as the store knows it, in a few lines, for the notes of its drain's runs."""
    row = _standing(context, pair, advice.SourceNotes(), None)
    head = f"{row.status}, {row.dispatcher}: position {row.position}, holdback {row.holdback:,}, lag {row.lag_s:.0f} s"
    return "\n".join(filter(None, [head, row.why]))


def as_json(rows: Sequence[ReplicationStatus]) -> str:
    """The same for programs."""
    return json.dumps([asdict(row) for row in rows], indent=2)


def as_table(rows: Sequence[ReplicationStatus]) -> str:
    """The same for people."""
    several = len({row.source for row in rows}) > 1
    head = ("SLAVE", "STATUS", "DISPATCHER", "POSITION", "HOLDBACK", "LAG", "ROWS COMPARED", "ROWS DIFFERENT")
    body = [
        (
            f"{row.source}->{row.slave}" if several else row.slave,
            row.status + (f" {row.loaded}" if row.loaded else ""),
            row.dispatcher,
            row.position,
            f"{row.holdback:,}",
            f"{row.lag_s:.0f} s",
            "-" if row.compared is None else f"{row.compared:,}",
            "-" if row.different is None else f"{row.different:,}",
        )
        for row in rows
    ]
    widths = [max(len(line[index]) for line in (head, *body)) for index in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *body)]
    notes = {f"source {row.source}: {row.publishing}": None for row in rows if row.publishing}
    notes |= {f"source {row.source}: {one}": None for row in rows for one in row.unwatched}
    notes |= {f"source {row.source}: {row.outdated}": None for row in rows if row.outdated}
    notes |= {f"slave {row.slave} of {row.source}: {row.loading.summary}": None for row in rows if row.loading}
    notes |= {f"slave {row.slave} of {row.source}: {row.why}": None for row in rows if row.why}
    notes |= {f"slave {row.slave} of {row.source}: {row.resting}": None for row in rows if row.resting}
    return "\n".join([*(line.rstrip() for line in lines), *(note.replace("\n", "\n    ") for note in notes)])


def _standing(
    context: Context, pair: Pair, source: advice.SourceNotes, absent: TransientError | None
) -> ReplicationStatus:
    known = replications.get(context.store, pair)
    holds = replications.holds(context.store, pair)
    odd = replications.conflicts(context.store, pair)
    carried = transfers.pending(context.store, pair)
    awaited = carried if carried and not carried.is_in else None
    skipped = blocked.left_out(context.store, pair)
    kinds = frozenset(holds)
    if (paused := context.switch(pair).paused()) and Hold.EXCEPTION not in kinds:
        kinds |= {Hold.ADMIN}
    holdback, lag_s = behind(context.store, pair)
    with context.store.begin() as connection:
        compared, different = _compared(connection, pair)
        loaded, loading = _loaded(connection, known, awaited)
    stored = at_home(context.config.source(pair.source).initial_files.location)
    return ReplicationStatus(
        source=pair.source,
        slave=pair.slave,
        status=known.status,
        colour=known.status.colour,
        dispatcher=shown(kinds),
        why="\n".join(
            [
                *advice.for_absence(absent, known.status),
                *advice.for_status(context.store, pair, known.status, different, stored),
                *advice.for_gate(pair, holds, paused, _awaited(context, known, carried)),
                *advice.for_conflicts(pair, odd),
                *advice.for_skipped_tables(pair, skipped),
            ]
        ),
        position=str(known.position),
        holdback=holdback,
        lag_s=lag_s,
        loaded=loaded,
        loading=loading,
        tolerated=odd.total(),
        odd=_by_table(odd),
        stuck=blocked.standing(context.store, pair),
        skipped={str(table): one.changes for table, one in skipped.items()},
        excluded=context.config.slave(pair.slave).mapper.exclusions,
        compared=compared,
        different=different,
        publishing=source.publishing,
        unwatched=source.unwatched,
        outdated=source.outdated,
        complete=not source.loses,
        answers=absent is None,
        resting=advice.for_pause(context, pair, holdback)
        if known.status in DELIVERING and not (kinds or absent)
        else "",
    )


def _awaited(context: Context, known: ReplicationState, carried: Transfer | None) -> str | None:
    """A note about the transfer that has to end before the gate of a slave opens; None if there is none."""
    if carried and carried.is_in:
        return advice.for_loaded_files(carried)
    if updates.is_put_off(context.store, known) or (carried and initial_data.holds(context.config, carried)):
        return advice.for_kept(known.pair, carried, {} if carried else updates.asked(context.store, known.update_id))
    location = at_home(context.config.slave(known.pair.slave).initial_files.location)
    return advice.for_transfer(carried, location) if carried else None


def _by_table(odd: Tolerated) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (table, conflict), rows in sorted(odd.items()):
        found.setdefault(str(table), {})[conflict] = rows
    return found


def _compared(connection: Connection, pair: Pair) -> tuple[int | None, int | None]:
    ours = for_pair(comparison, pair)
    newest = select(func.max(comparison.c.point)).where(ours).scalar_subquery()
    sums = select(func.sum(comparison.c.compared), func.sum(comparison.c.different)).where(
        ours, comparison.c.point == newest
    )
    compared, different = connection.execute(sums).one()
    return (None, None) if compared is None else (int(compared), int(different))


def _loaded(
    connection: Connection, known: ReplicationState, awaited: Transfer | None
) -> tuple[str, LoadProgress | None]:
    """The state and the progress of the load of a slave, once it has begun: by blocks, chunks, carried files or
    programs."""
    row = connection.execute(select(initial_update).where(initial_update.c.id == known.update_id)).one_or_none()
    if row is None or not (row.chunks or row.bytes_planned):
        return "", None
    found = updates.progress(row)
    if row.state == UpdateState.LOADING_BLOCKS and known.status is Status.TRANSITION:
        return f"{found.rows:,} rows in blocks", found
    if known.status is Status.INITIAL or (awaited and awaited.epoch is not None):
        return f"{found.chunks_done}/{found.chunks} chunks" if found.chunks else "by programs", found
    return "", None
