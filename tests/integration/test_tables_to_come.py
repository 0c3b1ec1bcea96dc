"""Tables that are configured and do not exist: all others go on, and they are captured from their first row on."""

from __future__ import annotations

import itertools

import psycopg
import pytest
from support.updating import background
from support.world import SOURCE
from test_ddl import named, stream

from sluice.capture.reconcile import bootstrap
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.initial_update import dump
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.monitor.status import as_table
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

TO_COME = ("at_once", "filled", "later")
DDL = "CREATE TABLE busy (id int PRIMARY KEY, v text)"
MADE = """
BEGIN; CREATE TABLE at_once (id int PRIMARY KEY, v text); INSERT INTO at_once VALUES (1, 'a'), (2, 'b');
UPDATE at_once SET v = 'c' WHERE id = 1; COMMIT;
CREATE TABLE filled AS SELECT g AS id, 'x'::text AS v FROM generate_series(1, 50) AS g;
CREATE TABLE later (id int PRIMARY KEY, v text); INSERT INTO later VALUES (0, 'a')"""
ANEW = (
    "CREATE TABLE later AS SELECT 1 AS n; CREATE TABLE at_once (k text PRIMARY KEY); INSERT INTO at_once VALUES ('k')"
)


@pytest.fixture(params=[True, False], ids=["event triggers", "polling"])
def role(request, weak):
    """More of a world: where its master is made, so that its role sees DDL, or has to look for it."""
    return {} if request.param else {"elsewhere": {"master": weak}}


POLLING = pytest.mark.parametrize("role", [False], indirect=True, ids=["polling"])


def statuses(world):
    return dict(world.master.execute("SELECT tablename, status FROM repl_tables").fetchall())


def is_equal(world, **how):
    """Whether both slaves are NORMAL, and have what the master has of all tables."""
    assert world.verify(**how) == {"zurich": 0, "geneva": 0}
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
    world.catch_up()
    return world.differences() == {}


@pytest.mark.full
def test_tables_that_come_and_go_hold_up_no_other_and_lose_no_row(updating, role):
    world = updating(DDL, ["public.busy", *(f"public.{name}" for name in TO_COME)], **role)
    assert statuses(world) == {"busy": "OK"} | dict.fromkeys(TO_COME, "WANTED")
    assert set(bootstrap(world.context, SOURCE)["unwatched"]) == {f"public.{name}" for name in TO_COME}
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}

    numbers, writer, other = itertools.count(1), world.session(), world.session()

    def write(table, session):
        session.execute(f"INSERT INTO {table} VALUES ({next(numbers)}, 'w')")

    with background(lambda: write("busy", writer), world.publish):
        other.execute(MADE)
        with background(lambda: write("later", other)):
            assert world.verify() == {"zurich": 0, "geneva": 0}
    assert statuses(world) == dict.fromkeys(("busy", *TO_COME), "OK")
    assert is_equal(world)
    assert world.rows("zurich", "public.filled").total() == 50

    world.master.execute("DROP TABLE at_once")
    world.publish()
    world.master.execute("DROP TABLE later; INSERT INTO filled VALUES (51, 'y')")
    world.inhibit()
    assert world.dump()["failed"] == {}
    world.release()
    assert is_equal(world, initial=True)
    assert statuses(world) == {"busy": "OK", "filled": "OK", "at_once": "WANTED", "later": "WANTED"}
    world.master.execute(ANEW)
    assert is_equal(world)
    assert statuses(world) == dict.fromkeys(("busy", *TO_COME), "OK")
    assert world.rows("zurich", "public.later").total() == 1


@pytest.mark.full
@POLLING
def test_a_source_without_any_of_its_tables_can_be_filled(updating, role):
    world = updating("", ["public.later"], **role)
    assert statuses(world) == {"later": "WANTED"}
    world.update()
    assert is_equal(world, initial=True)
    world.master.execute("CREATE TABLE later (id int); INSERT INTO later VALUES (1)")
    assert is_equal(world)
    assert world.rows("geneva", "public.later").total() == 1


@pytest.mark.full
def test_an_initial_update_leaves_a_dropped_table_to_a_slave_that_ignores_drops(updating):
    world = updating(DDL, ["public.busy"])
    world.update()
    assert is_equal(world, initial=True)
    world.master.execute("DROP TABLE busy")
    world.configure(lambda plain: plain["replications"][1].update(drops="ignore"))
    world.update()
    left = [
        world.reader(slave).execute("SELECT count(*) FROM pg_tables WHERE tablename = 'busy'") for slave in world.slaves
    ]
    assert [found.fetchone() for found in left] == [(0,), (1,)]


