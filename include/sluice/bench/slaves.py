"""`bench slaves`: what ten slaves of one source cost, beside one."""

from __future__ import annotations

from sluice.bench import workload
from sluice.bench.report import BenchReport, alternate, seconds
from sluice.bench.server import SOURCE, BenchServer, private_server, receive
from sluice.drain.run import drain
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress

MANY = 10
CHANGES_A_TRANSACTION = 5


def measure(scale: float, progress: Progress) -> BenchReport:
    """100,000 mixed changes a round: published, then drained to one slave after the other."""
    wanted = max(500, round(100_000 * scale))
    with private_server(progress) as server, private_server(progress) as other:
        with progress.step("filling tables"):
            single, ten = _Source(server, 1, wanted), _Source(other, MANY, wanted)
        rounds = alternate(
            progress,
            {
                "publish_s": single.publish,
                "publish_many_s": ten.publish,
                "drain_s": single.drain,
                "drain_many_s": ten.drain,
            },
        )
        with progress.step("comparing"):
            equal = single.is_equal() and ten.is_equal()
    return BenchReport(
        "slaves",
        {"changes": wanted, "slaves": MANY},
        {
            **rounds,
            "publish_ratio": rounds["publish_many_s"] / rounds["publish_s"],
            "drain_ratio": rounds["drain_many_s"] / rounds["drain_s"] / MANY,
            "equal": equal,
        },
    )


class _Source:
    """A source with so many slaves, on a server of its own."""

    def __init__(self, server: BenchServer, slaves: int, wanted: int) -> None:
        rows = max(100, wanted // 10)
        infos = {f"slave_{number}": server.database(f"slave_{number}") for number in range(1, slaves + 1)}
        self._server = server
        self._wanted = wanted
        self._orders = workload.Orders(rows)
        self._context = server.context(workload.TABLES, infos, schedule={"run_for_s": 0})
        self._infos = [server.database("master"), *infos.values()]
        for info in self._infos:
            with server.connect(info) as session:
                workload.create(session, rows)
        self._context.source(SOURCE).capture.install(
            self._context.watched_tables(SOURCE), self._context.watch_settings(SOURCE)
        )
        receive(self._context)

    def publish(self) -> float:
        """Seconds to publish what is changed now."""
        with self._server.connect(self._infos[0]) as session:
            workload.change(session, self._orders, self._wanted, CHANGES_A_TRANSACTION)
        return seconds(lambda: publish(self._context, SOURCE, once=True))

    def drain(self) -> float:
        """Seconds until every slave has it."""
        pairs = [Pair(SOURCE, slave) for slave in self._context.config.slaves_of(SOURCE)]
        return seconds(lambda: [drain(self._context, pair, once=True) for pair in pairs])

    def is_equal(self) -> bool:
        """Whether all of them hold what the master holds."""
        return self._server.hold_the_same(self._infos, workload.NAMES)
