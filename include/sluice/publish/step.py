"""A step of a publisher: sweeps of ITEMS into the change log, for some seconds or until nothing is left.

It opens source and log by itself, under the lease of the publisher that asks for it; that is `run.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from sluice.capture.reconcile import lose_rows
from sluice.context import Context
from sluice.errors import AlteredMeanwhile
from sluice.model.sequence import SequenceValue
from sluice.publish.change_filter import PublishFilter
from sluice.publish.publisher import PointRequest, Publisher, PublishResult
from sluice.publish.queue_guard import QueueGuard
from sluice.publish.transformer import load
from sluice.steps import Result
from sluice.store import statement_results
from sluice.store.leases import Lease
from sluice.vendors.protocol.master import Source

# A table may be altered in a loop. For these seconds a look is tried between two of the commands.
_LOOKS_S = 10.0


@dataclass(frozen=True)
class Swept(PublishResult):
    """The result of a step.

    Attributes:
        sequences: the values that are in the log, of sequences that moved; as `SequenceValue.to_json` writes them.
        backlog: see `Capture.backlog`.
        sweep_s: so long the last sweep took that published something.
    """

    sequences: Sequence[Mapping[str, Any]] = field(default_factory=list)
    backlog: str | None = None
    sweep_s: float | None = None


def publisher_of(
    context: Context, source: str, database: Source, lease: Lease, logged: Sequence[SequenceValue] = ()
) -> Publisher:
    """The publisher of a source as it is configured.

    Args:
        logged: values of sequences that are in the log already.
    """
    settings = context.config.source(source)
    genuine = QueueGuard(
        partial(statement_results.find_issued, context.store, source),
        partial(statement_results.set_trans_key, context.store),
    )
    transformer = load(settings.messages.transformer, source) if settings.messages.transformer else None
    outgoing = PublishFilter(settings.messages.send_unchanged_updates, transformer, settings.max_row_bytes)
    lose = partial(lose_rows, context, source)
    return Publisher(
        source, database, context.manifest(source), context.files(), lease, outgoing, genuine, logged, lose
    )


def sweep(
    context: Context,
    source: str,
    lease: Lease,
    bound: int,
    seconds: float,
    logged: Sequence[Mapping[str, Any]] = (),
    backlog: str | None = None,
    asked: PointRequest | None = None,
) -> Result:
    """Publish what is queued, sweep by sweep.

    Args:
        bound: of each sweep, in changes.
        logged: values of sequences that are in the log already.
        backlog: what the step before left of a long queue, which need not be looked over again.
        asked: publish up to a point, see `Publisher.publish`.

    Returns:
        the fields of `Swept`.

    Raises:
        SluiceError: see `Publisher.publish`; SLC-095, SLC-036, for some seconds no look at tables that are altered held
            until the sweep.
    """
    database = context.source(source)
    total, sweep_s = PublishResult(more=True), None
    try:
        publisher = publisher_of(context, source, database, lease, [SequenceValue.from_json(value) for value in logged])
        publisher.open_log()
        if backlog:
            database.capture.go_on_with(backlog)
        since = time.monotonic()
        end, looked = since + seconds, False
        while True:
            try:
                if not looked:
                    # The sweep compares what the tables are with what this has recorded of them.
                    database.capture.poll_ddl()
                    looked = True
                began = time.monotonic()
                swept = publisher.publish(bound, asked)
                total += swept
                if swept.changes:
                    sweep_s = time.monotonic() - began
                since = time.monotonic()
            except AlteredMeanwhile:
                if time.monotonic() > since + _LOOKS_S:
                    raise
                looked = False
                continue
            if not total.more or time.monotonic() >= end:
                break
        left = database.capture.backlog()
    finally:
        database.close()
    sequences = [value.to_json() for value in publisher.logged_sequences]
    return asdict(Swept(**vars(total), sequences=sequences, backlog=left, sweep_s=sweep_s))
