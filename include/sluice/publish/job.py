"""The periodic drain of ITEMS: one lease, many sweeps, until the run's time is over."""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import timedelta

from sluice.context import Context
from sluice.control import leases, replications
from sluice.control.leases import Lease
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import Pair
from sluice.publish.publisher import Published, Publisher
from sluice.publish.retention import trim
from sluice.state.replication import Event, Status
from sluice.vendors.protocol import SourceDatabase
from sluice.verify import points

_RENEW_S = 5.0
_TRIM_S = 300.0
_ANOTHER_SOURCE = 48


def publish(context: Context, source: str, *, once: bool = False) -> dict[str, object]:
    """Publish until the schedule's linger time is over, or all that is queued if `once`.

    Returns:
        transactions, changes and segments published, and the ordinal the log ends with.
    """
    settings = context.config.source(source)
    database = context.source(source)
    if not database.is_installed():
        context.store.migrate()
        database.install(context.watched(source))
    with leases.leased(context.store, f"publish {source}") as held:
        publisher = Publisher(source, database, context.manifest(source), context.files(), held)
        run = _Run(context, source, database, publisher, held)
        try:
            publisher.begin()
            linger = 0.0 if once else settings.schedule.linger_s
            run.until(time.monotonic() + linger, settings.schedule.poll_s)
        except SluiceError as error:
            if error.code == _ANOTHER_SOURCE:
                _break(context, source, error)
            raise
        finally:
            run.close()
            database.close()
    end = context.manifest(source).end()
    event("published", source=source, transactions=run.transactions, changes=run.changes, end=end)
    return {
        "source": source,
        "transactions": run.transactions,
        "changes": run.changes,
        "segments": run.segments,
        "ordinal": end.ordinal,
    }


class _Run:
    """One run: sweeps, answers to requests for points, upkeep."""

    def __init__(
        self, context: Context, source: str, database: SourceDatabase, publisher: Publisher, held: Lease
    ) -> None:
        self._context = context
        self._source = source
        self._database = database
        self._publisher = publisher
        self._held = held
        self._snapshots: dict[int, ExitStack] = {}
        self._renewed = time.monotonic()
        self._trimmed = float("-inf")
        self.transactions = self.changes = self.segments = 0

    def until(self, end: float, poll_s: float) -> None:
        """Sweep, then sleep, until the time is over and nobody reads in a snapshot of ours."""
        bound = self._context.config.source(self._source).segments.max_changes
        while True:
            for request in points.requested(self._context.store, self._source):
                self._answer(request)
            published = self._publisher.publish(bound) if self._database.queued() else Published()
            self._count(published)
            self._keep_up()
            if published.more:
                continue
            if time.monotonic() >= end and not self._snapshots:
                return
            time.sleep(poll_s)

    def close(self) -> None:
        """End every snapshot still held."""
        for stack in self._snapshots.values():
            stack.close()

    def _answer(self, request: int) -> None:
        stack = ExitStack()
        exported = stack.enter_context(self._database.exported_snapshot())
        try:
            self._count(self._publisher.publish(None, exported, request))
        except BaseException:
            stack.close()
            raise
        self._snapshots[request] = stack
        event("point", source=self._source, request=request, snapshot=exported[0])

    def _count(self, published: Published) -> None:
        if published.changes:
            self.transactions += published.transactions
            self.changes += published.changes
            self.segments += 1
            event(
                "segment",
                source=self._source,
                number=published.segment,
                transactions=published.transactions,
                changes=published.changes,
            )

    def _keep_up(self) -> None:
        now = time.monotonic()
        if self._snapshots:
            alive = points.alive(self._context.store, list(self._snapshots))
            for request in self._snapshots.keys() - alive:
                self._snapshots.pop(request).close()
        if now - self._renewed > _RENEW_S:
            leases.renew(self._context.store, self._held)
            self._renewed = now
        if now - self._trimmed > _TRIM_S:
            self._trimmed = now
            settings = self._context.config.source(self._source).segments
            trim(
                self._context,
                self._source,
                keep=timedelta(hours=settings.keep_hours),
                warn_bytes=settings.warn_bytes,
            )


def _break(context: Context, source: str, error: SluiceError) -> None:
    """The log no longer continues this source: every slave that relied on it is INCONSISTENT."""
    for slave in context.config.slaves_of(source):
        pair = Pair(source, slave)
        if replications.get(context.store, pair).status in {Status.NORMAL, Status.TRANSITION, Status.INITIAL}:
            replications.happen(context.store, pair, Event.BREAK, error.fact)
