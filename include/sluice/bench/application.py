"""The work of an application while benches measure what capture costs it: transactions, and a large statement."""

from __future__ import annotations

import contextlib
import time

import psutil

from sluice.bench import pgbench
from sluice.bench.report import seconds
from sluice.bench.server import LOG, TRIGGERS, BenchServer
from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.model.watched import Watch, WatchSettings
from sluice.runtime.terminal import Progress
from sluice.vendors.postgresql.capture.log.capture import LogCapture
from sluice.vendors.postgresql.capture.queue.capture import QueueCapture
from sluice.vendors.postgresql.session import PURGE
from sluice.vendors.postgresql.source_session import SourceSession

WITHOUT, WITH = SIDES = ("without", "with")
# Old images only where the key changed: measured for the bulk UPDATE alone.
BY_KEY = "by key"
# What a row trigger costs that does nothing, in durable transactions: no capture by row triggers costs less.
IDLE = "idle"
TABLES = (*pgbench.TABLES, "wide")
_IDLE = "CREATE FUNCTION idle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
_FIRES = "CREATE TRIGGER idle AFTER INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW EXECUTE FUNCTION idle()"
_WIDE = """
CREATE TABLE wide (id bigint PRIMARY KEY, c_int integer, c_small smallint, c_text text, c_num numeric, c_float float8,
                   c_ts timestamptz, c_date date, c_bool boolean, c_xml text)
"""
_FILL = """
INSERT INTO wide SELECT i, i, i % 32000, md5(i::text) || md5((i + 1)::text), i / 7.0, i / 3.0::float8,
    timestamptz '2013-01-01 00:00:00Z' + i * interval '1 second', date '2013-01-01' + i % 365, i % 2 = 0,
    '<row n="' || i || '">' || md5(i::text) || '</row>'
FROM generate_series(1, %s) AS i
"""
# After pgbench is gone, until the server has noticed that its sessions are.
_ENDING_S = 0.2
_BULK = "UPDATE wide SET c_int = c_int + 1, c_num = c_num + 0.5, c_ts = now(), c_xml = c_xml || '&' WHERE id <= %s"
# The slot keeps nothing, as if all were published.
_FORGET = "SELECT pg_replication_slot_advance(slot, pg_current_wal_flush_lsn()) FROM repl.repl_log"


# Below this nobody believes the figures: fewer rows are filled in.
_A_LOOK = 0.1


def sizes(scale: float) -> tuple[int, int, int]:
    """Seconds of a run of transactions, rows that the large statement changes, and branches of pgbench."""
    branches = pgbench.BRANCHES if scale >= _A_LOOK else pgbench.CLIENTS
    return max(1, round(6 * scale)), max(100, round(50_000 * scale)), branches


def prepare(
    server: BenchServer, side: str, rows: int, branches: int, progress: Progress, capture: str = TRIGGERS
) -> ConnectionInfo:
    """A database with pgbench's tables and ours; unless it is without capture every table is watched."""
    info = server.database(f"{side.replace(' ', '_')}_capture")
    with progress.step(f"filling the database {side} capture"), server.connect(info) as session:
        pgbench.fill(server, info, branches)
        session.execute(_WIDE)
        session.execute(_FILL.replace("%s", str(rows * 2)))
        if side == IDLE:
            session.execute(_IDLE)
            for table in pgbench.TABLES:
                session.execute(_FIRES.replace("{}", table))
        elif side != WITHOUT:
            watch = Watch("IUD", old_images="key" if side == BY_KEY else "full")
            with contextlib.closing(_captures(info, capture)) as source:
                source.install(
                    {TableName("public", table): watch for table in TABLES}, WatchSettings(by_log=capture == LOG)
                )
        session.execute("VACUUM ANALYZE")
    return info


class Transactions:
    """One run of pgbench: transactions a second. `cpu_us` keeps the CPU of the server that each took a transaction,
    which other work on the machine bends less than the rate.
    """

    def __init__(self, server: BenchServer, info: ConnectionInfo, run_s: int, durable: bool, protocol: str) -> None:
        self._server = server
        self._info = info
        self._run_s = run_s
        self._durable = durable
        self._protocol = protocol
        self.cpu_us: list[float] = []

    def __call__(self) -> float:
        quiet(self._server, self._info)
        before = _ended_sessions_s(self._server)
        rate, made = pgbench.work(self._server, self._info, self._run_s, durable=self._durable, protocol=self._protocol)
        time.sleep(_ENDING_S)
        if made:
            self.cpu_us.append((_ended_sessions_s(self._server) - before) / made * 1e6)
        return rate


class Bulk:
    """One UPDATE of many rows: seconds until it is committed. On a `running` master the queue has the room of what was
    purged; else its file grows.
    """

    def __init__(self, server: BenchServer, info: ConnectionInfo, rows: int, *, running: bool = False) -> None:
        self._server = server
        self._info = info
        self._rows = rows
        self._running = running

    def __call__(self) -> float:
        quiet(self._server, self._info, running=self._running)
        with self._server.connect(self._info) as session:
            return seconds(lambda: session.execute(_BULK.replace("%s", str(self._rows))))


def _ended_sessions_s(server: BenchServer) -> float:
    """CPU seconds of all sessions of the server that have ended."""
    service = server.cluster.service()
    times = psutil.Process(service.pid).cpu_times() if service else None
    return times.children_user + times.children_system if times else 0.0


def quiet(server: BenchServer, info: ConnectionInfo, *, running: bool = False, published: bool = True) -> None:
    """Both sides begin alike: what was captured is gone, as if `published`, and the disk has nothing left to do. The
    queue's file is empty, or as long as it was, as the publisher leaves it.
    """
    with server.connect(info) as session:
        if published and session.execute("SELECT to_regclass('repl.repl_queue') IS NOT NULL").fetchone() == (True,):
            if running:
                session.execute(f"BEGIN; {PURGE}; DELETE FROM repl.repl_queue; COMMIT")
                with contextlib.closing(_captures(info)) as source:
                    source.reclaim()
            else:
                session.execute(f"BEGIN; {PURGE}; TRUNCATE repl.repl_queue; COMMIT")
        session.execute("VACUUM pgbench_branches, pgbench_tellers")
        if published:
            session.execute("VACUUM wide")
        session.execute("CHECKPOINT")
        if published and session.execute("SELECT to_regclass('repl.repl_log') IS NOT NULL").fetchone() == (True,):
            session.execute(_FORGET)
            session.execute("CHECKPOINT")


def _captures(info: ConnectionInfo, capture: str = TRIGGERS) -> QueueCapture:
    return {TRIGGERS: QueueCapture, LOG: LogCapture}[capture](SourceSession(info, None, "REPL_"))
