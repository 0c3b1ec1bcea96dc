"""A whole database to be filled, and what others fill one with: pg_dump and pg_restore, pgcopydb, Spark's JDBC."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sluice.bench.report import seconds
from sluice.bench.server import BenchServer
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError

# Those of the schema public.
TABLES = ("readings", "mixed")
_ROWS_OF_SMALL = 100
_JOBS = "2"
_MIXED = {
    "integer": "i",
    "bigint": "i::bigint * 1000003",
    "smallint": "i % 30000",
    "numeric(18, 4)": "i * 1.2345",
    "double precision": "i / 7.0",
    "text": "md5(i::text)",
    "varchar(40)": "'name ' || i",
    "timestamptz": "timestamptz '2013-01-01Z' + i * interval '61.5 s'",
    "date": "date '2013-01-01' + i % 9000",
    "boolean": "i % 3 = 0",
    "uuid": "md5(i::text)::uuid",
    "jsonb": "jsonb_build_object('k', i)",
    "bytea": "decode(md5(i::text), 'hex')",
    "text[]": "ARRAY['a' || i, NULL]",
    "interval": "make_interval(days => i % 400)",
}
# Each kind twice: 30 columns.
_COLUMNS = [(f"c{number}", kind, value) for number, (kind, value) in enumerate([*_MIXED.items()] * 2)]
_SMALL_TABLES = """
DO $$
BEGIN
    CREATE SCHEMA small;
    FOR number IN 1 .. {tables} LOOP
        EXECUTE format('CREATE TABLE small.t%s (id integer PRIMARY KEY, name text NOT NULL UNIQUE)', number);
        EXECUTE format('INSERT INTO small.t%s SELECT i, %L || i FROM generate_series(1, {rows}) AS i', number, 'n');
    END LOOP;
END
$$
"""


def add(server: BenchServer, info: ConnectionInfo, rows: int, small: int) -> None:
    """Make, beside the narrow table, one of 30 mixed columns with an index, and so many small tables."""
    columns = ", ".join(f"{name} {kind}" for name, kind, _ in _COLUMNS)
    values = ", ".join(value for _, _, value in _COLUMNS)
    with server.connect(info) as session:
        session.execute(f"CREATE TABLE mixed (id bigint PRIMARY KEY, {columns})".encode())
        session.execute(f"INSERT INTO mixed SELECT i, {values} FROM generate_series(1, {rows}) AS i".encode())
        session.execute("CREATE INDEX ON mixed (c0, c7)")
        session.execute(_SMALL_TABLES.format(tables=small, rows=_ROWS_OF_SMALL).encode())
        session.execute("VACUUM ANALYZE")


def drop_tables(server: BenchServer, info: ConnectionInfo) -> None:
    """Leave nothing of these tables."""
    with server.connect(info) as session:
        session.execute("DROP TABLE IF EXISTS readings, mixed")
        session.execute("DROP SCHEMA IF EXISTS small CASCADE")
        session.execute("CHECKPOINT")


def time_restore(server: BenchServer, master: ConnectionInfo, slave: ConnectionInfo) -> float:
    """Seconds of pg_dump into a directory and pg_restore out of it, each with two jobs, nothing compressed."""
    drop_tables(server, slave)
    directory = str(server.directory / "dumped")
    shutil.rmtree(directory, ignore_errors=True)
    dump = [str(server.cluster.bin / "pg_dump"), "-Fd", f"-j{_JOBS}", "--compress=none", "--no-owner", "-f", directory]
    restore = [str(server.cluster.bin / "pg_restore"), f"-j{_JOBS}", "--no-owner", "-d", slave.database, directory]

    def work() -> None:
        _run(dump, server.environment(master))
        _run(restore, server.environment(slave))
        with server.connect(slave) as session:
            session.execute("ANALYZE")

    return seconds(work)


def time_clone(server: BenchServer, master: ConnectionInfo, slave: ConnectionInfo) -> float:
    """Seconds of `pgcopydb clone` with two jobs of each kind."""
    drop_tables(server, slave)
    directory = str(server.directory / "pgcopydb")
    command = ["pgcopydb", "clone", "--no-owner", "--restart", "--dir", directory]
    jobs = ["--table-jobs", _JOBS, "--index-jobs", _JOBS]
    # It calls pg_dump and pg_restore, which are to be those of this server.
    path = os.pathsep.join([str(server.cluster.bin), os.environ.get("PATH", os.defpath)])
    ends = {
        "PGCOPYDB_SOURCE_PGURI": server.conninfo(master),
        "PGCOPYDB_TARGET_PGURI": server.conninfo(slave),
        "PATH": path,
    }
    return seconds(lambda: _run([*command, *jobs], ends))


def can_clone() -> bool:
    """Whether pgcopydb is installed."""
    return shutil.which("pgcopydb") is not None


def driver() -> Path | None:
    """The newest JDBC driver that a Maven or an Ivy of this user has left, if there is one."""
    patterns = (".m2/repository/org/postgresql/postgresql/*/postgresql-*.jar", ".ivy2*/jars/org.postgresql_*.jar")
    jars = (path for pattern in patterns for path in Path.home().glob(pattern))
    return max(jars, key=lambda path: path.stat().st_mtime, default=None)


def by_jdbc(server: BenchServer, master: ConnectionInfo, slave: ConnectionInfo, rows: int, *, tuned: bool) -> float:
    """Seconds of Spark's JDBC for the narrow table, into one that is there.

    Args:
        tuned: two partitions, 10,000 rows at a time, inserts of many rows; else as Spark does it by itself.
    """
    from sluice.spark.session import spark

    with server.connect(slave) as session:
        session.execute("TRUNCATE readings")
        session.execute("CHECKPOINT")
    reading: dict[str, str | int] = {}
    writing: dict[str, str | int] = {}
    if tuned:
        bounds: dict[str, str | int] = {"lowerBound": 1, "upperBound": rows, "numPartitions": _JOBS}
        reading = {"fetchsize": 10_000, "partitionColumn": "id", **bounds}
        writing = {"batchsize": 10_000, "reWriteBatchedInserts": "true"}

    def work() -> None:
        frame = spark().read.format("jdbc").options(**_at(master), **reading).load()
        frame.write.format("jdbc").mode("append").options(**_at(slave), **writing).save()

    return seconds(work)


def _at(info: ConnectionInfo) -> dict[str, str | int]:
    url = f"jdbc:postgresql://{info.host}:{info.port}/{info.database}"
    who = {"user": info.login, "password": info.password, "driver": "org.postgresql.Driver"}
    return {"url": url, "dbtable": "readings", **who}


def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    # In a group of its own: pgcopydb ends all of its process group when it fails.
    done = subprocess.run(
        command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, process_group=0
    )
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise failure(Path(command[0]).name, f"{done.returncode}: {message}")


def failure(program: str, how: str) -> SluiceError:
    """A program that is measured beside ours has failed."""
    return SluiceError(947, f"{program} ended with {how}", "fix what it said, and run the bench again")
