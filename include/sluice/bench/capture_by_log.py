"""`bench capture --capture log`: the application beside one whose server keeps no more log than it needs for itself.

Reading the log costs the master while the publisher is at work, and triggers cost it at once. So the processor time of
server and publisher is compared as well, with the publisher running in both ways.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from multiprocessing.synchronize import Event

import psutil

from sluice.bench import pgbench
from sluice.bench.application import SIDES, WITH, WITHOUT, Bulk, Transactions, prepare, quiet, sizes
from sluice.bench.report import BenchReport, alternate
from sluice.bench.server import LOG, SETTINGS, SOURCE, TRIGGERS, BenchServer, private_server
from sluice.bench.workers import Workers, until
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress

# Rows that a transaction of TPC-B changes.
_CHANGES = 4
_LOOK_S = 0.1


def measure(scale: float, progress: Progress) -> BenchReport:
    """The publisher does not run for the rates; for the processor time a change it does."""
    run_s, rows, branches = sizes(scale)
    with private_server(progress, SETTINGS[TRIGGERS]) as plain, private_server(progress, SETTINGS[LOG]) as logical:
        servers = {WITHOUT: plain, WITH: logical}
        infos = {side: prepare(servers[side], side, rows, branches, progress, LOG) for side in SIDES}

        def measure_sides(what: str, measures: Mapping[str, Callable[[], float]]) -> tuple[float, float]:
            named = {f"{what} {side} capture": measure for side, measure in measures.items()}
            without, with_ = alternate(progress, named).values()
            return without, with_

        def runs(*, durable: bool = False, protocol: str = "simple") -> dict[str, Transactions]:
            return {side: Transactions(servers[side], infos[side], run_s, durable, protocol) for side in SIDES}

        unflushed = runs()
        fast = measure_sides("unflushed transactions/s", unflushed)
        quick = measure_sides("prepared unflushed transactions/s", runs(protocol="prepared"))
        durable = measure_sides("durable transactions/s", runs(durable=True))
        bulk = {side: Bulk(servers[side], infos[side], rows) for side in SIDES}
        for once in bulk.values():
            once()
        large = measure_sides("seconds of the bulk UPDATE", bulk)
        ways = {
            "nothing": _Published(plain, infos[WITHOUT], run_s),
            TRIGGERS: _Published.create(plain, TRIGGERS, run_s, branches, progress),
            LOG: _Published.create(logical, LOG, run_s, branches, progress),
        }
        named = {f"us of CPU a change, {way} captured and published": cost for way, cost in ways.items()}
        nothing, triggers, log = alternate(progress, named).values()
    return BenchReport(
        "capture",
        {
            "capture": LOG,
            "workload": "pgbench TPC-B-like",
            "clients": pgbench.CLIENTS,
            "run_s": run_s,
            "bulk_rows": rows,
        },
        {
            "oltp_ratio": fast[1] / fast[0],
            "oltp_ratio_prepared": quick[1] / quick[0],
            "oltp_ratio_durable": durable[1] / durable[0],
            "bulk_ratio": large[1] / large[0],
            "cpu_ratio": log / triggers,
            "cpu_ratio_added": (log - nothing) / (triggers - nothing),
            "cpu_us_a_change_log": log,
            "cpu_us_a_change_triggers": triggers,
            "cpu_us_a_change_nothing": nothing,
            "publisher_us_a_change_log": statistics.median(ways[LOG].publisher_us),
            "publisher_us_a_change_triggers": statistics.median(ways[TRIGGERS].publisher_us),
            "oltp_with_per_s": fast[1],
            "oltp_without_per_s": fast[0],
            "oltp_with_cpu_us": statistics.median(unflushed[WITH].cpu_us),
            "oltp_without_cpu_us": statistics.median(unflushed[WITHOUT].cpu_us),
            "oltp_durable_without_per_s": durable[0],
            "bulk_with_s": large[1],
            "bulk_without_s": large[0],
        },
    )


class _Published:
    """Processor time of a server, and of a publisher beside it, in microseconds for each changed row.

    Attributes:
        publisher_us: the publisher's own share, of each round.
    """

    def __init__(self, server: BenchServer, info: ConnectionInfo, run_s: int, context: Context | None = None) -> None:
        self._server = server
        self._info = info
        self._run_s = run_s
        self._context = context
        self.publisher_us: list[float] = []

    @classmethod
    def create(cls, server: BenchServer, capture: str, run_s: int, branches: int, progress: Progress) -> _Published:
        """With a database and a publisher of its own."""
        info = server.database("master")
        with progress.step(f"filling a database that is published by {capture}"):
            pgbench.fill(server, info, branches)
            tables: dict[str, object] = {f"public.{name}": {} for name in pgbench.TABLES}
            context = server.context(tables, {}, schedule={"run_for_s": run_s}, capture=capture)
            context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
        return cls(server, info, run_s, context)

    def __call__(self) -> float:
        quiet(self._server, self._info, published=False)
        if self._context is None:
            return self._cost(lambda _: None, lambda: 0.0)
        workers = Workers(self._context, _publish)
        manifest = self._context.manifest(SOURCE)

        def is_listed(transactions: int) -> bool:
            workers.look()
            return manifest.end().ordinal >= transactions

        def wait_until_published(transactions: int) -> None:
            until(lambda: is_listed(transactions), _LOOK_S)

        with workers.ready():
            # What it does once, at its beginning, is not what a change costs.
            before = manifest.end().ordinal
            with self._server.connect(self._info) as session:
                session.execute("UPDATE pgbench_branches SET filler = NULL WHERE bid = 1")
            wait_until_published(before + 1)
            return self._cost(lambda made: wait_until_published(before + 1 + made), lambda: _tree_s(workers.pids))

    def _cost(self, wait_until_published: Callable[[int], None], publisher_s: Callable[[], float]) -> float:
        server = self._server.cluster.service()
        assert server is not None
        server_before, before = _tree_s([server.pid]), publisher_s()
        _, made = pgbench.work(self._server, self._info, self._run_s, durable=False)
        wait_until_published(made)
        publisher = publisher_s() - before
        changes = max(made, 1) * _CHANGES
        self.publisher_us.append(publisher / changes * 1e6)
        return (_tree_s([server.pid]) - server_before + publisher) / changes * 1e6


def _tree_s(pids: list[int]) -> float:
    """Processor time of processes, and of all that they started, ended ones too."""
    took = 0.0
    for pid in pids:
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            try:
                took += sum(member.cpu_times()[:4] if member.pid == pid else member.cpu_times()[:2])
            except psutil.NoSuchProcess:
                continue
    return took


def _publish(context: Context, over: Event) -> None:
    while not over.is_set():
        publish(context, SOURCE)
