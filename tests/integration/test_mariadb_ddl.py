"""DDL of a PostgreSQL master on a slave on MariaDB: in its place, once, though it commits there (R3, R6, R7)."""

from __future__ import annotations

import itertools
import signal
from collections import Counter
from contextlib import closing

import pymysql
import pytest

from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.vendors.mariadb import slave
from sluice.vendors.mariadb.session import command_lock, connect, execute

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, v text, w varchar(5), n numeric(6,2));
CREATE TABLE heap (a int);
INSERT INTO t SELECT g, 'v' || g, g, g FROM generate_series(1, 5) AS g;
INSERT INTO heap VALUES (1), (1)
"""

# Each is carried out as often as there are points.
COMMANDS = (
    "CREATE TABLE n (id int, v text); INSERT INTO n VALUES (1), (1); ALTER TABLE n ADD c int DEFAULT 7; DROP TABLE n",
    "ALTER TABLE heap ADD c text DEFAULT 'c'; UPDATE heap SET c = 'd' WHERE a = 1; ALTER TABLE heap DROP c",
)
# Where, and at which time that it comes there.
POINTS = (
    (CrashPoint.INTENDED, 1),
    (CrashPoint.INTENDED, 2),
    (CrashPoint.EXECUTED, 1),
    (CrashPoint.EXECUTED, 2),
    (CrashPoint.MERGED, 1),
)

# What is done on the slave first; a command; why the slave waits; what mends that.
HELD = (
    (
        "CREATE TABLE {}.n (id int); INSERT INTO {}.n VALUES (7)",
        "CREATE TABLE n (id int)",
        "SLC-141",
        "DELETE FROM {}.n",
    ),
    ("CREATE TABLE {}.n2 (o int)", "CREATE TABLE n2 (id int)", "SLC-433", ("SELECT 1", {"recreate_tables": True})),
    (
        "CREATE TABLE {}.n3 (id int); INSERT INTO {}.n3 VALUES (7)",
        "CREATE TABLE n3 (id int)",
        "SLC-141",
        ("SELECT 1", {"overwrite_tables": True}),
    ),
    ("CREATE TABLE {}.n4 (o int)", "ALTER TABLE n RENAME TO n4", "SLC-142", "DROP TABLE {}.n4"),
    ("RENAME TABLE {}.n4 TO {}.n5", "ALTER TABLE n4 RENAME TO n5", "SLC-371", "RENAME TABLE {}.n5 TO {}.n4"),
    (
        "",
        "ALTER TABLE t DROP n, ADD n numeric(6,2)",
        "SLC-566: .*n goes and comes again",
        ("ALTER TABLE {}.t DROP n, ADD n decimal(6,2)", {"alters": "ignore"}),
    ),
    (
        "",
        "CREATE SCHEMA elsewhere; ALTER TABLE n3 SET SCHEMA elsewhere",
        "SLC-033: .*Access denied .* to database 'elsewhere'",
        "GRANT ALL ON elsewhere.* TO {}@'127.0.0.1'",
    ),
    (
        "CREATE TABLE {}.child (id int REFERENCES {}.t (id))",
        "DROP TABLE t",
        "SLC-140: defining",
        "DROP TABLE {}.child",
    ),
)


def columns(maria_server, database, table):
    return maria_server.execute(
        "SELECT column_name, column_type, is_nullable, column_default, column_key FROM information_schema.columns "
        "WHERE table_schema = %s AND table_name = %s ORDER BY column_name",
        database,
        table,
    )


def test_commands_are_carried_out_between_the_rows_of_before_and_after(maria, maria_server):
    world = maria(DDL, ["public.*"], slaves=("zurich",))
    database = world.infos["zurich"].database
    for statement in (
        "CREATE TABLE made (id int PRIMARY KEY, b bytea, at timestamptz DEFAULT now() CHECK (at > '1900-01-01'));"
        "INSERT INTO made VALUES (1, '\\x00ff', now())",
        "INSERT INTO heap VALUES (2); CREATE TABLE heaped AS SELECT * FROM heap; INSERT INTO heap VALUES (2)",
        "ALTER TABLE t ADD at timestamptz NOT NULL DEFAULT now(), ADD e text DEFAULT E'a''\\\\%s', "
        "ADD b boolean NOT NULL DEFAULT true, ADD raw bytea DEFAULT '\\x00ff', ADD f float8 DEFAULT 0.1",
        "ALTER TABLE heap ADD b text; UPDATE heap SET b = 'x' WHERE a = 2; ALTER TABLE heap ADD c int DEFAULT 7",
        "CREATE TABLE gone (id int); INSERT INTO gone VALUES (1); DROP TABLE gone; CREATE TABLE gone (other text);"
        "INSERT INTO gone VALUES ('x')",
        "TRUNCATE heaped; INSERT INTO heaped VALUES (9); DROP TABLE made",
    ):
        world.master.execute(statement)
        world.master.execute("INSERT INTO t (id, v) SELECT max(id) + 1, 'more' FROM t")
    assert world.verify() == {"zurich": 0}
    assert {row[0] for row in maria_server.execute(f"SHOW TABLES FROM {database}")} == {
        *("t", "heap", "heaped", "gone"),
        *("sluice_position", "sluice_loaded", "sluice_intent"),
    }
    assert not [row for row in columns(maria_server, database, "t") if row[3] not in (None, "NULL")]
    assert maria_server.execute(f"SELECT * FROM {database}.sluice_intent") == []


def test_a_drain_that_dies_around_a_command_carries_it_out_once(maria, monkeypatch):
    """Each command with rows on both sides; twice the process is killed, else it is overtaken where it stands."""
    world = maria(DDL, ["public.*"], slaves=("zurich",))

    def dies(at):
        met[at] += 1
        if at is point and met[at] == times:
            raise SystemExit(at)

    monkeypatch.setattr(slave, "reached", dies)
    for number, (statement, (point, times)) in enumerate(itertools.product(COMMANDS, POINTS)):
        met = Counter()
        world.master.execute(f"INSERT INTO heap (a) VALUES (1); {statement}; INSERT INTO heap (a) VALUES (1)")
        world.publish()
        if number in (0, 7):
            world.let_leases_expire()
            killed = world.job("drain", "--slave", "zurich", "--once", crash_at=point)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            world.let_leases_expire()
        else:
            with pytest.raises(SystemExit):
                world.drainer().deliver()
        times = 0
        world.drainer().deliver()
    world.let_leases_expire()
    assert world.verify() == {"zurich": 0}


def test_a_drain_that_was_overtaken_executes_no_command_and_one_that_hangs_in_it_is_ended(maria, monkeypatch):
    world = maria(DDL, ["public.*"], slaves=("zurich",))
    pair = world.pair("zurich")
    earlier = world.drainer()
    world.master.execute("INSERT INTO heap VALUES (1); DROP TABLE t")
    world.master.execute("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (7)")
    world.publish()

    def overtaken(at):
        monkeypatch.setattr(slave, "reached", lambda _: None)
        assert at is CrashPoint.INTENDED
        at = earlier.position
        with (
            closing(world.context.slave(pair)) as found,
            pytest.raises(TransientError, match=rf"SLC-092.*at {at.ordinal + 1}"),
        ):
            found.aligned(at, 1).__enter__()
        later = world.drainer()
        while later.deliver():
            pass

    monkeypatch.setattr(slave, "reached", overtaken)
    with pytest.raises(FencedError, match="SLC-050"):
        earlier.deliver()
    hanging = connect(world.infos["zurich"], "hanging")
    execute(hanging, "SELECT GET_LOCK(%(lock)s, 0)", {"lock": command_lock(pair)})
    world.drainer()
    with pytest.raises(pymysql.err.OperationalError):
        hanging.ping(reconnect=False)
    world.let_leases_expire()
    assert world.verify() == {"zurich": 0}


def test_a_command_that_cannot_be_carried_out_waits_and_policies_hold(maria, maria_server):
    world = maria(DDL, ["public.*"], slaves=("zurich",))
    database = world.infos["zurich"].database

    def so(**policies):
        world.configure(lambda settings: settings["replications"][0].update(policies))

    for here, statement, match, repaired in HELD:
        for one in filter(None, here.replace("{}", database).split("; ")):
            maria_server.execute(one)
        world.master.execute(f"INSERT INTO heap VALUES (1); {statement}; INSERT INTO heap VALUES (1)")
        world.publish()
        for _ in range(2):
            with pytest.raises(SluiceError, match=match):
                world.drain()
            world.let_leases_expire()
        sql, policies = repaired if isinstance(repaired, tuple) else (repaired, {})
        maria_server.execute(sql.replace("{}", database))
        so(**policies)
        world.drain()
        so(creates="apply", alters="apply", drops="apply", overwrite_tables=False, recreate_tables=False)
    assert world.verify() == {"zurich": 0}


def test_columns_keys_and_names_become_others_with_the_rows_that_are_there(maria, maria_server):
    world = maria(
        "CREATE TABLE t (id int PRIMARY KEY, v text, n int DEFAULT 1, w varchar(5), d numeric(6,2), x int);"
        "INSERT INTO t SELECT g, g, g, 'w' || g, g / 4.0, g FROM generate_series(1, 5) AS g",
        ["public.*"],
        slaves=("zurich",),
    )
    database = world.infos["zurich"].database
    for statement in (
        "ALTER TABLE t ALTER n TYPE bigint USING n * 100, ALTER n SET DEFAULT 7",
        "ALTER TABLE t ALTER w TYPE varchar(9), ALTER d TYPE numeric(9,2), ALTER n SET NOT NULL",
        "ALTER TABLE t ALTER w TYPE text, ALTER d TYPE numeric, ALTER n DROP NOT NULL",
        "ALTER TABLE t RENAME w TO w2; ALTER TABLE t RENAME x TO w; ALTER TABLE t RENAME w2 TO x",
        "ALTER TABLE t ALTER v TYPE int USING length(v), ADD r float8 DEFAULT random()",
        "ALTER TABLE t ADD more text, DROP d",
        "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (n, id)",
        "ALTER TABLE t ADD CHECK (n > 0), ADD UNIQUE (w), ALTER v SET DEFAULT 3; CREATE INDEX ON t (v)",
        "ALTER TABLE t DROP CONSTRAINT t_pkey; UPDATE t SET more = 'm'; ALTER TABLE t ADD PRIMARY KEY (id)",
        "ALTER TABLE t RENAME TO u; INSERT INTO u (id, v, n) VALUES (99, 1, 99); ALTER TABLE u RENAME TO t",
        "CREATE SCHEMA elsewhere; CREATE TABLE moved (id int); INSERT INTO moved VALUES (1)",
    ):
        world.master.execute(statement)
        world.master.execute("INSERT INTO t (id, v, n) SELECT max(id) + 1, 2, max(id) + 1 FROM t")
    assert world.verify() == {"zurich": 0}
    shown = [(name, kind, nullable, key) for name, kind, nullable, _, key in columns(maria_server, database, "t")]
    assert shown == [
        ("id", "int(11)", "NO", "PRI"),
        ("more", "longtext", "YES", ""),
        ("n", "bigint(20)", "NO", ""),
        ("r", "double", "YES", ""),
        ("v", "int(11)", "YES", ""),
        ("w", "int(11)", "YES", ""),
        ("x", "longtext", "YES", ""),
    ]
