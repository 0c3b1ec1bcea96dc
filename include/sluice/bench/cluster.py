"""`bench cluster`: ten slaves of a source that is written to all the time, on a Spark cluster of two workers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from multiprocessing.synchronize import Event

import psutil

from sluice.bench import workload
from sluice.bench.report import BenchReport
from sluice.bench.server import SOURCE, BenchServer, private_server, receive
from sluice.bench.standalone import WORKERS, Standalone, cluster, cpu_s
from sluice.bench.workers import Workers
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.drain.run import drain
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress
from sluice.store import replications

SLAVES = 10
RATE = 1_000
CHANGES_A_TRANSACTION = 5
_ROWS = 20_000
# Longer than the slots are looked at when nothing is left to do: a run that begins asks for one step in any case.
_RUN_FOR_S = 30.0
# Each driver has a session, and each session Python workers of its own on each executor.
_WARM_S = 45.0
_IDLE_S = 5.0
_LOOK_S = 0.25
_PATIENCE_S = 300.0


def measure(scale: float, progress: Progress) -> BenchReport:
    """A minute of 1,000 changes/s, after three quarters of one in which everything starts; then seconds of nothing."""
    seconds, many = max(5.0, 60.0 * scale), max(2, round(SLAVES * min(scale, 1.0)))
    with private_server(progress, "max_connections = 300\n") as server:
        with progress.step("filling tables"):
            master, slaves = _fill(server, many)
            schedule = {"run_for_s": _RUN_FOR_S}
            context = server.context(
                workload.TABLES, slaves, {name: {"schedule": schedule} for name in slaves}, schedule=schedule
            )
            context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
            receive(context)
            server.hand_over(context)
        drivers = Workers(context, _publish, *(partial(_drain, slave=name) for name in slaves))
        with cluster(server.directory, progress) as spark, drivers.ready():
            writer = _Writer(server, master)
            lags = _Lags(context, list(slaves))
            with progress.step(f"{RATE:,} changes/s to {many} slaves") as step:
                writer.until(time.monotonic() + max(5.0, _WARM_S * min(scale, 1.0)), drivers.look)
                spent, made, began = _Spent(spark, drivers), writer.made, time.monotonic()
                writer.until(time.monotonic() + seconds, lags.look)
                drivers.look()
                rate = (writer.made - made) / (time.monotonic() - began)
                share = spent.share()
                step.update(f"{rate:,.0f}/s")
            with progress.step("until all is delivered, and nothing is to be done"):
                lags.until_delivered()
                held = _most_held_slots(spark)
            with progress.step("comparing"):
                equal = server.hold_the_same([master, *slaves.values()], workload.NAMES)
    return BenchReport(
        "cluster",
        {"slaves": many, "workers": WORKERS, "wanted_changes_per_s": RATE, "seconds": seconds},
        {
            "changes_per_s": rate,
            "driver_cpu_share": share,
            "cpu_s_per_1000_changes": spent.seconds / (rate * seconds) * 1000,
            "lag_s": lags.percentile(95),
            "lag_p50_s": lags.percentile(50),
            "slots_idle": held,
            "equal": equal,
        },
    )


def _fill(server: BenchServer, many: int) -> tuple[ConnectionInfo, dict[str, ConnectionInfo]]:
    master = server.database("master")
    with server.connect(master) as session:
        workload.create(session, _ROWS)
    return master, {f"slave_{n}": server.copy(master, f"slave_{n}") for n in range(1, many + 1)}


def _publish(context: Context, over: Event) -> None:
    from sluice.spark.step_factory import steps

    while not over.is_set():
        publish(context, SOURCE, steps=steps(context))


def _drain(context: Context, over: Event, slave: str) -> None:
    from sluice.spark.step_factory import steps

    while not over.is_set():
        drain(context, Pair(SOURCE, slave), steps=steps(context))


class _Writer:
    """Changes the master's rows, at a rate."""

    def __init__(self, server: BenchServer, master: ConnectionInfo) -> None:
        self._session = server.connect(master)
        self._orders = workload.Orders(_ROWS)
        self.made = 0

    def until(self, end: float, look: Callable[[], object]) -> None:
        """Write, and look around between two transactions."""
        began, made, looked = time.monotonic(), self.made, 0.0
        while (now := time.monotonic()) < end:
            if self.made - made < (now - began) * RATE:
                size = self._orders.dice.randint(1, 2 * CHANGES_A_TRANSACTION - 1)
                with self._session.transaction():
                    for text, values in islice(self._orders, size):
                        self._session.execute(text.encode(), values)
                self.made += size
            else:
                time.sleep(0.002)
            if now - looked > _LOOK_S:
                look()
                looked = now


class _Lags:
    """The delay of the slowest slave behind the log's end, sampled, in seconds."""

    def __init__(self, context: Context, slaves: Sequence[str]) -> None:
        self._context = context
        self._pairs = [Pair(SOURCE, slave) for slave in slaves]
        self._manifest = context.manifest(SOURCE)
        # When the log was first seen to go so far.
        self._ends: list[tuple[float, int]] = []
        self._found: list[float] = []

    def look(self) -> None:
        """Look once. What a slave has counts once the control store knows it."""
        self._found.append(self._lag())

    def _lag(self) -> float:
        now, end = time.monotonic(), self._manifest.end().ordinal
        if not self._ends or self._ends[-1][1] < end:
            self._ends.append((now, end))
        slowest = self._slowest()
        missing = [seen for seen, ordinal in self._ends if ordinal > slowest]
        return now - missing[0] if missing else 0.0

    def _slowest(self) -> int:
        return min(replications.get(self._context.store, pair).position.ordinal for pair in self._pairs)

    def until_delivered(self) -> None:
        """Wait until the slaves have all that is queued. Raises SluiceError SLC-947 if they do not get it."""
        database = self._context.source(SOURCE)
        end = time.monotonic() + _PATIENCE_S
        try:
            while database.capture.queued() or self._slowest() < self._manifest.end().ordinal:
                if time.monotonic() > end:
                    raise SluiceError(947, "the slaves do not get what was written", "look at what the jobs say above")
                time.sleep(_LOOK_S)
        finally:
            database.close()

    def percentile(self, share: int) -> float:
        """The lag that so many of a hundred looks found at the most."""
        return statistics.quantiles(self._found, n=100, method="inclusive")[share - 1]


class _Spent:
    """The processor time of drivers and of Spark since it was made."""

    def __init__(self, spark: Standalone, drivers: Workers) -> None:
        self._spark = spark
        self._drivers = [psutil.Process(pid) for pid in drivers.pids]
        self._begin = self._now()
        self.seconds = 0.0

    def share(self) -> float:
        """That of drivers."""
        drivers, spark = (end - begin for begin, end in zip(self._begin, self._now(), strict=True))
        self.seconds = drivers + spark
        return drivers / self.seconds

    def _now(self) -> tuple[float, float]:
        return cpu_s(self._drivers), self._spark.cpu_s()


def _most_held_slots(spark: Standalone) -> int:
    """The most slots that were held during some seconds in which nothing came."""
    most, end = 0, time.monotonic() + _IDLE_S
    while time.monotonic() < end:
        most = max(most, spark.tasks())
        time.sleep(_LOOK_S)
    return most
