"""`bench initial-update`: the dump as Spark tasks, over the wire and by files, against `psql COPY` piped into another,
a table of ten times the rows, and a whole database against what others fill one with.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from sluice.bench import spark, whole_database
from sluice.bench.report import BenchReport, Figure, alternate, seconds
from sluice.bench.server import SOURCE, BenchServer, private_server
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.initial_update.dump import dump
from sluice.initial_update.files.receive import receive
from sluice.initial_update.inhibit import inhibit
from sluice.initial_update.release import release
from sluice.model.names import Pair
from sluice.runtime.terminal import Progress
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.postgresql.session import Connection

_TIMES = 10
_CREATE = """
CREATE TABLE {table} (id bigint PRIMARY KEY, station integer NOT NULL, taken timestamptz NOT NULL,
                       value double precision, note text)
"""
_FILL = """
INSERT INTO {table} SELECT i, i % 500, '2013-01-01Z'::timestamptz + i * interval '1 s', i / 3.0, md5(i::text)
FROM generate_series(1, {rows}) AS i
"""
# A range of the table's blocks, as a chunk of ours is one.
_PART = "(SELECT * FROM readings WHERE ctid >= '({},0)' AND ctid < '({},0)')"
_BLOCKS = "SELECT pg_relation_size('readings') / current_setting('block_size')::integer"


def measure(scale: float, progress: Progress) -> BenchReport:
    """2 million rows: by raw pipes, into a table that is there, and into one that is made; then a whole database, with
    300,000 rows of 30 columns and 200 small tables besides; then 20 million rows. Spark is warm before.
    """
    rows, mixed, small = (
        max(1_000, round(2_000_000 * scale)),
        max(300, round(300_000 * scale)),
        max(2, round(200 * scale)),
    )
    with private_server(progress) as server:
        master = server.database("master")
        with progress.step(f"making {rows:,} rows"), server.connect(master) as session:
            _make(session, "readings", rows)
        with progress.step(f"making {mixed:,} rows of 30 columns and {small} small tables"):
            whole_database.add(server, master, mixed, small)
        # Before anything is captured, so that others find no trigger to carry along.
        plain = server.copy(master, "plain")
        with progress.step(f"making {_TIMES * rows:,} rows"), server.connect(master) as session:
            _make(session, "tenfold", _TIMES * rows)
        slaves = {name: server.database(name) for name in ("existing", "created", "whole")}
        raw = server.database("raw")
        context = server.context({"public.readings": {}}, slaves)
        for info in (raw, slaves["existing"]):
            with server.connect(info) as session:
                _make(session, "readings")
        with server.connect(slaves["existing"]) as session:
            _make(session, "tenfold")
        driver = whole_database.driver()
        with spark.session(server, context, progress, driver) as load:
            sides = {
                "rows/s of two psql piped into two": lambda: rows / _pipe(server, master, raw, 2),
                "rows/s of psql piped into psql": lambda: rows / _pipe(server, master, raw, 1),
                "rows/s into a table that is there": lambda: rows / _time_dump(server, context, "existing", load),
                "rows/s into a table that is made": lambda: rows / _time_dump(server, context, "created", load),
                "rows/s by files into a table that is there": lambda: rows / _by_files(server, context, load),
            }
            two_piped, piped, existing, created, files = alternate(progress, sides).values()
            by_jdbc = partial(whole_database.by_jdbc, server, master=master, slave=raw, rows=rows)
            jdbc = {
                "rows/s by Spark's JDBC, tuned": lambda: rows / by_jdbc(tuned=True),
                "rows/s by Spark's JDBC as it is": lambda: rows / by_jdbc(tuned=False),
            }
            jdbcs = alternate(progress, jdbc if driver else {}).values()
            with progress.step("comparing"):
                equal = server.hold_the_same((master, raw, slaves["existing"], slaves["created"]), ["readings"])
            wholes = _whole(server, context, load, plain, progress)
            whole = wholes.pop("")
            with progress.step("comparing"):
                equal = equal and server.hold_the_same((master, slaves["whole"]), whole_database.TABLES)
            (once_s, once_mb), (tenfold_s, tenfold_mb) = _measure(server, context, load, progress)
            with progress.step("comparing"):
                equal = equal and server.hold_the_same((master, slaves["existing"]), ["tenfold"])
    figures: dict[str, Figure] = {
        "ratio_to_copy": existing / two_piped,
        "ratio_to_one_copy": existing / piped,
        "ratio_to_one_copy_created": created / piped,
        "files_ratio": existing / files,
        "rows_per_s": existing,
        "rows_per_s_created": created,
        "rows_per_s_files": files,
        "rows_per_s_copy": two_piped,
        "rows_per_s_one_copy": piped,
        **{
            name: existing / other
            for name, other in zip(("ratio_to_spark_jdbc", "ratio_to_spark_jdbc_defaults"), jdbcs, strict=False)
        },
        "whole_s": whole,
        **{f"ratio_to_{name}": other / whole for name, other in wholes.items()},
        "tenfold_ratio": tenfold_s / once_s,
        "peak_rss_mb": tenfold_mb,
        "peak_rss_mb_of_a_tenth": once_mb,
        "equal": equal,
    }
    inputs = {"rows": rows, "mixed": mixed, "small_tables": small, "tasks": context.config.bulk_tasks}
    return BenchReport("initial-update", inputs, figures)


def _whole(
    server: BenchServer, narrow: Context, load: spark.Load, plain: ConnectionInfo, progress: Progress
) -> dict[str, float]:
    """Seconds to fill an empty database with all tables, their keys and indexes: ours, under no name, and others'."""
    slave, other = narrow.connection("whole"), server.database("other")
    tables: dict[str, object] = {"public.readings": {}, "public.mixed": {}, "small.*": {}}
    context = _with(server, narrow, tables)

    def ours() -> float:
        whole_database.drop_tables(server, slave)
        inhibit(context, SOURCE, ["whole"])
        took = seconds(lambda: dump(context, SOURCE, ["whole"], load))
        _end(context, "whole")
        return took

    sides: dict[str, Callable[[], float]] = {
        "": ours,
        "pg_dump": partial(whole_database.time_restore, server, plain, other),
    }
    if whole_database.can_clone():
        sides["pgcopydb"] = partial(whole_database.time_clone, server, plain, other)
    told = {f"seconds of a whole database {name}".strip(): side for name, side in sides.items()}
    return dict(zip(sides, alternate(progress, told).values(), strict=True))


