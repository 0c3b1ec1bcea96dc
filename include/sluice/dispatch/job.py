"""The drain of one slave: one lease, many batches, the gate looked at before each, until the run's time is over."""

from __future__ import annotations

import time

from sluice.context import Context
from sluice.control import leases, replications
from sluice.control.leases import Lease
from sluice.dispatch.drain import Drain
from sluice.dispatch.gate import Gate
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.publish.job import leased
from sluice.state.dispatcher import Hold

_RENEW_S = 5.0
_DURABLE_S = 3.0


def drain(context: Context, pair: Pair, *, once: bool = False) -> dict[str, object]:
    """Deliver until the schedule's linger time is over, the gate shuts, or all is delivered if `once`.

    Returns:
        transactions, changes and tolerated rows delivered, the position, and why the gate is shut, if it is.

    Raises:
        SluiceError: terminal: the slave is on STANDBY (EXCEPTION) with this error until it is activated (R8).
    """
    schedule = context.config.replication(pair.source, pair.slave).schedule
    switch = context.switch(pair)
    gate = Gate(context.store, pair, switch)
    if shut := gate.begin():
        event("standby", slave=pair.slave, why=shut)
        return {"slave": pair.slave, "transactions": 0, "changes": 0, "tolerated": 0, "standby": shut}
    slave = context.slave(pair)
    try:
        with leased(context.store, f"drain {pair}") as held:
            size = context.config.slave(pair.slave).max_batch
            run = _Run(context, gate, Drain(slave, context.manifest(pair.source), context.files(), size), held, pair)
            return run.until(time.monotonic() + (0.0 if once else schedule.linger_s), schedule.poll_s)
    except (TransientError, FencedError):
        raise
    except SluiceError as error:
        replications.shut(context.store, pair, Hold.EXCEPTION, str(error))
        raise
    finally:
        slave.close()


class _Run:
    """One run of a drain."""

    def __init__(self, context: Context, gate: Gate, drain_: Drain, held: Lease, pair: Pair) -> None:
        self._store = context.store
        self._gate = gate
        self._drain = drain_
        self._held = held
        self._pair = pair
        self._renewed = self._durable_at = time.monotonic()
        self._durable = drain_.begin(held.epoch)
        self._tolerated = 0
        self.transactions = self.changes = self.tolerated = 0

    def until(self, end: float, poll_s: float) -> dict[str, object]:
        """Deliver, then sleep, until the time is over or the gate shuts."""
        shut = ""
        try:
            while not shut:
                delivered = self._drain.deliver()
                if delivered:
                    self.transactions += delivered.transactions
                    self.changes += delivered.changes
                    self.tolerated += delivered.tolerated
                    event(
                        "delivered",
                        slave=self._pair.slave,
                        position=delivered.position,
                        changes=delivered.changes,
                        tolerated=delivered.tolerated,
                    )
                elif time.monotonic() >= end:
                    break
                else:
                    time.sleep(poll_s)
                self._keep_up()
                shut = self._gate.shut()
        finally:
            self._record()
        if shut:
            event("standby", slave=self._pair.slave, why=shut)
        return {
            "slave": self._pair.slave,
            "transactions": self.transactions,
            "changes": self.changes,
            "tolerated": self.tolerated,
            "position": str(self._drain.position),
            "standby": shut,
        }

    def _keep_up(self) -> None:
        now = time.monotonic()
        if now - self._renewed > _RENEW_S:
            leases.renew(self._store, self._held)
            self._renewed = now
        if self._drain.position != self._durable and now - self._durable_at > _DURABLE_S:
            self._record()

    def _record(self) -> None:
        """Make the slave durable, then tell the store how far it is."""
        if self._drain.position != self._durable:
            self._durable = self._drain.make_durable()
            replications.delivered(self._store, self._pair, self._durable, self.tolerated - self._tolerated)
            self._tolerated = self.tolerated
            self._durable_at = time.monotonic()
