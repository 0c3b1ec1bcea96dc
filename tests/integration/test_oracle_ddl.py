"""DDL of a PostgreSQL master on a slave on Oracle: in its place, once, though it commits there (R3, R6, R7)."""

from __future__ import annotations

import itertools
from contextlib import ExitStack

import pytest
from support.oracle_depots import DEPOTS, SLAVE
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.vendors import committed_ddl
from sluice.vendors.oracle import slave
from sluice.vendors.oracle.ddl.commands import OracleCommands

pytestmark = [pytest.mark.full, pytest.mark.postgres]

DDL = """CREATE TABLE t (id int PRIMARY KEY, v text, w varchar(5), n numeric(6,2){more});
INSERT INTO t (id, v, w, n) SELECT g, 'v' || g, g, g FROM generate_series(1, 5) AS g"""
COMMANDS = (
    "ALTER TABLE t ADD made int NOT NULL DEFAULT 7, ALTER w TYPE text, ADD z text DEFAULT 'it''s'",
    "ALTER TABLE t RENAME v TO x; INSERT INTO t (id, x, made) VALUES (101, 'b', 4); ALTER TABLE t ADD v varchar(9)",
    "CREATE TABLE k (id int, n int, PRIMARY KEY (id)); INSERT INTO k VALUES (1, 1), (2, 2)",
    "ALTER TABLE k ADD v varchar(5), ADD d numeric(6,2) DEFAULT 1.5; UPDATE k SET v = 'v' || id",
    "ALTER TABLE k ALTER v TYPE varchar(9), ALTER d TYPE numeric(9,2), ALTER n SET NOT NULL",
    "ALTER TABLE k ALTER n DROP NOT NULL, ALTER v TYPE text USING v || '!', ALTER d TYPE bigint",
    "ALTER TABLE k RENAME n TO m; ALTER TABLE k RENAME d TO n; ALTER TABLE k RENAME m TO d",
    "ALTER TABLE k DROP CONSTRAINT k_pkey, ALTER d SET NOT NULL, ADD PRIMARY KEY (d, id)",
    "ALTER TABLE k DROP CONSTRAINT k_pkey; INSERT INTO k (id, d) VALUES (3, 3); ALTER TABLE k ADD PRIMARY KEY (id)",
    "ALTER TABLE k RENAME TO u; INSERT INTO u (id, d) VALUES (9, 9); ALTER TABLE u RENAME TO k",
    "CREATE TABLE gone (id int); INSERT INTO gone VALUES (1); DROP TABLE gone; CREATE TABLE gone (other text)",
    "TRUNCATE gone; INSERT INTO gone VALUES ('x'), ('x'); ALTER TABLE k ADD CHECK (id > 0), ADD UNIQUE (n, v)",
)
# Where a value of each type stands for those of existing rows, and what becomes of types where a real server is.
MORE = (
    "ALTER TABLE t ADD d1 date DEFAULT '2024-02-29', ADD d2 timestamp DEFAULT '0001-01-01 00:00:00.000001', "
    "ADD d3 timestamptz NOT NULL DEFAULT '2024-02-29 12:00+02', ADD d4 boolean NOT NULL DEFAULT true, "
    "ADD d5 float8 DEFAULT 0.5, ADD d6 real DEFAULT -2, ADD d7 bytea NOT NULL DEFAULT '', ADD d8 text DEFAULT '', "
    "ADD d9 bigint DEFAULT -9223372036854775808, ADD d10 uuid DEFAULT '123e4567-e89b-12d3-a456-426655440000'",
    "ALTER TABLE t ALTER d1 TYPE timestamptz, ALTER d5 TYPE text, ALTER d10 TYPE text, ALTER d8 SET DEFAULT 'x'",
)
# An ALTER of several statements, and a command behind rows of its own table.
BOTH_SIDES = (
    "ALTER TABLE heap DROP b, DROP c, ADD d{n} int DEFAULT 7; INSERT INTO heap (a) VALUES (1);"
    "CREATE TABLE n{n} (id int); INSERT INTO n{n} VALUES (1), (1); ALTER TABLE n{n} ADD v text DEFAULT 'v'"
)
OF_MARIADB = """CREATE TABLE t (id int PRIMARY KEY, v varchar(5), n decimal(6,2));
INSERT INTO t VALUES (1, 'a', 1.5), (2, NULL, -2)"""
COMMANDS_OF_MARIADB = (
    "ALTER TABLE t ADD c int NOT NULL DEFAULT 7, ADD d varchar(9) DEFAULT 'it''s' AFTER id",
    "INSERT INTO t (id, v) VALUES (3, 'b')",
    "ALTER TABLE t MODIFY v varchar(9), MODIFY n decimal(9,2), CHANGE c e bigint",
    "ALTER TABLE t DROP d, MODIFY v text",
    "UPDATE t SET e = 8 WHERE id = 2",
    "CREATE TABLE made (id int AUTO_INCREMENT PRIMARY KEY, v text)",
    "INSERT INTO made (v) VALUES ('x'), ('')",
    "ALTER TABLE made ADD k bigint NOT NULL DEFAULT 1, MODIFY id int NOT NULL, DROP PRIMARY KEY, "
    "ADD PRIMARY KEY (k, id)",
    "CREATE TABLE gone (id int)",
    "DROP TABLE gone",
)
HELD = (
    (
        'CREATE TABLE "{}"."n" ("id" NUMBER(10,0) NULL); INSERT INTO "{}"."n" VALUES (7)',
        "CREATE TABLE n (id int)",
        "SLC-141",
        'DELETE FROM "{}"."n"',
    ),
    (
        "",
        "ALTER TABLE t ALTER n TYPE numeric",
        "SLC-140: .*n was a NUMBER",
        'ALTER TABLE "{}"."t" ADD ("n2" CLOB NULL); ALTER TABLE "{}"."t" SET UNUSED ("n"); '
        'ALTER TABLE "{}"."t" RENAME COLUMN "n2" TO "n"',
    ),
    (
        "",
        "ALTER TABLE t ADD f float8 DEFAULT 0.1",
        "SLC-140: .*the new column f",
        'ALTER TABLE "{}"."t" ADD ("f" BINARY_DOUBLE NULL)',
    ),
    ("", "ALTER TABLE t DROP w, ADD w varchar(5)", "SLC-140: .*w goes and comes again", None),
)