def _make(session: Connection, table: str, rows: int = 0) -> None:
    session.execute(_CREATE.format(table=table).encode())
    session.execute(_FILL.format(table=table, rows=rows).encode())
    # As a table is that has been there for a while: who reads it first would else write all of it once more.
    session.execute(f"VACUUM ANALYZE {table}".encode())


def _with(server: BenchServer, context: Context, tables: dict[str, object]) -> Context:
    """The same slaves, other tables."""
    return server.context(tables, {name: context.connection(name) for name in context.config.slaves})


def _pipe(server: BenchServer, master: ConnectionInfo, raw: ConnectionInfo, pipes: int) -> float:
    """The same rows by psql alone, into a table with its primary key: so many pipes at once, each with its share."""
    with server.connect(raw) as session:
        session.execute("TRUNCATE readings")
        session.execute("CHECKPOINT")
    with server.connect(master) as session:
        ((blocks,),) = session.execute(_BLOCKS).fetchall()
    cuts = [number * int(blocks) // pipes for number in range(pipes)] + [int(blocks)]
    # All of a table is copied faster by its name than by a query.
    shares = [_PART.format(*cut) for cut in pairwise(cuts)] if pipes > 1 else ["readings"]
    psql = [str(server.cluster.bin / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-c"]

    def pipe(share: str) -> list[subprocess.Popen[bytes]]:
        out = [*psql, f"COPY {share} TO STDOUT (FORMAT binary)"]
        into = [*psql, "COPY readings FROM STDIN (FORMAT binary)"]
        here, there = ({**os.environ, **server.environment(info)} for info in (master, raw))
        reader = subprocess.Popen(out, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=here)
        writer = subprocess.Popen(into, stdin=reader.stdout, env=there)
        assert reader.stdout
        reader.stdout.close()
        return [reader, writer]

    def work() -> None:
        programs = [program for share in shares for program in pipe(share)]
        codes = [program.wait() for program in programs]
        if any(codes):
            raise whole_database.failure("psql", f"{codes}")

    return seconds(work)


def _measure(server: BenchServer, context: Context, load: spark.Load, progress: Progress) -> list[tuple[float, float]]:
    """Seconds of a dump into a table that is there, and the most memory that the job's processes took, in MB: of the
    table, and of the one that is ten times as large.
    """
    peaks: dict[str, float] = {}

    def measure_peak(table: str) -> float:
        alone = _with(server, context, {f"public.{table}": {}})
        with spark.peak() as peak:
            took = _time_dump(server, alone, "existing", load, table)
        peaks[table] = max(peak.mb, peaks.get(table, 0.0))
        return took

    sides = {f"seconds of the table {table}": partial(measure_peak, table) for table in ("readings", "tenfold")}
    return list(zip(alternate(progress, sides).values(), peaks.values(), strict=True))


def _time_dump(server: BenchServer, context: Context, slave: str, load: spark.Load, table: str = "readings") -> float:
    """The dump alone: the slave's gate is shut before, and opened after."""
    _begin(server, context, slave, f"DROP TABLE IF EXISTS {table}" if slave == "created" else f"TRUNCATE {table}")
    took = seconds(lambda: dump(context, SOURCE, [slave], load))
    _end(context, slave)
    return took


def _by_files(server: BenchServer, context: Context, load: spark.Load) -> float:
    """Store and load; the slave looks where the master stores."""
    slave = "existing"
    _begin(server, context, slave, "TRUNCATE readings")
    took = seconds(lambda: dump(context, SOURCE, [slave], load, store=True))
    release(context, SOURCE, [slave])
    took += seconds(lambda: receive(context, SOURCE, slave, load))
    _end(context, slave)
    return took


def _begin(server: BenchServer, context: Context, slave: str, emptied: str) -> None:
    inhibit(context, SOURCE, [slave])
    with server.connect(context.connection(slave)) as session:
        session.execute(emptied.encode())
        session.execute("CHECKPOINT")


def _end(context: Context, slave: str) -> None:
    release(context, SOURCE, [slave])
    replications.record(context.store, Pair(SOURCE, slave), ReplicationEvent.VERIFIED)
