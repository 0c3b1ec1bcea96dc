"""DDL of a PostgreSQL master on a slave on MariaDB: in its place, once, though it commits there (R3, R6, R7)."""

from __future__ import annotations

import itertools
import signal
from contextlib import closing
from dataclasses import replace

import pymysql
import pytest
from support.mariadb import ONE_SERVER, SERVERS

from sluice.capture.grants import slave_grants
from sluice.changelog.points import PointWait
from sluice.commands.unblock import skip
from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.vendors import committed_ddl
from sluice.vendors.mariadb import slave
from sluice.vendors.mariadb.ddl import commands
from sluice.vendors.mariadb.read.compare import aligned
from sluice.vendors.mariadb.session import command_lock, connect, execute, our_tables
from sluice.vendors.mariadb.write.repair import MariaRepair

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, v text, w varchar(5), n numeric(6,2));
CREATE TABLE heap (a int);
INSERT INTO t SELECT g, 'v' || g, g, g FROM generate_series(1, 5) AS g;
INSERT INTO heap VALUES (1), (1);
CREATE TABLE s (id int PRIMARY KEY, v text, secret text);
INSERT INTO s VALUES (1, 'a', 'secret');
CREATE TABLE k (id int PRIMARY KEY, v text, n int DEFAULT 1, w varchar(5), d numeric(6,2), x int);
INSERT INTO k SELECT g, g, g, 'w' || g, g / 4.0, g FROM generate_series(1, 5) AS g
"""

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
# At the first time that it comes to these the process is killed.
KILLED = (CrashPoint.INTENDED, CrashPoint.EXECUTED)

# What is done on the slave first; a command; why the slave waits; what fixes that.
HELD = (
    (
        "CREATE TABLE {}.n (id int); INSERT INTO {}.n VALUES (7)",
        "CREATE TABLE n (id int)",
        "SLC-141",
        "DELETE FROM {}.n",
    ),
    ("CREATE TABLE {}.n2 (o int)", "CREATE TABLE n2 (id int)", "SLC-073", ("SELECT 1", {"recreate_tables": True})),
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
        "SLC-140: .*n goes and comes again",
        ("ALTER TABLE {}.t DROP n, ADD n decimal(6,2)", {"alters": "ignore"}),
    ),
    (
        "",
        "CREATE SCHEMA elsewhere; ALTER TABLE n3 SET SCHEMA elsewhere",
        "SLC-033: .*Access denied .* to database 'elsewhere'",
        "GRANT ALL ON elsewhere.* TO {}@'127.0.0.1'",
    ),
    (
        "CREATE TABLE {}.child (id int, FOREIGN KEY (id) REFERENCES {}.t (id))",
        "DROP TABLE t",
        "SLC-140: defining",
        "DROP TABLE {}.child",
    ),
)


def delivered(world, size=50_000):
    """All that comes, by a drain that takes over."""
    drain = world.drainer(size=size)
    while drain.deliver():
        pass


class Death:
    """Ends a drain when it has come to a place so often."""

    def __init__(self):
        self.at = []

    def __call__(self, at):
        if self.at[-1:] == [at]:
            self.at.pop()
            if not self.at:
                raise SystemExit(at)


def columns(maria_server, database, table):
    return maria_server.execute(
        "SELECT column_name, column_type, is_nullable, column_default, column_key FROM information_schema.columns "
        "WHERE table_schema = %s AND table_name = %s ORDER BY column_name",
        database,
        table,
    )


@pytest.mark.full
@SERVERS
def test_commands_are_carried_out_between_the_rows_of_before_and_after(maria, slave_server):
    world = maria(DDL, ["public.*"], slaves=("zurich",), update=False)
    database = world.infos["zurich"].database
    otherwise = {"as": f"{database}.seen", "columns": {"v": "w"}, "exclude_columns": ["secret", "twice"]}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables={"public.s": otherwise}))
    world.update()
    world.verify(initial=True)
    for statement in (
        "ALTER TABLE s ADD n int DEFAULT 3, DROP secret, ADD twice int GENERATED ALWAYS AS (id * 2) STORED",
        "ALTER TABLE s RENAME v TO x; INSERT INTO s VALUES (2, 'b', 4); "
        "ALTER TABLE s ADD secret int, ALTER n TYPE text",
        "CREATE TABLE made (id int PRIMARY KEY, b bytea, at timestamptz DEFAULT now() CHECK (at > '1900-01-01'));"
        "INSERT INTO made VALUES (1, '\\x00ff', now())",
        "INSERT INTO heap VALUES (2); CREATE TABLE heaped AS SELECT * FROM heap; INSERT INTO heap VALUES (2)",
        "ALTER TABLE t ADD at timestamptz NOT NULL DEFAULT now(), ADD e text DEFAULT E'a''\\\\%s', "
        "ADD b boolean NOT NULL DEFAULT true, ADD raw bytea DEFAULT '\\x00ff', ADD f float8 DEFAULT 0.1",
        "ALTER TABLE heap ADD b text; UPDATE heap SET b = 'x' WHERE a = 2; ALTER TABLE heap ADD c int DEFAULT 7",
        "CREATE TABLE gone (id int); INSERT INTO gone VALUES (1); DROP TABLE gone; CREATE TABLE gone (other text);"
        "INSERT INTO gone VALUES ('x')",
        "TRUNCATE heaped; INSERT INTO heaped VALUES (9); DROP TABLE made",
        "ALTER TABLE k ALTER n TYPE bigint USING n * 100, ALTER n SET DEFAULT 7",
        "ALTER TABLE k ALTER w TYPE varchar(9), ALTER d TYPE numeric(9,2), ALTER n SET NOT NULL",
        "ALTER TABLE k ALTER w TYPE text, ALTER d TYPE numeric, ALTER n DROP NOT NULL",
        "ALTER TABLE k RENAME w TO w2; ALTER TABLE k RENAME x TO w; ALTER TABLE k RENAME w2 TO x",
        "ALTER TABLE k ALTER v TYPE int USING length(v), ADD r float8 DEFAULT random()",
        "ALTER TABLE k ADD more text, DROP d",
        "ALTER TABLE k DROP CONSTRAINT k_pkey, ADD PRIMARY KEY (n, id)",
        "ALTER TABLE k ADD CHECK (n > 0), ADD UNIQUE (w), ALTER v SET DEFAULT 3; CREATE INDEX ON k (v)",
        "ALTER TABLE k DROP CONSTRAINT k_pkey; UPDATE k SET more = 'm'; ALTER TABLE k ADD PRIMARY KEY (id)",
        "ALTER TABLE k RENAME TO u; INSERT INTO u (id, v, n) VALUES (99, 1, 99); ALTER TABLE u RENAME TO k",
    ):
        world.master.execute(statement)
        world.master.execute("INSERT INTO k (id, v, n) SELECT max(id) + 1, 2, max(id) + 1 FROM k")
        world.master.execute("INSERT INTO t (id, v) SELECT max(id) + 1, 'more' FROM t")
    assert world.verify() == {"zurich": 0}
    assert {row[0] for row in slave_server.execute(f"SHOW TABLES FROM {database}")} == {
        *("t", "k", "heap", "heaped", "gone", "seen"),
        *("sluice_position", "sluice_loaded", "sluice_intent"),
    }
    assert not [row for row in columns(slave_server, database, "t") if row[3] not in (None, "NULL")]
    assert slave_server.execute(f"SELECT source FROM {database}.sluice_intent") == [("",)]
    whole = slave_server.kind.whole_number("int", 11)
    assert [row[:2] for row in columns(slave_server, database, "seen")] == [
        ("id", whole),
        ("n", "longtext"),
        ("x", "longtext"),
    ]
    shown = [(name, kind, nullable, key) for name, kind, nullable, _, key in columns(slave_server, database, "k")]
    assert shown == [
        ("id", whole, "NO", "PRI"),
        ("more", "longtext", "YES", ""),
        ("n", slave_server.kind.whole_number("bigint", 20), "NO", ""),
        ("r", "double", "YES", ""),
        ("v", whole, "YES", ""),
        ("w", whole, "YES", ""),
        ("x", "longtext", "YES", ""),
    ]


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_a_drain_that_dies_around_a_command_carries_it_out_once(maria, slave_server, monkeypatch):
    """Each command with rows on both sides; once the process is killed, else it is overtaken where it stands."""
    world = maria(DDL, ["public.*"], slaves=("zurich",))
    death = Death()
    for module in (slave, committed_ddl):
        monkeypatch.setattr(module, "crash_if_asked", death)
    deaths = [*itertools.product(COMMANDS[:1], POINTS), *itertools.product(COMMANDS[1:], POINTS[1:3])]
    for number, (statement, (point, times)) in enumerate(deaths):
        mode = "one_to_one" if number % 2 else "batch"
        world.configure(lambda settings, mode=mode: settings["replications"][0].update(mode=mode))
        death.at = [point] * times
        world.master.execute(f"INSERT INTO heap (a) VALUES (1); {statement}; INSERT INTO heap (a) VALUES (1)")
        world.publish()
        if point in KILLED and (statement, times) == (COMMANDS[0], 1):
            death.at.clear()
            world.let_leases_expire()
            killed = world.job("drain", "--slave", "zurich", "--once", crash_at=point)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            world.let_leases_expire()
        else:
            with pytest.raises(SystemExit):
                delivered(world)
        delivered(world)
    pair, database, reader = world.pair("zurich"), world.infos["zurich"].database, slave_server.create_account()
    slave_server.execute(f"GRANT SELECT ON {database}.* TO {reader.login}@'127.0.0.1'")
    parts = our_tables(database)
    earlier = world.drainer()
    world.master.execute("INSERT INTO heap VALUES (1); DROP TABLE k")
    world.master.execute("CREATE TABLE k (id int PRIMARY KEY); INSERT INTO k VALUES (7)")
    world.publish()

    def repair_rows():
        return MariaRepair(world.infos["zurich"], pair, database, world.context.mapper(pair), [])

    def overtaken(here):
        monkeypatch.setattr(committed_ddl, "crash_if_asked", lambda _: None)
        assert here is CrashPoint.INTENDED
        at = earlier.position
        # It is beyond where it was, and has not arrived where the command's transaction ends.
        for point, match in (
            (at, rf"SLC-092.*at {at.ordinal}, and in"),
            (replace(at, ordinal=at.ordinal + 1), "SLC-091"),
        ):
            with pytest.raises(TransientError, match=match):
                aligned(reader, parts, pair, point, 0.1).__enter__()
        with pytest.raises(TransientError, match="SLC-092"), closing(repair_rows()) as rows:
            rows.end([], PointWait(pair, earlier.position, 1), lambda: pytest.fail("it is not there"), repr)
        delivered(world)

    monkeypatch.setattr(committed_ddl, "crash_if_asked", overtaken)
    with pytest.raises(FencedError, match="SLC-050"):
        earlier.deliver()
    position = world.drainer().position
    slave_server.execute(f"DROP TABLE {parts['intent']}")
    with aligned(reader, parts, pair, position, 1):
        pass
    tenant, hanging = connect(slave_server.create_account(), "tenant"), connect(world.infos["zurich"], "hanging")
    # A name that anybody could make is of no use to him.
    held = "SELECT GET_LOCK(%(lock)s, 0)"
    assert execute(tenant, held, {"lock": command_lock(pair, "command")}) == [("1",)]
    world.drainer()
    ((word,),) = slave_server.execute(f"SELECT command FROM {parts['intent']}")
    execute(hanging, held, {"lock": command_lock(pair, word)})
    world.drainer()
    assert slave_server.execute(f"SELECT command FROM {parts['intent']}") == [(word,)]
    with pytest.raises(pymysql.err.OperationalError):
        hanging.ping(reconnect=False)
    monkeypatch.setattr(commands, "_ENDED_S", 0)
    execute(tenant, held, {"lock": command_lock(pair, word)})
    with pytest.raises(TransientError, match=rf"SLC-036: session {tenant.thread_id()} "):
        world.drainer()
    tenant.close()
    world.let_leases_expire()
    assert world.verify() == {"zurich": 0}


@pytest.mark.full
@ONE_SERVER
def test_a_command_that_cannot_be_carried_out_waits_and_policies_hold(maria, slave_server):
    world = maria(DDL, ["public.*"], slaves=("zurich",))
    database = world.infos["zurich"].database

    def so(**policies):
        world.configure(lambda settings: settings["replications"][0].update(policies))

    for here, statement, match, repaired in HELD:
        for one in filter(None, here.replace("{}", database).split("; ")):
            slave_server.execute(one)
        world.master.execute(f"INSERT INTO heap VALUES (1); {statement}; INSERT INTO heap VALUES (1)")
        world.publish()
        with pytest.raises(SluiceError, match=match):
            world.drain()
        world.let_leases_expire()
        sql, policies = repaired if isinstance(repaired, tuple) else (repaired, {})
        slave_server.execute(sql.replace("{}", database))
        so(**policies)
        world.drain()
        if "alters" in policies:
            assert "GRANT ALTER ON" not in slave_grants(world.context, "zurich", silent=False)
        so(creates="apply", alters="apply", drops="apply", overwrite_tables=False, recreate_tables=False)
    assert world.verify() == {"zurich": 0}


@pytest.mark.full
@ONE_SERVER
def test_what_is_beyond_the_limits_of_the_slave_is_left_out_behind_its_intent(maria, slave_server):
    made = ("public.t", "public.heap", "public.s", "public.k")
    world = maria(DDL, list(made), slaves=("zurich",))
    many = ", ".join(f"ADD c{number} int" for number in range(1017))
    long = "ALTER TABLE k DROP CONSTRAINT k_pkey, ALTER v TYPE varchar(700), ALTER w TYPE varchar(700)"
    for table, statement in (
        ("t", f"ALTER TABLE t {many}"),
        ("k", f"INSERT INTO s VALUES (2); {long}, ADD PRIMARY KEY (id, v, w); INSERT INTO s VALUES (3)"),
    ):
        world.master.execute(f"INSERT INTO heap VALUES (1); {statement}; INSERT INTO heap VALUES (1)")
        world.publish()
        with pytest.raises(SluiceError, match="SLC-140") as caught:
            world.drain()
        assert f"--skip public.{table}`" in str(caught.value)
        world.let_leases_expire()
        skip(world.context, world.pair("zurich"), f"public.{table}")
        world.drain()
        world.let_leases_expire()
    assert world.verify() == {"zurich": 0}
    assert slave_server.execute(f"SELECT count(*) FROM {world.infos['zurich'].database}.heap") == [(6,)]


@ONE_SERVER
def test_an_alter_that_is_found_late_is_carried_out_once_in_front_of_the_rows_that_need_it(maria, weak, monkeypatch):
    """Nothing tells where it was: it is moved to a row, whose key it gets."""
    world = maria(DDL, ["public.t", "public.heap"], slaves=("zurich",), elsewhere={"master": weak})
    death = Death()
    for module in (slave, committed_ddl):
        monkeypatch.setattr(module, "crash_if_asked", death)
    for number, (point, times) in enumerate(POINTS[1:4]):
        death.at = [point] * times
        for statement in (
            "INSERT INTO heap (a) VALUES (1)",
            f"ALTER TABLE heap ADD c{number} int DEFAULT 7; ALTER TABLE t ADD c{number} text",
            f"INSERT INTO heap (a, c{number}) VALUES (1, 2); UPDATE t SET c{number} = 'x'; INSERT INTO heap VALUES (1)",
        ):
            world.master.execute(statement)
        world.publish()
        assert [change["action"] for change in world.log()][-1] == "A", "the rows come first"
        with pytest.raises(SystemExit):
            world.drainer().deliver()
        delivered(world, size=1)
    world.let_leases_expire()
    assert world.verify() == {"zurich": 0}