@pytest.fixture
def afterwards():
    """What is left to do once the sessions of the worlds have ended."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=DEPOTS)
def depot(request, afterwards, updating, tmp_path, monkeypatch):
    made = DEPOTS[request.param](updating, afterwards, DDL, monkeypatch, tmp_path / "depot", tables="public.*")
    made.world.update()
    return made


class Death:
    """Ends a drain when it has come to a place so often."""

    def __init__(self):
        self.at = []

    def __call__(self, at):
        if self.at[-1:] == [at]:
            self.at.pop()
            if not self.at:
                raise SystemExit(at)


def test_commands_are_carried_out_between_the_rows_of_before_and_after(depot):
    world = depot.world
    for statement in (*COMMANDS, *(MORE if depot.real else ())):
        world.master.execute(statement)
        world.master.execute("INSERT INTO t (id) SELECT max(id) + 1 FROM t")
    assert world.verify() == {SLAVE: 0}
    ours = [f"SLUICE_{one}" for one in ("INTENT", "LOADED", "POSITION")]
    assert sorted(depot.tables()) == sorted([*ours, "gone", "k", "t"])
    assert depot.execute('SELECT count(*) FROM "SLUICE_INTENT"') == [(0,)]


def test_a_drain_that_dies_around_a_command_or_within_one_carries_it_out_once(depot, monkeypatch):
    """Rows without a key stand on both sides, so that none may come twice."""
    world = depot.world
    world.master.execute("CREATE TABLE heap (a int); INSERT INTO heap VALUES (1)")
    world.catch_up()
    death = Death()
    for module in (slave, committed_ddl):
        monkeypatch.setattr(module, "crash_if_asked", death)
    define = OracleCommands._define

    def defined(self, statement, then=None):
        death("a statement")
        define(self, statement, then)

    monkeypatch.setattr(OracleCommands, "_define", defined)
    places = [*itertools.product((CrashPoint.INTENDED, CrashPoint.EXECUTED, "a statement"), (1, 2))]
    for number, (place, times) in enumerate([*places, (CrashPoint.MERGED, 1)]):
        mode = "one_to_one" if number % 2 else "batch"
        world.configure(lambda settings, mode=mode: settings["replications"][0].update(mode=mode))
        world.master.execute("ALTER TABLE heap ADD b int, ADD c text")
        world.catch_up()
        death.at = [place] * times
        world.master.execute(
            f"INSERT INTO heap (a) VALUES (1); {BOTH_SIDES.format(n=number)}; INSERT INTO heap (a) VALUES (1)"
        )
        world.publish()
        with pytest.raises(SystemExit):
            delivered(world)
        delivered(world)
    world.let_leases_expire()
    assert world.verify() == {SLAVE: 0}


def test_a_command_that_cannot_be_carried_out_waits_and_what_is_done_by_hand_is_passed_over(depot):
    world = depot.world

    def by_hand(statements):
        for one in filter(None, statements.split("; ")):
            depot.by_hand(one.replace("{}", depot.schema))

    for here, statement, match, fixed in HELD:
        by_hand(here)
        # Rows in front of it in its own transaction would have to fit what is done by hand.
        world.master.execute("INSERT INTO t (id) SELECT max(id) + 1 FROM t")
        world.master.execute(statement)
        world.publish()
        with pytest.raises(SluiceError, match=match):
            world.drain()
        world.let_leases_expire()
        if fixed:
            by_hand(fixed)
            world.drain()
    # The rows in front of the last one are there, and were not written twice.
    assert depot.execute('SELECT count(*) FROM "t"') == [(9,)]
    world.configure(lambda settings: settings["replications"][0].update(alters="ignore"))
    world.drain()
    assert depot.execute('SELECT count(*) FROM "SLUICE_INTENT"') == [(0,)]


def delivered(world):
    """All that comes, by a drain that takes over."""
    drain = world.drainer()
    while drain.deliver():
        pass


@pytest.mark.parametrize("made", DEPOTS)
def test_commands_of_a_master_on_mariadb_are_carried_out_as_well(made, binlog, afterwards, tmp_path, monkeypatch):
    masters = []

    def begun(ddl, tables, renamed, slaves):
        world, master = binlog(ddl, ["*"], update=False, slaves=tuple(slaves))
        masters.append(master)
        return world

    depot = DEPOTS[made](begun, afterwards, OF_MARIADB, monkeypatch, tmp_path / "depot")
    world, (master,) = depot.world, masters

    def configured(settings):
        settings["slaves"][SLAVE]["schemas"] = {master.name: depot.schema}
        settings["sources"][SOURCE]["detect_ddl"] = True

    world.configure(configured)
    bootstrap(world.context, SOURCE)
    world.update()
    master.execute(*COMMANDS_OF_MARIADB)
    world.publish()
    assert world.verify() == {SLAVE: 0}
    assert {"t", "made"} <= {*depot.tables()}
