"""`bench capture`: what capturing changes costs the application, in small transactions and in one large statement."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from sluice.bench import capture_by_log, pgbench
from sluice.bench.application import BY_KEY, IDLE, SIDES, Bulk, Transactions, prepare, sizes
from sluice.bench.report import BenchReport, alternate
from sluice.bench.server import LOG, TRIGGERS, private_server
from sluice.runtime.terminal import Progress


def measure(scale: float, progress: Progress, capture: str = TRIGGERS) -> BenchReport:
    """Measure the cost of capture by triggers, or by the server's log."""
    return capture_by_log.measure(scale, progress) if capture == LOG else _by_triggers(scale, progress)


def _by_triggers(scale: float, progress: Progress) -> BenchReport:
    """TPC-B-like transactions by pgbench, and an UPDATE of 50,000 rows, with and without capture; durable transactions
    also with row triggers that do nothing, the UPDATE also with old images by key alone.
    """
    run_s, rows, branches = sizes(scale)
    with private_server(progress) as server:
        infos = {side: prepare(server, side, rows, branches, progress) for side in (*SIDES, BY_KEY, IDLE)}

        def measure_sides(what: str, measures: Mapping[str, Callable[[], float]]) -> list[float]:
            named = {f"{what} {side} capture": measure for side, measure in measures.items()}
            return list(alternate(progress, named).values())

        def ratio(what: str, measures: Mapping[str, Callable[[], float]]) -> tuple[float, float, float]:
            """With / without, and both."""
            without, with_ = measure_sides(what, measures)
            return with_ / without, with_, without

        def runs(
            sides: Sequence[str] = SIDES, *, durable: bool = False, protocol: str = "simple"
        ) -> dict[str, Transactions]:
            return {side: Transactions(server, infos[side], run_s, durable, protocol) for side in sides}

        unflushed = runs()
        fast = ratio("unflushed transactions/s", unflushed)
        quick = ratio("prepared unflushed transactions/s", runs(protocol="prepared"))
        durable, durable_with, idle = measure_sides("durable transactions/s", runs((*SIDES, IDLE), durable=True))
        bulk = {side: Bulk(server, infos[side], rows) for side in (*SIDES, BY_KEY)}
        for once in bulk.values():
            once()
        large_without, large_with, large_by_key = measure_sides("seconds of the bulk UPDATE", bulk)
        running = {side: Bulk(server, infos[side], rows, running=True) for side in SIDES}
        running_without, running_with = measure_sides("seconds of the bulk UPDATE of a running master", running)
    return BenchReport(
        "capture",
        {"workload": "pgbench TPC-B-like", "clients": pgbench.CLIENTS, "run_s": run_s, "bulk_rows": rows},
        {
            "oltp_ratio": fast[0],
            "oltp_ratio_prepared": quick[0],
            "oltp_ratio_durable": durable_with / durable,
            "oltp_ratio_durable_idle": idle / durable,
            "bulk_ratio": large_with / large_without,
            "bulk_ratio_by_key": large_by_key / large_without,
            "bulk_ratio_running": running_with / running_without,
            "oltp_with_per_s": fast[1],
            "oltp_without_per_s": fast[2],
            "oltp_with_cpu_us": statistics.median(unflushed["with"].cpu_us),
            "oltp_without_cpu_us": statistics.median(unflushed["without"].cpu_us),
            "oltp_durable_without_per_s": durable,
            "bulk_with_s": large_with,
            "bulk_by_key_s": large_by_key,
            "bulk_without_s": large_without,
        },
    )
