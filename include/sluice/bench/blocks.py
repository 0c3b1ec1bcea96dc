"""`bench blocks`: what is left of the master's rate while one of its tables is loaded in blocks, throttled."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Event
from types import MappingProxyType

from sluice.airflow_api.pause import Pause, PauseSwitch
from sluice.bench import pgbench
from sluice.bench.report import ROUNDS, BenchReport, alternate
from sluice.bench.server import SOURCE, BenchServer, private_server
from sluice.bench.workers import SPAWNED, Workers
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.drain.run import drain
from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.blocks.task import load_block
from sluice.initial_update.chunks.task import load_chunks
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.initial_update.release import release
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress
from sluice.state.replication import ReplicationEvent as Happened
from sluice.store import replications
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded

# One has everything and follows; the other one's accounts are loaded meanwhile.
FOLLOWER, LOADED = "follower", "loaded"
DUTY_CYCLE = 0.25
_ACCOUNTS = "pgbench_accounts"
_LOOK_S = 1.0


def measure(scale: float, progress: Progress) -> BenchReport:
    """Windows of 5 s of pgbench; publisher and drains are at work in all of them, the load in every second one."""
    rounds = max(ROUNDS, round(10 * min(1, scale)))
    run_s, branches = max(1, round(5 * scale)), max(1, round(20 * scale))
    accounts, rows = branches * pgbench.ACCOUNTS_OF_A_BRANCH, max(100, round(20_000 * scale))
    throttle = MappingProxyType({"rows": rows, "duty_cycle": DUTY_CYCLE})
    with private_server(progress) as server, private_server(progress) as other:
        master, slaves = server.database("master"), {name: other.database(name) for name in (FOLLOWER, LOADED)}
        with progress.step(f"filling {accounts:,} accounts"):
            pgbench.fill(server, master, branches)
        context = _context(server, slaves, run_s, throttle)
        server.hand_over(context)
        _begin(context, progress)
        gate = _Gate(accounts)
        workers = Workers(
            context, _publish, *(partial(_drain, slave=name) for name in slaves), partial(_load, gate=gate)
        )
        with workers.ready():
            window = _Window(server, master, run_s, gate, workers)
            sides = {"transactions/s": window.without, "transactions/s with the load": window.with_}
            try:
                without, with_ = alternate(progress, sides, rounds).values()
            finally:
                gate.end()
            with progress.step("loading the rest, at full speed"):
                load_online(_context(server, slaves, run_s, {}), SOURCE, [LOADED], _blocks)
        with progress.step("comparing"):
            publish(context, SOURCE, once=True)
            for name in slaves:
                drain(context, Pair(SOURCE, name), once=True)
            equal = server.hold_the_same((master, *slaves.values()), pgbench.TABLES)
    return BenchReport(
        "blocks",
        {
            "workload": "pgbench TPC-B-like, durable",
            "clients": pgbench.CLIENTS,
            "run_s": run_s,
            "windows": rounds,
            "accounts": accounts,
            **throttle,
        },
        {
            "master_rate_ratio": with_ / without,
            "with_per_s": with_,
            "without_per_s": without,
            "rows_per_s": window.loaded / (rounds * run_s),
            "equal": equal,
        },
    )


class _Gate(PauseSwitch):
    """A look of the load before each round, as it looks at the pause of its slave's DAG.

    Attributes:
        rows: how many have come in blocks.
    """

    def __init__(self, accounts: int) -> None:
        super().__init__(None, "", "")
        self._accounts = accounts
        self._open, self._at_work, self._at_rest, self._over = (SPAWNED.Event() for _ in range(4))
        self.rows = SPAWNED.Value("q", 0)

    def find_pause(self) -> Pause | None:
        if self._over.is_set():
            raise _Enough
        if self._open.is_set():
            self._at_rest.clear()
            self._at_work.set()
            return None
        self._at_work.clear()
        self._at_rest.set()
        return Pause("the bench")

    def open(self, workers: Workers) -> None:
        """Return when the next round begins."""
        self._open.set()
        self._await(self._at_work, workers)

    def shut(self, workers: Workers) -> None:
        """Return when the last round has ended, and its pause."""
        self._open.clear()
        self._await(self._at_rest, workers)

    def end(self) -> None:
        """There are no more rounds."""
        self._over.set()

    def _await(self, state: Event, workers: Workers) -> None:
        while not state.wait(_LOOK_S):
            workers.look()
            if self.rows.value >= self._accounts:
                fact = f"all of {_ACCOUNTS} was loaded before the last window"
                raise SluiceError(947, fact, "the figure would be too good; this is a defect: report it")


class _Enough(Exception):
    """The bench has measured what it wanted."""


class _Window:
    """One run of pgbench: transactions a second. `loaded` counts the rows that came meanwhile."""

    def __init__(self, server: BenchServer, master: ConnectionInfo, run_s: int, gate: _Gate, workers: Workers) -> None:
        self._server = server
        self._master = master
        self._run_s = run_s
        self._gate = gate
        self._workers = workers
        self.loaded = 0

    def without(self) -> float:
        """While nothing is loaded."""
        self._finish()
        return self._rate()

    def with_(self) -> float:
        """From the beginning of a round on, so that there is more of the load in it than its share."""
        self._finish()
        self._gate.open(self._workers)
        before = self._gate.rows.value
        rate = self._rate()
        self.loaded += self._gate.rows.value - before
        self._gate.shut(self._workers)
        return rate

    def _rate(self) -> float:
        return pgbench.work(self._server, self._master, self._run_s)[0]

    def _finish(self) -> None:
        with self._server.connect(self._master) as session:
            session.execute("VACUUM pgbench_branches, pgbench_tellers")
            session.execute("CHECKPOINT")


@dataclass(frozen=True)
class _Gated(Context):
    """The context of the load: its gate takes the place of every pause switch."""

    gate: _Gate

    def switch(self, pair: Pair) -> PauseSwitch:
        return self.gate


def _publish(context: Context, over: Event) -> None:
    while not over.is_set():
        publish(context, SOURCE)


def _drain(context: Context, over: Event, slave: str) -> None:
    while not over.is_set():
        drain(context, Pair(SOURCE, slave))


def _load(context: Context, _: Event, gate: _Gate) -> None:
    def count_rows(job: BlockJob) -> list[BlockLoaded]:
        done = _blocks(job)
        gate.rows.value += sum(block.rows for block in done)
        return done

    with suppress(_Enough):
        load_online(_Gated(context.config, context.connections, gate), SOURCE, [LOADED], count_rows)


def _blocks(job: BlockJob) -> list[BlockLoaded]:
    """The work of Spark tasks, in threads: how long Spark takes to start one is not measured."""
    with ThreadPoolExecutor(len(job.ranges)) as pool:
        return list(pool.map(partial(load_block, job), range(len(job.ranges))))


def _context(
    server: BenchServer, slaves: Mapping[str, ConnectionInfo], run_for_s: int, blocks: Mapping[str, object]
) -> Context:
    tables = {f"public.{name}": {"load_in_blocks": name == _ACCOUNTS} for name in pgbench.TABLES}
    # Short, so that what waits for the jobs to end does not wait long.
    schedule = {"schedule": {"run_for_s": 2 * run_for_s}}
    return server.context(tables, slaves, dict.fromkeys(slaves, schedule), blocks=dict(blocks), **schedule)


def _begin(context: Context, progress: Progress) -> None:
    """One slave is filled and follows; the stream of the other one begins, without its accounts."""
    context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
    for slave, mode in ((FOLLOWER, "snapshot"), (LOADED, "online")):
        with progress.step(f"initial update of {slave}, {mode}"):
            inhibit(context, SOURCE, [slave], InhibitRequest(mode=mode))
            dump(context, SOURCE, [slave], load_chunks, mode=mode)
            release(context, SOURCE, [slave])
    replications.record(context.store, Pair(SOURCE, FOLLOWER), Happened.VERIFIED)