def test_a_table_made_while_a_dump_begins_is_in_the_dump(updating, monkeypatch):
    """Its CREATE is before the snapshot, which is taken for other tables: no slave would ever get it."""
    world = updating(DDL, ["public.busy", "public.later"])

    def stages(*asked, found=dump._stages):
        told = found(*asked)
        world.master.execute("CREATE TABLE IF NOT EXISTS later AS SELECT 1 AS id")
        return told

    monkeypatch.setattr(dump, "_stages", stages)
    world.inhibit()
    with pytest.raises(TransientError, match=r"SLC-095: public.later: made"):
        world.dump()
    assert world.dump()["failed"] == {}
    world.release()
    assert is_equal(world, initial=True)
    assert world.rows("zurich", "public.later").total() == 1


@pytest.mark.full
def test_a_table_that_is_named_and_does_not_exist_is_refused_and_nothing_is_touched(updating):
    world = updating(f"{DDL}; CREATE TABLE old (id int PRIMARY KEY)", ["public.busy", "public.later", "public.old"])
    world.update()
    assert is_equal(world, initial=True)
    world.master.execute("ALTER TABLE old RENAME TO new")
    for name, told in (("later", "flights: public.later\n"), ("old", r"public.old \(it is called public.new now\)")):
        asked = {"tables": (TableName("public", "busy"), TableName("public", name))}
        for refused in (lambda asked=asked: world.inhibit(**asked), lambda asked=asked: world.verify(**asked)):
            with pytest.raises(ConfigError, match=f"SLC-040.*{told}"):
                refused()
    assert is_equal(world)


@pytest.fixture
def unlike(build, weak):
    """A world with a table of each kind that is configured and not watched."""
    ddl = """
        CREATE TABLE t (id int); CREATE TABLE old (id int); CREATE TABLE "Odd " (id int); CREATE VIEW seen AS SELECT 1;
        CREATE TABLE parted (id int) PARTITION BY LIST (id)"""
    names = ["t", "old", "odd", "later", "seen", "parted", "one", "strange"]
    return build(ddl, {f"public.{name}": {} for name in [*names, "wild*"]}, elsewhere={"master": weak})


TOLD = {
    "later": "public.later does not exist: it will be captured",
    "odd": 'public.odd does not exist; there is public."Odd ": it will be captured',
    "old": "public.old does not exist: it is called public.new now, and captured under that name",
    "one": "public.one is a partition of public.parted",
    "seen": "public.seen is not a plain table",
    "since": "public.since is not captured: the last bootstrap did not know of it",
    "since_2": "public.since_2 is not captured: the last bootstrap did not know of it",
    "strange": "public.strange is not captured: the source's role is not a member of its owner",
    "wild": "public.wild is not captured: the source's role is not a member of its owner",
}


