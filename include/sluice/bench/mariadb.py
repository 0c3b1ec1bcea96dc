"""`bench mariadb`: a slave on MariaDB filled by one task, against other ways to bring the same rows; then a backlog of
mixed changes drained into it.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pymysql
from pymysql.connections import Connection

from sluice.bench import workload
from sluice.bench.maria_server import MariaServer, private_mariadb
from sluice.bench.report import ROUNDS, BenchReport, alternate, seconds
from sluice.bench.server import SOURCE, BenchServer, private_server
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.drain.run import drain
from sluice.initial_update.chunks.task import load_chunks
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import inhibit
from sluice.initial_update.release import release
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.runtime.terminal import Progress
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.mariadb.session import PORT

FILLED = tuple(f"filled_{number}" for number in range(1, ROUNDS + 1))
# What the initial update makes of the table.
_CREATE = """
CREATE TABLE {}.readings (id bigint PRIMARY KEY, station int NOT NULL, taken datetime(6) NOT NULL, value double,
    note longtext) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin
"""
_MAKE = """
CREATE TABLE readings (id bigint PRIMARY KEY, station integer NOT NULL, taken timestamp NOT NULL,
                       value double precision, note text);
INSERT INTO readings SELECT i, i % 500, '2013-01-01'::timestamp + i * interval '1 s', i / 3.0, md5(i::text)
FROM generate_series(1, {rows}) AS i
"""
_INSERT = "INSERT INTO readings (id, station, taken, value, note) VALUES (%s, %s, %s, %s, %s)"
_LOAD = "LOAD DATA LOCAL INFILE '{file}' INTO TABLE {database}.readings CHARACTER SET utf8mb4"
_CONTENTS = "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', {columns}))) FROM {database}.{table}"
_COLUMNS = {
    "customers": ("id", "name", "balance", "seen"),
    "orders": ("id", "customer", "state", "placed"),
    "lines": ("order_id", "number", "article", "price"),
}
CHANGES_A_TRANSACTION = 5


def measure(scale: float, progress: Progress) -> BenchReport:
    """500,000 rows by one session of each side; 100,000 mixed changes of 3 tables, drained into fresh slaves."""
    rows, wanted = max(500, round(500_000 * scale)), max(500, round(100_000 * scale))
    with private_server(progress) as server, private_mariadb(server.directory, progress) as maria:
        master = server.database("master")
        with progress.step(f"making {rows:,} rows"), server.connect(master) as session:
            session.execute(_MAKE.format(rows=rows).encode())
        filled = _fill(server, maria, master, rows, progress)
        drained, made, equal = _drain(server, maria, master, wanted, progress)
    figures = {
        **filled,
        "ratio_to_executemany": filled["rows_per_s"] / filled["rows_per_s_executemany"],
        "ratio_to_load_data": filled["rows_per_s"] / filled["rows_per_s_load_data"],
        "changes_per_s": drained,
        "equal": equal,
    }
    return BenchReport("mariadb", {"rows": rows, "changes": made}, figures)


def _fill(
    server: BenchServer, maria: MariaServer, master: ConnectionInfo, rows: int, progress: Progress
) -> dict[str, float]:
    """Rows a second by our own chunks, reading them included, and by others, which have the rows already."""
    slaves = {name: maria.database(name) for name in FILLED}
    context = _context(server, {"public.readings": {}}, slaves)
    others = maria.database("others")
    maria.client(_CREATE.format("others"))
    with server.connect(master) as session:
        held = session.execute("SELECT id, station, taken, value, note FROM readings").fetchall()
        file = server.directory / "readings.tsv"
        with file.open("wb") as lines, session.cursor().copy("COPY readings TO STDOUT") as copy:
            for block in copy:
                lines.write(block)
    rounds = iter(FILLED)

    def ours() -> float:
        slave = next(rounds)
        inhibit(context, SOURCE, [slave])
        took = seconds(lambda: dump(context, SOURCE, [slave], load_chunks))
        release(context, SOURCE, [slave])
        replications.record(context.store, Pair(SOURCE, slave), ReplicationEvent.VERIFIED)
        return rows / took

    def executemany() -> float:
        maria.client("TRUNCATE others.readings")
        with closing(_session(others)) as session, session.cursor() as cursor:
            return rows / seconds(lambda: (cursor.executemany(_INSERT, held), session.commit()))

    def load_data() -> float:
        maria.client("TRUNCATE others.readings")
        return rows / seconds(lambda: maria.client(_LOAD.format(file=file, database="others")))

    return alternate(
        progress,
        {"rows_per_s": ours, "rows_per_s_executemany": executemany, "rows_per_s_load_data": load_data},
    )


def _drain(
    server: BenchServer, maria: MariaServer, master: ConnectionInfo, wanted: int, progress: Progress
) -> tuple[float, int, bool]:
    names = tuple(f"drained_{number}" for number in range(1, ROUNDS + 1))
    slaves = {name: maria.database(name) for name in names}
    server.drop("control")
    # The other store's capture stays beside it.
    context = _context(server, workload.TABLES, slaves, prefix="WORK_")
    rows = max(100, wanted // 10)
    with server.connect(master) as session:
        session.execute("SET TIME ZONE 'UTC'")
        workload.create(session, rows)
    context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
    with progress.step("filling the slaves"):
        inhibit(context, SOURCE, names)
        dump(context, SOURCE, names, load_chunks)
        release(context, SOURCE, names)
        for name in names:
            replications.record(context.store, Pair(SOURCE, name), ReplicationEvent.VERIFIED)
    with progress.step(f"changing {wanted:,} rows of the master") as step, server.connect(master) as session:
        made = workload.change(session, workload.Orders(rows), wanted, CHANGES_A_TRANSACTION, step)
    with progress.step("publishing them"):
        publish(context, SOURCE, once=True)
    left = iter(names)

    def side() -> float:
        pair = Pair(SOURCE, next(left))
        return made / seconds(lambda: drain(context, pair, once=True))

    rate = alternate(progress, {"changes_per_s": side})["changes_per_s"]
    with progress.step("comparing"):
        equal = _hold_the_same(server, maria, master, names)
    return rate, made, equal


def _hold_the_same(server: BenchServer, maria: MariaServer, master: ConnectionInfo, names: tuple[str, ...]) -> bool:
    with server.connect(master) as session:
        counts = [session.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() for table in _COLUMNS]
    contents_of_all = set()
    for name in names:
        contents = [
            maria.client(_CONTENTS.format(columns=", ".join(columns), database=name, table=table))
            for table, columns in _COLUMNS.items()
        ]
        contents_of_all.add(tuple(contents))
    (alike,) = contents_of_all if len(contents_of_all) == 1 else ((),)
    return [row.split("\t")[0] for row in alike] == [str(count[0]) for count in counts if count]


def _context(
    server: BenchServer, tables: dict[str, Any], slaves: dict[str, ConnectionInfo], **source: object
) -> Context:
    settings = {
        name: {"vendor": "mariadb", "schema": info.database, "schemas": {"public": info.database}}
        for name, info in slaves.items()
    }
    context = server.context(tables, slaves, {name: {"statements": False} for name in slaves}, settings, **source)
    server.hand_over(context)
    return context


def _session(info: ConnectionInfo) -> Connection:
    return pymysql.connect(
        host=info.host, port=info.port or PORT, user=info.login, password=info.password or "", database=info.database
    )
