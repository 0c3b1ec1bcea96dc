"""`bench capture`: what capturing changes costs the application, in small transactions and in one large statement."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import psutil

from sluice.bench import pgbench
from sluice.bench.report import Report, alternating, seconds
from sluice.bench.server import Server, private_server
from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.model.watched import Wanted, Watch
from sluice.runtime.terminal import Progress
from sluice.vendors.postgresql.capture.queue.capture import QueueCapture
from sluice.vendors.postgresql.session import PURGE
from sluice.vendors.postgresql.source_session import SourceSession

SIDES = ("without", "with")
# Old images only where the key changed: measured for the bulk UPDATE alone.
BY_KEY = "by key"
# What a row trigger costs that does nothing, in durable transactions: no capture by row triggers costs less.
IDLE = "idle"
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


def measure(scale: float, progress: Progress) -> Report:
    """TPC-B-like transactions by pgbench, and an UPDATE of 50,000 rows, with and without capture; durable transactions
    also with row triggers that do nothing, the UPDATE also with old images by key alone."""
    run_s, rows = max(1, round(6 * scale)), max(100, round(50_000 * scale))
    with private_server(progress) as server:
        infos = {side: _prepared(server, side, rows, progress) for side in (*SIDES, BY_KEY, IDLE)}

        def measured(what: str, measures: Mapping[str, Callable[[], float]]) -> list[float]:
            named = {f"{what} {side} capture": measure for side, measure in measures.items()}
            return list(alternating(progress, named).values())

        def ratio(what: str, measures: Mapping[str, Callable[[], float]]) -> tuple[float, float, float]:
            """With / without, and both."""
            without, with_ = measured(what, measures)
            return with_ / without, with_, without

        def runs(
            sides: Sequence[str] = SIDES, *, durable: bool = False, protocol: str = "simple"
        ) -> dict[str, _Pgbench]:
            return {side: _Pgbench(server, infos[side], run_s, durable, protocol) for side in sides}

        unflushed = runs()
        fast = ratio("unflushed transactions/s", unflushed)
        prepared = ratio("prepared unflushed transactions/s", runs(protocol="prepared"))
        durable, durable_with, idle = measured("durable transactions/s", runs((*SIDES, IDLE), durable=True))
        bulk = {side: _Bulk(server, infos[side], rows) for side in (*SIDES, BY_KEY)}
        for once in bulk.values():
            once()
        large_without, large_with, large_by_key = measured("seconds of the bulk UPDATE", bulk)
        running = {side: _Bulk(server, infos[side], rows, running=True) for side in SIDES}
        running_without, running_with = measured("seconds of the bulk UPDATE of a running master", running)
    return Report(
        "capture",
        {"workload": "pgbench TPC-B-like", "clients": pgbench.CLIENTS, "run_s": run_s, "bulk_rows": rows},
        {
            "oltp_ratio": fast[0],
            "oltp_ratio_prepared": prepared[0],
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


def _prepared(server: Server, side: str, rows: int, progress: Progress) -> ConnectionInfo:
    """A database with pgbench's tables and ours; unless it is without capture every table is watched."""
    info = server.database(f"{side.replace(' ', '_')}_capture")
    with progress.step(f"filling the database {side} capture"), server.connect(info) as session:
        pgbench.fill(server, info)
        session.execute(_WIDE)
        session.execute(_FILL.replace("%s", str(rows * 2)))
        if side == IDLE:
            session.execute(_IDLE)
            for table in pgbench.TABLES:
                session.execute(_FIRES.replace("{}", table))
        elif side != "without":
            watch = Watch("IUD", old_images="key" if side == BY_KEY else "full")
            tables = (*pgbench.TABLES, "wide")
            source = QueueCapture(SourceSession(info, None, "REPL_"))
            source.install({TableName("public", table): watch for table in tables}, Wanted())
        session.execute("VACUUM ANALYZE")
    return info


class _Pgbench:
    """One run of pgbench: transactions a second. `cpu_us` keeps the CPU of the server that each took a transaction,
    which other work on the machine bends less than the rate."""

    def __init__(self, server: Server, info: ConnectionInfo, run_s: int, durable: bool, protocol: str) -> None:
        self._server = server
        self._info = info
        self._run_s = run_s
        self._durable = durable
        self._protocol = protocol
        self.cpu_us: list[float] = []

    def __call__(self) -> float:
        _quiet(self._server, self._info)
        before = _ended_sessions_s(self._server)
        rate, made = pgbench.work(self._server, self._info, self._run_s, durable=self._durable, protocol=self._protocol)
        time.sleep(_ENDING_S)
        if made:
            self.cpu_us.append((_ended_sessions_s(self._server) - before) / made * 1e6)
        return rate


class _Bulk:
    """One UPDATE of many rows: seconds until it is committed. On a `running` master the queue has the room of what was
    purged; else its file grows."""

    def __init__(self, server: Server, info: ConnectionInfo, rows: int, *, running: bool = False) -> None:
        self._server = server
        self._info = info
        self._rows = rows
        self._running = running

    def __call__(self) -> float:
        _quiet(self._server, self._info, running=self._running)
        with self._server.connect(self._info) as session:
            return seconds(lambda: session.execute(_BULK.replace("%s", str(self._rows))))


def _ended_sessions_s(server: Server) -> float:
    """CPU seconds of all sessions of the server that have ended."""
    service = server.cluster.service()
    times = psutil.Process(service.pid).cpu_times() if service else None
    return times.children_user + times.children_system if times else 0.0


def _quiet(server: Server, info: ConnectionInfo, *, running: bool = False) -> None:
    """Both sides begin alike: what was captured is gone, as if published, and the disk has nothing left to do. The
    queue's file is empty, or as long as it was, as the publisher leaves it."""
    with server.connect(info) as session:
        if session.execute("SELECT to_regclass('repl.repl_queue') IS NOT NULL").fetchone() == (True,):
            if running:
                session.execute(f"BEGIN; {PURGE}; DELETE FROM repl.repl_queue; COMMIT")
                with contextlib.closing(QueueCapture(SourceSession(info, None, "REPL_"))) as source:
                    source.reclaim()
            else:
                session.execute(f"BEGIN; {PURGE}; TRUNCATE repl.repl_queue; COMMIT")
        session.execute("VACUUM pgbench_branches, pgbench_tellers, wide")
        session.execute("CHECKPOINT")
