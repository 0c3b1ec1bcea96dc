"""`bench verify`: a table compared with its copy, by checksums of ranges and by rows, beside reladiff if that is there;
then with some rows that differ, which are to be found exactly.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from sluice.apply.mapping.table_view import view
from sluice.bench import spark
from sluice.bench.report import BenchReport, Figure, alternate, seconds
from sluice.bench.server import SOURCE, BenchServer, private_server
from sluice.bench.whole_database import failure
from sluice.connections import ConnectionInfo, sealed_text
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.runtime.terminal import Progress
from sluice.vendors.postgresql.session import exported
from sluice.vendors.protocol.compare import Comparison, Side
from sluice.verify import ranges
from sluice.verify.difference import Difference, Keeping
from sluice.verify.rounds import Pace, compare_in_rounds

SLAVE = "copy"
_TABLE = TableName("public", "readings")
_MAKE = """
CREATE TABLE readings (id bigint PRIMARY KEY, station integer NOT NULL, taken timestamptz NOT NULL,
                       value double precision, note text);
INSERT INTO readings SELECT i, i % 500, '2013-01-01Z'::timestamptz + i * interval '1 s', i / 3.0, md5(i::text)
FROM generate_series(1, {rows}) AS i
"""
# Rows that are changed, missing and extra on the slave, all over the table.
_DIFFERENT = {"changed": 40, "missing": 30, "extra": 30}
_SPOIL = """
UPDATE readings SET note = note || ' ' WHERE id % {step} = 1 AND id <= {step} * {changed};
DELETE FROM readings WHERE id % {step} = 2 AND id <= {step} * {missing};
INSERT INTO readings SELECT {rows} + i * 7, 0, now(), NULL, NULL FROM generate_series(1, {extra}) AS i
"""


def measure(scale: float, progress: Progress) -> BenchReport:
    """2 million rows of two databases: equal, and then with 100 rows that differ. Spark is warm before."""
    rows = max(10_000, round(2_000_000 * scale))
    with private_server(progress) as server:
        master = server.database("master")
        with progress.step(f"making {rows:,} rows"), server.connect(master) as session:
            session.execute(_MAKE.format(rows=rows).encode())
            session.execute("VACUUM ANALYZE readings")
        slave = server.copy(master, SLAVE)
        with server.connect(slave) as session:
            session.execute("VACUUM ANALYZE readings")
        context = server.context({str(_TABLE): {}}, {SLAVE: slave})
        context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
        with spark.session(server, context, progress):
            differences: dict[str, Difference] = {}

            def ours(name: str, *, checksums: bool) -> Callable[[], float]:
                def compare() -> None:
                    differences[name] = _compare(server, context, checksums=checksums)

                return lambda: seconds(compare)

            sides = {"seconds_equal": ours("equal", checksums=True), "seconds_by_rows": ours("rows", checksums=False)}
            if shutil.which("reladiff"):
                sides["seconds_reladiff"] = lambda: seconds(lambda: _reladiff(server, master, slave))
            equal = alternate(progress, sides)
            with server.connect(slave) as session:
                session.execute(_SPOIL.format(step=rows // 50, rows=rows, **_DIFFERENT).encode())
            different = alternate(progress, {"seconds_different": ours("different", checksums=True)})
    last = differences["different"]
    figures: dict[str, Figure] = {
        **equal,
        **different,
        "rows_per_s": rows / equal["seconds_equal"],
        "share_moved": differences["equal"].share_moved,
        "share_moved_different": last.share_moved,
        "ratio_different": different["seconds_different"] / equal["seconds_equal"],
        "found_exactly": {kind: getattr(last, kind) for kind in _DIFFERENT} == _DIFFERENT
        and len(last.rows) == sum(_DIFFERENT.values()),
        "equal": not any(differences[name].different for name in ("equal", "rows")),
    }
    if "seconds_reladiff" in equal:
        figures["ratio_to_reladiff"] = equal["seconds_reladiff"] / equal["seconds_equal"]
    return BenchReport("verify", {"rows": rows, "different": sum(_DIFFERENT.values())}, figures)


def _compare(server: BenchServer, context: Context, *, checksums: bool) -> Difference:
    """The findings of a comparison, planned and done as by the job `verify`, but for the point of the stream."""
    from sluice.spark.compare_tasks import compare_all

    database = context.source(SOURCE)
    with (
        closing(database),
        database.master.exported_snapshot() as (ours, _),
        _snapshot(server, context.connection(SLAVE)) as theirs,
    ):
        layout = database.master.shape(ours, _TABLE)
        assert layout is not None
        job = Comparison(
            sealed_text(),
            SLAVE,
            view(context.mapper(Pair(SOURCE, SLAVE)), layout),
            Side("postgresql", "master", ours),
            Side("postgresql", SLAVE, theirs),
            keeping=Keeping(1_000),
            checksums=checksums,
        )
        jobs = ranges.cut([job], context.config.bulk_tasks)
        late: dict[str, SluiceError] = {}
        compared = compare_in_rounds(jobs, compare_all, Pace(), late)
        for error in late.values():
            raise error
        ((_, difference),) = ranges.by_table(compared)
    return difference


@contextmanager
def _snapshot(server: BenchServer, info: ConnectionInfo) -> Iterator[str]:
    with server.connect(info) as session:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield exported(session)[0]


def _reladiff(server: BenchServer, *infos: ConnectionInfo) -> None:
    sides = [
        side
        for info in infos
        for side in (f"postgresql://{info.login}@{info.host}:{info.port}/{info.database}", "readings")
    ]
    # All databases of a bench have one password, which is on no command line.
    env = {**os.environ, "PGPASSWORD": server.environment(infos[0])["PGPASSWORD"]}
    command = ["reladiff", *sides, "-k", "id", "-c", "%", "-j", "2"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode or done.stdout.strip():
        raise failure("reladiff", done.stderr.strip()[-500:] or done.stdout[:500])