def test_the_reason_of_each_is_told_by_status_check_and_once_by_the_log(unlike, server, caplog):
    world = unlike
    world.master.execute("CREATE TABLE one PARTITION OF parted FOR VALUES IN (1); ALTER TABLE old RENAME TO new")
    with psycopg.connect(server.cluster.admin_dsn(world.infos["master"].database)) as admin:
        admin.execute("CREATE TABLE strange (id int); CREATE TABLE wild (id int)")
    world.publish()
    world.master.execute("CREATE TABLE since (id int); CREATE TABLE since_2 (id int)")

    def configure(**entries):
        named = {f"public.{name}": entry for name, entry in entries.items()}
        world.configure(lambda plain: plain["sources"][SOURCE]["tables"].update(named))

    configure(**{"since": {}, "since_*": {}})
    standing = world.standing()
    assert (standing.status, standing.well) == (Status.NORMAL, False)
    caplog.set_level("INFO", logger="sluice")
    # What another test left of the log's level may have brought the first run's lines.
    caplog.clear()
    world.publish()
    for text in TOLD.values():
        assert f"source {SOURCE}: {text}" in as_table([standing])
        assert caplog.text.count(text) == 1
    assert [note.count("HINT: ") for note in standing.unwatched] == [1] * len(TOLD)

    def checked():
        (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        return found

    for name, error in (("one", "SLC-477: "), ("strange", "SLC-033: "), ("wild", "SLC-033: ")):
        found = checked()
        assert (found.good, found.text[:9]) == (False, error), "a bootstrap would be refused, and an update"
        with pytest.raises(SluiceError, match=error):
            bootstrap(world.context, SOURCE)
        configure(**{name: {"exclude": True}})
    assert not checked().good, "a table is configured, and not captured"
    assert all(text in checked().text for name, text in TOLD.items() if name not in ("one", "strange"))
    bootstrap(world.context, SOURCE)
    told = [note.partition(" ")[0] for note in world.standing().unwatched]
    assert told == [f"public.{name}" for name in ("later", "odd", "old", "seen")]


@pytest.mark.full
def test_a_name_counts_also_where_no_ddl_is_detected(build):
    """A slave is not told to make it, and stops in front of its rows if it has it not, rather than to miss them."""
    world = build(DDL, ["public.busy", "public.later"], source={"detect_ddl": False})
    world.master.execute("CREATE TABLE later AS SELECT 1 AS id; INSERT INTO later VALUES (2)")
    assert stream(world) == [("I", "(1)"), ("I", "(2)")]
    world.reader("zurich").execute("CREATE TABLE later (id int)")
    world.catch_up()
    assert (world.differences(), world.status("zurich")) == ({}, Status.NORMAL)


@POLLING
def test_an_entry_that_somebody_adds_waits_for_its_table(build, role):
    world = build(DDL, ["public.busy"], **role)
    world.master.execute("INSERT INTO repl_tables (schemaname, tablename, actions) VALUES ('public', 'u', 'iu')")
    world.master.execute("UPDATE repl_tables SET debug = 1, status = 'CREATING' WHERE tablename = 'u'")
    world.publish()
    assert (stream(world), statuses(world)) == ([], {"busy": "OK", "u": "WANTED"})
    assert "public.u does not exist" in world.standing().unwatched[0]
    world.master.execute("CREATE TABLE u AS SELECT 1 AS id; INSERT INTO u VALUES (2)")
    world.catch_up()
    assert (statuses(world), world.standing().unwatched) == ({"busy": "OK", "u": "OK"}, ())
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")
    world.master.execute("INSERT INTO u VALUES (3); DELETE FROM u")
    world.publish()
    assert [change["new"] for change in world.log()][1:] == [["1"], ["2"], ["3"]]
    assert world.master.execute("SELECT count(*) > 0 FROM repl_debug_table").fetchone() == (True,)


@pytest.mark.full
@pytest.mark.parametrize(("role", "bootstraps"), [(True, False), (False, True)], indirect=["role"])
def test_a_renamed_table_is_captured_on_and_its_old_name_stands_for_a_new_table(build, role, bootstraps):
    world = build(DDL, ["public.busy"], **role)
    world.master.execute("ALTER TABLE busy RENAME TO old; INSERT INTO old VALUES (1, 'a')")
    world.publish()
    if bootstraps:
        assert bootstrap(world.context, SOURCE)["removed"] == []
    assert statuses(world) == {"old": "OK", "busy": "WANTED"}
    world.master.execute(f"INSERT INTO old VALUES (2, 'b'); {DDL}; INSERT INTO busy VALUES (3, 'c')")
    world.catch_up()
    assert statuses(world) == {"old": "OK", "busy": "OK"}
    assert world.differences() == {}
    assert world.rows("zurich", "public.old") == world.rows("master", "public.old")


@pytest.mark.full
def test_a_comparison_leaves_out_a_table_that_its_point_does_not_show_as_watched(build):
    world = build(DDL, ["public.busy", "public.later"])
    source = world.context.source(SOURCE)
    with source.master.exported_snapshot() as (snapshot, _):
        assert source.master.shape(snapshot, TableName("public", "busy")).key == (0,)
        world.master.execute("CREATE TABLE later (id int); ALTER TABLE busy RENAME TO old")
        for name in ("later", "busy", "old"):
            assert source.master.shape(snapshot, TableName("public", name)) is None
    source.close()
    assert named(stream(world)[0][1]["after"]) == "public.later"


@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_an_unlogged_table_that_is_made_logged_has_all_its_rows_on_slaves_which_keep_them(build, capture):
    """The server's log says nothing of it before."""
    world = build("CREATE TABLE t (id int PRIMARY KEY)", {"public.*": {}}, source={"capture": capture})
    world.master.execute(
        "CREATE UNLOGGED TABLE u (id int PRIMARY KEY, v text); INSERT INTO u VALUES (1, 'a'), (2, 'b')"
    )
    world.catch_up()
    world.master.execute("ALTER TABLE u SET LOGGED; UPDATE u SET v = 'c' WHERE id = 1; INSERT INTO u VALUES (3, 'd')")
    world.catch_up()
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")
    kept = "SELECT relpersistence FROM pg_class WHERE relname = 'u'"
    assert world.reader("zurich").execute(kept).fetchone() == ("p",)
