"""`bench publish`: from ITEMS to a durable segment and a purged queue, out of short queues, a long one, and a large
transaction.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from threading import Event, Thread

import psutil

from sluice.bench import workload
from sluice.bench.report import BenchReport, alternate, seconds
from sluice.bench.server import LOG, SETTINGS, SOURCE, TRIGGERS, BenchServer, private_server, receive
from sluice.config.configuration_text import CONFIG_ENV
from sluice.context import Context
from sluice.drain.run import drain
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.paths import HOME_ENV, PROJECT
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress
from sluice.vendors.postgresql.session import Connection

SLAVE = "follower"
CHANGES_A_TRANSACTION = 5
_STEADY = 20
_TIMES = 20
_IMAGES = """
CREATE TABLE images AS SELECT row_number() OVER () AS number, relid, db_action, content, oldcontent
FROM repl.repl_queue;
CREATE UNIQUE INDEX ON images (number)
"""
# What triggers captured once is queued again and again, in small transactions: capturing is not what is measured.
_QUEUE = """
DO $$
BEGIN
    FOR turn IN 0 .. {transactions} - 1 LOOP
        INSERT INTO repl.repl_queue (repl_key, relid, db_action, content, oldcontent)
        SELECT nextval('repl.repl_seq'), relid, db_action, content, oldcontent FROM images
        WHERE number > turn * {each} % {images} AND number <= turn * {each} % {images} + {each};
        COMMIT;
    END LOOP;
END
$$
"""
_UPDATES = """
DO $$
BEGIN
    FOR turn IN 0 .. {transactions} - 1 LOOP
        UPDATE customers SET seen = seen + interval '1 s'
        WHERE id > turn * {each} % {images} AND id <= turn * {each} % {images} + {each};
        COMMIT;
    END LOOP;
