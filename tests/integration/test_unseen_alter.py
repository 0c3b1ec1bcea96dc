"""An ALTER that no event trigger saw: one table is left out, and publishing goes on (R7, R8)."""

from __future__ import annotations

import pytest
from support.updating import background
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.monitor import advice
from sluice.monitor.check import findings
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked
from sluice.store.replications import record
from sluice.vendors.postgresql.capture.queue.sweep import PostgresSweep

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def altered(build, weak):
    """A master whose role may create no event trigger; a column took another's place, and a row was written before and
    after: nobody can tell under which columns."""
    ddl = "CREATE TABLE t (id int PRIMARY KEY, w text); CREATE TABLE u (id int PRIMARY KEY)"
    world = build(ddl, ["public.t", "public.u"], elsewhere={"master": weak})
    world.master.execute("INSERT INTO t VALUES (1, 'w')")
    for name in ("master", "zurich"):
        world.reader(name).execute("ALTER TABLE t DROP w, ADD v text")
    world.master.execute("INSERT INTO t VALUES (2, 'x')")
    return world


def test_what_a_publisher_cannot_read_is_given_up_with_its_table_and_holds_up_no_other(altered):
    altered.master.execute(
        "BEGIN; INSERT INTO u VALUES (1); INSERT INTO t VALUES (3, 'y'); INSERT INTO u VALUES (2); COMMIT"
    )
    altered.master.execute("INSERT INTO u VALUES (3)")
    altered.catch_up()
    assert [(change["action"], change["new"]) for change in altered.log()] == [("I", [n]) for n in "123"]
    assert (altered.left_out(), altered.status("zurich"), altered.queued()) == ({"public.t"}, Status.NORMAL, set())
    told = altered.standing()
    assert (told.condition, [*told.skipped]) == (ReplicationCondition.INCOMPLETE, ["public.t"])
    assert '"tables": ["public.t"]' in told.why
    altered.master.execute("INSERT INTO t VALUES (4, 'z')")
    assert altered.publish()["changes"] == 1
    assert altered.log()[-1]["new"] == ["4", "z"]


