"""`bench apply`: a backlog of mixed changes, out of the change log into a slave that lacks all of it."""

from __future__ import annotations

from sluice.bench import workload
from sluice.bench.report import ROUNDS, BenchReport, alternate, seconds
from sluice.bench.server import SOURCE, private_server, receive
from sluice.context import Context
from sluice.drain.run import drain
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress

# A fresh slave for each round.
SLAVES = tuple(f"batch_{number}" for number in range(1, ROUNDS + 1))
REPLAYED = tuple(f"one_to_one_{number}" for number in range(1, ROUNDS + 1))
CHANGES_A_TRANSACTION = 5


def measure(scale: float, progress: Progress) -> BenchReport:
    """200,000 mixed changes of 3 tables with foreign keys; each round drains them into fresh slaves, in each mode."""
    wanted = max(500, round(200_000 * scale))
    rows = max(100, wanted // 10)
    with private_server(progress) as server:
        master = server.database("master")
        slaves = {name: server.database(name) for name in (*SLAVES, *REPLAYED)}
        replayed = {name: {"mode": "one_to_one"} for name in REPLAYED}
        context = server.context(workload.TABLES, slaves, replayed, schedule={"run_for_s": 0})
        for info in (master, *slaves.values()):
            with server.connect(info) as session:
                workload.create(session, rows)
        context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
        receive(context)
        with progress.step(f"changing {wanted:,} rows of the master") as step, server.connect(master) as session:
            made = workload.change(session, workload.Orders(rows), wanted, CHANGES_A_TRANSACTION, step)
        with progress.step("publishing them"):
            published = publish(context, SOURCE, once=True)
        batches, replays = iter(SLAVES), iter(REPLAYED)
        sides = {
            "changes_per_s": lambda: _drain_rate(context, next(batches), made),
            "one_to_one_changes_per_s": lambda: _drain_rate(context, next(replays), made),
        }
        rounds = alternate(progress, sides)
        with progress.step("comparing"):
            equal = server.hold_the_same((master, *slaves.values()), workload.NAMES)
    return BenchReport(
        "apply",
        {"changes": made, "transactions": int(str(published["transactions"])), "tables": len(workload.TABLES)},
        {**rounds, "equal": equal},
    )


def _drain_rate(context: Context, slave: str, expected: int) -> float:
    delivered: dict[str, object] = {}
    took = seconds(lambda: delivered.update(drain(context, Pair(SOURCE, slave), once=True)))
    if delivered["changes"] != expected:
        fact = f"{delivered['changes']} changes were delivered, {expected} were made"
        raise SluiceError(947, fact, "this is a defect: please report it with the output")
    return expected / took