END
$$
"""
_LOOK_S = 0.05


def measure(scale: float, progress: Progress, capture: str = TRIGGERS) -> BenchReport:
    """200,000 mixed changes three times; 2 million in one transaction, and in short queues; a queue of 10 million."""
    wanted, rows = max(500, round(200_000 * scale)), max(100, round(100_000 * scale))
    short, long = max(1_000, round(100_000 * scale)), max(10_000, round(10_000_000 * scale))
    backlogs = {TRIGGERS: _PublishBacklog, LOG: _LogBacklog}
    with private_server(progress, SETTINGS[capture]) as server:
        master, slave = server.database("master"), server.database(SLAVE)
        context = server.context(workload.TABLES, {SLAVE: slave}, capture=capture, schedule={"run_for_s": 0})
        for info in (master, slave):
            with server.connect(info) as session:
                workload.create(session, rows)
        context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
        receive(context)
        with server.connect(master) as session:
            session.execute("SET synchronous_commit = off")
            mixed = _Mixed(context, session, rows, progress)
            rate = alternate(progress, {"changes/s": lambda: mixed.rate(wanted)})["changes/s"]
            with progress.step(f"{rows * _TIMES:,} changes in one transaction"), session.transaction():
                for _ in range(_TIMES):
                    session.execute("UPDATE customers SET balance = balance + 1 WHERE id <= %s", [rows])
            with progress.step("publishing it"):
                peak_mb = _peak_mb(server, context)
            with progress.step("comparing"):
                drain(context, Pair(SOURCE, SLAVE), once=True)
                equal = server.hold_the_same((master, slave), workload.NAMES)
            backlog = backlogs[capture](context, session, rows)
            sides = {f"seconds a change of {short:,} queued": lambda: backlog.cost(short)}
            few = alternate(progress, sides).popitem()[1]
            with progress.step(f"{short:,} queued and published, {_STEADY} times"):
                lengths = [backlog.length_after(short) for _ in range(_STEADY)]
            with progress.step(f"{long:,} queued"), _Memory() as memory:
                many = backlog.cost(long)
    return BenchReport(
        "publish",
        {"capture": capture, "changes": wanted, "large": rows * _TIMES, "short": short, "long": long},
        {
            "changes_per_s": rate,
            "peak_rss_mb": peak_mb,
            "backlog_ratio": many / few,
            "backlog_changes_per_s": 1 / many,
            "backlog_rss_mb": memory.most_mb,
            "queue_growth": max(lengths) / lengths[0],
            "queue_mb": max(lengths) / 1e6,
            "equal": equal,
        },
    )


class _Mixed:
    """Rounds of mixed changes, as triggers capture them."""

    def __init__(self, context: Context, session: Connection, rows: int, progress: Progress) -> None:
        self._context = context
        self._session = session
        self._progress = progress
        self._orders = workload.Orders(rows)

    def rate(self, wanted: int) -> float:
        """Changes a second of publishing; making them is not counted."""
        with self._progress.step(f"changing {wanted:,} rows") as step:
            made = workload.change(self._session, self._orders, wanted, CHANGES_A_TRANSACTION, step)
        self._session.execute("CHECKPOINT")
        return made / _time_publish(self._context, made)


class _PublishBacklog:
    """Queues as long as wanted, of changes that were captured before."""

    _kept = "SELECT pg_relation_size('repl.repl_queue')"

    def __init__(self, context: Context, session: Connection, images: int) -> None:
        self._context = context
        self._session = session
        self._images = images
        session.execute("UPDATE customers SET seen = seen + interval '1 day' WHERE id <= %s", [images])
        session.execute(_IMAGES)
        publish(context, SOURCE, once=True)

    def cost(self, changes: int) -> float:
        """Seconds a change."""
        transactions = -(-changes // CHANGES_A_TRANSACTION)
        self._make(transactions)
        self._session.execute("CHECKPOINT")
        made = transactions * CHANGES_A_TRANSACTION
        return _time_publish(self._context, made) / made

    def length_after(self, changes: int) -> int:
        """Bytes of what is kept when so many more are published."""
        self.cost(changes)
        ((length,),) = self._session.execute(self._kept).fetchall()
        return max(int(length), 1)

    def _make(self, transactions: int) -> None:
        script = _QUEUE.replace("{transactions}", str(transactions)).replace("{images}", str(self._images))
        self._session.execute(script.replace("{each}", str(CHANGES_A_TRANSACTION)))


class _LogBacklog(_PublishBacklog):
    """As many updates of the same rows: the server's log cannot be written otherwise."""

    _kept = "SELECT pg_current_wal_flush_lsn() - restart_lsn FROM pg_replication_slots WHERE slot_type = 'logical'"

    def _make(self, transactions: int) -> None:
        script = _UPDATES.replace("{transactions}", str(transactions)).replace("{images}", str(self._images))
        self._session.execute(script.replace("{each}", str(CHANGES_A_TRANSACTION)))


class _Memory:
    """The most memory that this process has within a block."""

    def __init__(self) -> None:
        self.most_mb = 0.0
        self._over = Event()
        self._looks = Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Memory:
        self._looks.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looks.join()

    def _look(self) -> None:
        process = psutil.Process()
        while True:
            self.most_mb = max(self.most_mb, process.memory_info().rss / 1e6)
            if self._over.wait(_LOOK_S):
                return


def _time_publish(context: Context, expected: int) -> float:
    """Seconds until all of it is in the log and none of it in ITEMS."""
    result: dict[str, object] = {}
    took = seconds(lambda: result.update(publish(context, SOURCE, once=True)))
    if result["changes"] != expected:
        raise SluiceError(
            947, f"{result['changes']} changes were published, {expected} were made", "this is a defect: report it"
        )
    return took


def _peak_mb(server: BenchServer, context: Context) -> float:
    """The most memory that the job takes, in a process of its own."""
    server.hand_over(context)
    file = server.directory / "replication.yaml"
    file.write_text(json.dumps(context.config.model_dump(mode="json", by_alias=True)))
    own = {CONFIG_ENV: str(file), HOME_ENV: str(server.directory)}
    command = [sys.executable, str(PROJECT / "spark_jobs" / "publish.py"), "--source", SOURCE, "--once"]
    environment = {**os.environ, **own, "PYTHONPATH": str(PROJECT / "include")}
    job = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        raise SluiceError(
            947, f"the job ended with {job.returncode}", "what it said is above; fix that, and run the bench again"
        )
    return usage.ru_maxrss / 1024