def test_what_is_in_the_log_already_is_purged_before_the_rest_of_a_table_is_given_up(altered, monkeypatch):
    """The publisher died in between. Else the source would be taken for one that was set back."""
    altered.publish()
    altered.master.execute("INSERT INTO t VALUES (3, 'y'); INSERT INTO u VALUES (1)")
    with monkeypatch.context() as dying:
        dying.setattr(PostgresSweep, "purge", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            altered.publish()
    altered.master.execute("ALTER TABLE t DROP v, ADD x int; INSERT INTO t VALUES (4, 4); INSERT INTO u VALUES (2)")
    altered.publish()
    assert [change["new"] for change in altered.log()] == [["3", "y"], ["1"], ["2"]]
    assert (altered.status("zurich"), altered.queued()) == (Status.NORMAL, set())


@pytest.mark.full
def test_a_slave_that_is_being_filled_while_changes_are_given_up_is_filled_again(altered):
    record(altered.context.store, altered.pair("zurich"), ReplicationEvent.REQUEST)
    altered.publish()
    assert altered.status("zurich") is Status.INCONSISTENT


@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_where_event_triggers_are_switched_off_one_table_is_left_out_and_check_tells(build, capture):
    ddl = "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)"
    world = build(ddl, ["public.t", "public.u"], source={"capture": capture})
    database = world.infos["master"].database
    world.master.execute(f'ALTER DATABASE "{database}" SET event_triggers = off; SET event_triggers = off')
    world.master.execute("INSERT INTO t VALUES (1); INSERT INTO u VALUES (1); ALTER TABLE t ADD n int")
    world.master.execute("INSERT INTO t VALUES (2, 2); INSERT INTO u VALUES (2)")
    assert any("`event_triggers` is off" in finding.text for finding in findings(world.context))
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (3, 3)")
    world.catch_up()
    assert world.left_out() == {"public.t"}
    assert world.log()[-1]["new"] == ["3", "3"], "its columns are known again"
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")


@pytest.mark.full
def test_a_table_that_gets_a_column_which_the_log_does_not_tell_is_left_out_alone(build):
    ddl = "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)"
    world = build(ddl, ["public.t", "public.u"], source={"capture": "log"})
    world.master.execute("ALTER TABLE t ADD n int GENERATED ALWAYS AS (id * 2) VIRTUAL")
    world.master.execute("INSERT INTO t VALUES (1); INSERT INTO u VALUES (1)")
    world.catch_up()
    assert world.left_out() == {"public.t"}
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")


@pytest.mark.full
def test_a_table_whose_columns_changed_unseen_is_filled_again_by_itself(updating):
    ddl = "CREATE TABLE t (id int PRIMARY KEY, w text); CREATE TABLE u (id int PRIMARY KEY)"
    world = updating(ddl, {"public.*": {}}, {}, slaves=("zurich",))
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.master.execute("SET event_triggers = off; ALTER TABLE t DROP w, ADD v text")
    world.master.execute("INSERT INTO t VALUES (1, 'v'); INSERT INTO u VALUES (1)")
    world.catch_up()
    assert world.left_out() == {"public.t"}
    with pytest.raises(SluiceError, match=r'(?s)SLC-073: .*ALTER TABLE "public"."t" ADD COLUMN "v" text'):
        world.inhibit(tables=[TableName("public", "t")])
    world.reader("zurich").execute('ALTER TABLE "public"."t" ADD COLUMN "v" text')
    world.inhibit(tables=[TableName("public", "t")])
    with background(world.publish):
        world.dump()
    world.release()
    assert world.verify(initial=True) == {"zurich": 0}
    world.master.execute("INSERT INTO t VALUES (2, 'w')")
    world.catch_up()
    assert (world.left_out(), world.differences()) == (set(), {})


def test_a_bootstrap_gives_up_what_cannot_be_read_and_says_so(altered):
    bootstrap(altered.context, SOURCE)
    assert altered.left_out() == {"public.t"}
    assert altered.queued() == set()
    altered.master.execute("INSERT INTO t VALUES (3, 'y')")
    assert altered.publish()["changes"] == 1
    assert altered.log()[-1]["new"] == ["3", "y"]


UNWATCHABLE = {
    "triggers": "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;"
    "CREATE FOREIGN TABLE far PARTITION OF p FOR VALUES FROM (300) TO (400) SERVER nowhere",
    "log": "ALTER TABLE near SET UNLOGGED",
}


@pytest.mark.parametrize("capture", UNWATCHABLE)
def test_beside_a_table_that_cannot_be_watched_any_more_one_altered_unseen_stops_no_other(build, capture):
    ddl = (
        "CREATE TABLE p (id int) PARTITION BY RANGE (id);"
        "CREATE TABLE near PARTITION OF p FOR VALUES FROM (0) TO (100);"
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)"
    )
    world = build(ddl, ["public.p", "public.t", "public.u"], source={"capture": capture})
    world.master.execute(f"SET event_triggers = off; {UNWATCHABLE[capture]}; ALTER TABLE t ADD n int")
    world.master.execute("INSERT INTO t VALUES (1, 1); INSERT INTO u VALUES (1)")
    world.catch_up()
    world.master.execute("INSERT INTO u VALUES (2)")
    world.catch_up()
    assert world.left_out() == {"public.p", "public.t"}
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")
    assert [note.partition(" is not captured")[0] for note in world.standing().unwatched] == ["public.p"]
    world.master.execute("DROP FOREIGN TABLE IF EXISTS far; ALTER TABLE near SET LOGGED")
    assert bootstrap(world.context, SOURCE)["added"] == ["public.p"]


@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_no_name_of_a_table_or_column_passes_for_a_hint(build, capture):
    forged = "\nHINT: type: curl .. | sh"
    world = build(f'CREATE TABLE "t{forged}" (id int PRIMARY KEY)', ["public.*"], source={"capture": capture})
    world.master.execute(f'SET event_triggers = off; ALTER TABLE "t{forged}" ADD "x{forged}" int')
    world.master.execute(f'INSERT INTO "t{forged}" VALUES (1, 1)')
    world.catch_up()
    ((table, skipped),) = blocked.skipped_tables(world.context.store, world.pair("zurich")).items()
    assert table.table == f"t{forged}"
    assert forged not in skipped.actor
    (note,) = advice.for_skipped_tables(world.pair("zurich"), {table: skipped})
    assert note.partition("\nHINT: ")[2].startswith("to have it again")
