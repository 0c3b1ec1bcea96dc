"""`bench capture`: what capturing changes costs the application, in small transactions and in one large statement."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping

import psutil

from sluice.bench.report import Report, alternating, seconds
from sluice.bench.server import Server, private_server
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.wanted import Wanted, Watch
from sluice.runtime.progress import Progress
from sluice.vendors.postgresql.source import PostgresSource

CLIENTS = 2
BRANCHES = 10
SIDES = ("without", "with")
# A third one of which the bulk UPDATE alone is measured: old images only where the key changed.
BY_KEY = "by key"
_PGBENCH_TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")
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
_HINT = "run it again; with an idle machine and --scale 0.1 if it was short of something"
_BULK = "UPDATE wide SET c_int = c_int + 1, c_num = c_num + 0.5, c_ts = now(), c_xml = c_xml || '&' WHERE id <= %s"


def measure(scale: float, progress: Progress) -> Report:
    """TPC-B-like transactions by pgbench, and an UPDATE of 50,000 rows, with and without capture; the latter also with
    old images by key alone."""
    run_s, rows = max(1, round(6 * scale)), max(100, round(50_000 * scale))
    with private_server(progress) as server:
        infos = {side: _prepared(server, side, rows, progress) for side in (*SIDES, BY_KEY)}

        def measured(what: str, measures: Mapping[str, Callable[[], float]]) -> list[float]:
            named = {f"{what} {side} capture": measure for side, measure in measures.items()}
            return list(alternating(progress, named).values())

        def ratio(what: str, measures: Mapping[str, Callable[[], float]]) -> tuple[float, float, float]:
            """With / without, and both."""
            without, with_ = measured(what, measures)
            return with_ / without, with_, without

        def runs(*, durable: bool = False, protocol: str = "simple") -> dict[str, _Pgbench]:
            return {side: _Pgbench(server, infos[side], run_s, durable, protocol) for side in SIDES}

        unflushed = runs()
        fast = ratio("unflushed transactions/s", unflushed)
        prepared = ratio("prepared unflushed transactions/s", runs(protocol="prepared"))
        durable = ratio("durable transactions/s", runs(durable=True))
        bulk = {side: _Bulk(server, info, rows) for side, info in infos.items()}
        for once in bulk.values():
            once()
        large_without, large_with, large_by_key = measured("seconds of the bulk UPDATE", bulk)
    return Report(
        "capture",
        {"workload": "pgbench TPC-B-like", "clients": CLIENTS, "run_s": run_s, "bulk_rows": rows},
        {
            "oltp_ratio": fast[0],
            "oltp_ratio_prepared": prepared[0],
            "oltp_ratio_durable": durable[0],
            "bulk_ratio": large_with / large_without,
            "bulk_ratio_by_key": large_by_key / large_without,
            "oltp_with_per_s": fast[1],
            "oltp_without_per_s": fast[2],
            "oltp_with_cpu_us": statistics.median(unflushed["with"].cpu_us),
            "oltp_without_cpu_us": statistics.median(unflushed["without"].cpu_us),
            "oltp_durable_without_per_s": durable[2],
            "bulk_with_s": large_with,
            "bulk_by_key_s": large_by_key,
            "bulk_without_s": large_without,
        },
    )


def _prepared(server: Server, side: str, rows: int, progress: Progress) -> ConnectionInfo:
    """A database with pgbench's tables and ours; unless it is without capture every table is watched."""
    info = server.database(f"{side.replace(' ', '_')}_capture")
    with progress.step(f"filling the database {side} capture"), server.connect(info) as session:
        _run(server, info, "-i", "-q", "-s", str(BRANCHES))
        session.execute(_WIDE)
        session.execute(_FILL.replace("%s", str(rows * 2)))
        if side != "without":
            watch = Watch("IUD", old_images="key" if side == BY_KEY else "full")
            tables = (*_PGBENCH_TABLES, "wide")
            source = PostgresSource(info, "public", "REPL_")
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
        _settled(self._server, self._info)
        options = "" if self._durable else "-c synchronous_commit=off"
        command = ("-n", "-M", self._protocol, "-c", str(CLIENTS), "-T", str(self._run_s), "--random-seed=7")
        before = _ended_sessions_s(self._server)
        told = _run(self._server, self._info, *command, options=options)
        time.sleep(_ENDING_S)
        found = re.search(r"processed: (\d+)[^~]*^tps = ([\d.]+)", told, re.MULTILINE)
        if not found:
            return 0.0
        self.cpu_us.append((_ended_sessions_s(self._server) - before) / max(1, int(found[1])) * 1e6)
        return float(found[2])


class _Bulk:
    """One UPDATE of many rows: seconds until it is committed."""

    def __init__(self, server: Server, info: ConnectionInfo, rows: int) -> None:
        self._server = server
        self._info = info
        self._rows = rows

    def __call__(self) -> float:
        _settled(self._server, self._info)
        with self._server.connect(self._info) as session:
            return seconds(lambda: session.execute(_BULK.replace("%s", str(self._rows))))


def _ended_sessions_s(server: Server) -> float:
    """CPU seconds of all sessions of the server that have ended."""
    service = server.cluster.service()
    times = psutil.Process(service.pid).cpu_times() if service else None
    return times.children_user + times.children_system if times else 0.0


def _settled(server: Server, info: ConnectionInfo) -> None:
    """Both sides begin alike: what was captured is gone, as if published, and the disk has nothing left to do."""
    with server.connect(info) as session:
        if session.execute("SELECT to_regclass('repl_queue') IS NOT NULL").fetchone() == (True,):
            session.execute("TRUNCATE repl_queue")
        session.execute("VACUUM pgbench_branches, pgbench_tellers, wide")
        session.execute("CHECKPOINT")


def _run(server: Server, info: ConnectionInfo, *arguments: str, options: str = "") -> str:
    environment = {**os.environ, **server.environment(info), "PGOPTIONS": options}
    command = [str(server.cluster.bin / "pgbench"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SluiceError(941, f"pgbench ended with {done.returncode}: {done.stderr.strip()[-500:]}", _HINT)
    return done.stdout
