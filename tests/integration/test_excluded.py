"""A slave that declines tables of its source, beside one that gets them all."""

from __future__ import annotations

import os

import pytest
from support.issuing import execute
from support.updating import background, blocks_here, compare_here, load_here
from support.world import SOURCE

from sluice.commands import retry_rejected
from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.files.receive import receive
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import RejectedChange
from sluice.monitor import status
from sluice.monitor.check import findings
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import Status
from sluice.statements.issue import await_answers
from sluice.store import rejected_changes, statement_results, transfers
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE payroll (id int PRIMARY KEY, salary int, n bigint GENERATED ALWAYS AS IDENTITY);
CREATE TABLE staff (id int PRIMARY KEY, paid int REFERENCES payroll ON DELETE CASCADE, v text);
CREATE TABLE audit_log (id int PRIMARY KEY, v text);
CREATE TABLE audit_open (id int PRIMARY KEY, v text);
CREATE TABLE plain (id int PRIMARY KEY, v text);
INSERT INTO payroll SELECT g, g * 100 FROM generate_series(1, 20) AS g;
INSERT INTO staff SELECT g, g, 'v' || g FROM generate_series(1, 20) AS g;
INSERT INTO audit_log VALUES (1, 'a'); INSERT INTO audit_open VALUES (1, 'a'); INSERT INTO plain VALUES (1, 'a');
"""
EXCLUDED = {
    "public.payroll": {"exclude": True},
    "public.audit_*": {"exclude": True},
    "public.audit_open": {"exclude": False},
}
GIVEN = ("staff", "audit_open", "plain")


def there(world, slave="zurich", schema="public"):
    """The tables of a slave."""
    wanted = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace ORDER BY 1"
    return [name for (name,) in world.reader(slave).execute(wanted, [schema]) if not name.startswith("sluice_")]


@pytest.fixture
def world(updating, request):
    """Zurich declines some tables."""
    made = updating(DDL, {"public.*": {}}, source={"initial_content": True})

    def decline(settings):
        settings["slaves"]["zurich"]["tables"] = dict(EXCLUDED)
        settings["replications"][0]["mode"] = getattr(request, "param", "batch")

    made.configure(decline)
    return made


@pytest.fixture
def filled(world):
    """Both slaves are NORMAL."""
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    return world


def same(world, *tables):
    """Zurich has what the master has."""
    world.catch_up()
    assert all(world.rows("master", f"public.{one}") == world.rows("zurich", f"public.{one}") for one in tables)


@pytest.mark.full
@pytest.mark.parametrize("world", ["batch", "one_to_one"], indirect=True)
def test_a_slave_gets_neither_table_nor_rows_nor_keys_of_what_it_declines(filled):
    assert there(filled) == sorted(GIVEN)
    assert there(filled, "geneva", "branch") == ["audit_log", "audit_open", "payroll", "plain", "staff"]
    references = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'"
    assert filled.reader("zurich").execute(references).fetchone() == (0,)
    assert filled.reader("geneva").execute(references).fetchone() == (1,)
    # What it has by that name is its own.
    own = filled.reader("zurich")
    own.execute("CREATE TABLE payroll (id int PRIMARY KEY, mine text, n bigint GENERATED ALWAYS AS IDENTITY)")
    own.execute("INSERT INTO payroll VALUES (1, 'mine')")
    filled.master.execute(
        """
        BEGIN; INSERT INTO payroll VALUES (30, 1); UPDATE payroll SET salary = 2; INSERT INTO plain VALUES (2); COMMIT;
        DELETE FROM payroll WHERE id < 5; INSERT INTO audit_log VALUES (2); INSERT INTO audit_open VALUES (2);
        TRUNCATE payroll CASCADE; INSERT INTO staff VALUES (1); ALTER TABLE payroll ADD more int, DROP salary;
        ALTER TABLE staff DROP CONSTRAINT staff_paid_fkey; ALTER TABLE payroll RENAME more TO most;
        ALTER TABLE staff ADD FOREIGN KEY (paid) REFERENCES payroll
        """
    )
    assert filled.verify() == {"zurich": 0, "geneva": 0}
    same(filled, *GIVEN)
    assert own.execute("SELECT * FROM payroll").fetchall() == [(1, "mine", 1)]
    assert own.execute("SELECT last_value FROM payroll_n_seq").fetchone() == (1,)
    assert own.execute(references).fetchone() == (0,)
    filled.master.execute("ALTER TABLE staff DROP CONSTRAINT staff_paid_fkey; DROP TABLE payroll")
    same(filled, *GIVEN)
    assert "payroll" in there(filled)
    assert there(filled, "geneva", "branch") == ["audit_log", "audit_open", "plain", "staff"]


@pytest.mark.full
def test_tables_made_later_follow_the_entries_as_well(filled):
    filled.master.execute(
        """
        CREATE TABLE audit_more AS SELECT 1 AS id; CREATE TABLE later AS SELECT 2 AS id;
        INSERT INTO audit_more VALUES (3)
        """
    )
    same(filled, *GIVEN, "later")
    assert there(filled) == sorted((*GIVEN, "later"))
    assert "audit_more" in there(filled, "geneva", "branch")
    # Its rows come and go with the table that it is a part of for a time.
    filled.master.execute(
        "CREATE TABLE parted (id int, k int) PARTITION BY LIST (k); CREATE TABLE audit_1 (id int, k int)"
    )
    filled.master.execute("INSERT INTO audit_1 VALUES (1, 1), (2, 1)")
    filled.master.execute("ALTER TABLE parted ATTACH PARTITION audit_1 FOR VALUES IN (1); UPDATE audit_1 SET id = 3")
    same(filled, "parted")
    assert filled.rows("zurich", "public.parted").total() == 2
    filled.master.execute("ALTER TABLE parted DETACH PARTITION audit_1; INSERT INTO audit_1 VALUES (5, 1)")
    same(filled, "parted")
    assert there(filled) == sorted((*GIVEN, "later", "parted"))


@pytest.mark.full
@pytest.mark.parametrize("world", ["one_to_one"], indirect=True)
def test_a_table_that_gets_such_a_name_is_dropped_and_one_that_loses_it_waits_for_its_rows(filled):
    filled.master.execute(
        "INSERT INTO plain VALUES (7); ALTER TABLE plain RENAME TO audit_plain; INSERT INTO audit_plain VALUES (8)"
    )
    filled.master.execute("CREATE TABLE plain (id int PRIMARY KEY); INSERT INTO plain VALUES (9)")
    same(filled, *GIVEN)
    assert there(filled) == sorted(GIVEN)
    filled.master.execute("ALTER TABLE audit_log RENAME TO audit_older; INSERT INTO audit_older VALUES (5)")
    same(filled, *GIVEN)
    filled.master.execute("INSERT INTO plain VALUES (10)")
    filled.master.execute("ALTER TABLE audit_older RENAME TO kept; INSERT INTO plain VALUES (11)")
    filled.master.execute("INSERT INTO kept VALUES (6)")
    filled.publish()
    with pytest.raises(SluiceError, match=r"SLC-145: .*does not get public.audit_older, .*called public.kept"):
        filled.drain("zurich")
    filled.drain("geneva")
    assert filled.reader("zurich").execute("SELECT id FROM plain ORDER BY 1").fetchall() == [(9,), (10,)]
    filled.inhibit("zurich", tables=[TableName("public", "kept")])
    with filled.running("geneva"):
        filled.dump("zurich")
    filled.release("zurich")
    assert filled.verify("zurich", initial=True) == {"zurich": 0}
    same(filled, *GIVEN, "kept")


@pytest.mark.full
def test_a_table_that_goes_by_a_name_obeys_what_is_said_of_drops(filled):
    filled.configure(lambda settings: settings["replications"][0].update(drops="ignore"))
    filled.master.execute("ALTER TABLE plain RENAME TO audit_plain; INSERT INTO audit_plain VALUES (8)")
    filled.catch_up()
    assert filled.reader("zurich").execute("SELECT id FROM plain").fetchall() == [(1,)]
    filled.configure(lambda settings: settings["replications"][0].update(drops="stop"))
    filled.master.execute("ALTER TABLE staff RENAME TO audit_staff")
    filled.publish()
    with pytest.raises(SluiceError, match=r"SLC-143: the master's DROP of public.staff .*all its rows"):
        filled.drain("zurich")


@pytest.mark.full
def test_statements_that_name_it_are_refused_for_the_slave_and_what_was_kept_of_it_is_passed_over(filled):
    for text in ("UPDATE payroll SET salary = 1", "CREATE TABLE audit_x (id int)", "TRUNCATE public.audit_log"):
        with pytest.raises(SluiceError, match="SLC-103"):
            execute(filled, text)
    done = execute(filled, "UPDATE plain SET v = 'said'")
    filled.catch_up()
    assert {one.status for one in await_answers(filled.context, done.id, 0)} == {statement_results.StatementStatus.OK}
    assert filled.verify() == {"zurich": 0, "geneva": 0}
    layout = Layout(1, TableName("public", "payroll"), (Column("id", "integer"),), (0,))
    kept = RejectedChange(layout, None, "I", 1, 1, ["77"], None, unseen=True)
    rejected_changes.keep(filled.context.store, filled.pair("zurich"), [kept])
    assert retry_rejected.carry_out(filled.context, filled.pair("zurich"), []) == (1, 0)
    assert rejected_changes.list_changes(filled.context.store, filled.pair("zurich")) == []


@pytest.mark.full
def test_what_it_declines_cannot_be_filled_by_name_and_is_told(filled):
    with pytest.raises(SluiceError, match=r"SLC-040: slave zurich does not get public.payroll"):
        filled.inhibit(tables=[TableName("public", "payroll"), TableName("public", "plain")])
    with pytest.raises(SluiceError, match=r"SLC-040: .*does not get"):
        filled.inhibit(keys=["public.payroll: 1 .. 5"])
    assert {filled.status(slave) for slave in filled.slaves} == {Status.NORMAL}
    filled.inhibit("geneva", tables=[TableName("public", "payroll")])
    with filled.running("zurich"):
        filled.dump("geneva")
    filled.release("geneva")
    with filled.running():
        asked = VerifyRequest(SOURCE, filled.slaves, (TableName("public", "payroll"),), initial=False)
        found = verify(filled.context, asked, compare_here, 60)["slaves"]
    assert (found["zurich"]["compared"], found["zurich"]["excluded"]) == (0, ["public.audit_*", "public.payroll"])
    assert (found["geneva"]["compared"], found["geneva"]["excluded"]) == (20, [])
    assert filled.verify("geneva", initial=True) == {"geneva": 0}
    (told,) = status.statuses(filled.context, filled.pair("zurich"))
    assert (told.excluded, told.well) == (["public.audit_*", "public.payroll"], True)
    looked = {one.subject: one for one in findings(filled.context)}
    assert looked["slave zurich"].good
    assert "does not get public.audit_log, public.payroll" in looked["slave zurich"].text
    assert "does not get" not in looked["slave geneva"].text
    assert SOURCE not in looked["slave zurich"].text


@pytest.mark.full
def test_blocks_are_loaded_of_what_it_gets(world):
    world.inhibit()
    assert world.dump(mode="online")["failed"] == {}
    world.release()
    with world.running():
        found = load_online(world.context, SOURCE, world.slaves, blocks_here)
    assert found["rows"] == {"zurich": 22, "geneva": 43}
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert there(world) == sorted(GIVEN)


@pytest.mark.full
def test_what_is_carried_by_hand_has_nothing_of_it(world):
    world.configure(
        lambda settings: (
            settings["sources"][SOURCE].update(initial_files={"location": str(world.path / "files")}),
            settings["slaves"]["zurich"].update(initial_files={"location": str(world.path / "files"), "keep": True}),
            settings["slaves"]["geneva"].update(initial_files={"location": str(world.path / "files"), "keep": True}),
        )
    )
    world.inhibit()
    assert world.dump(store=True)["failed"] == {}
    places = {transfers.awaited_transfer(world.context.store, world.pair(slave)).name for slave in world.slaves}
    assert len(places) == 2
    # It is to have what nobody stored for it.
    world.configure(lambda settings: settings["slaves"]["zurich"]["tables"].pop("public.payroll"))
    with pytest.raises(SluiceError, match=r"SLC-187: .*public.payroll"):
        receive(world.context, SOURCE, "zurich", load_here)
    world.configure(lambda settings: settings["slaves"]["zurich"]["tables"].update(EXCLUDED))
    loaded = {slave: receive(world.context, SOURCE, slave, load_here)["rows"] for slave in world.slaves}
    assert loaded == {"zurich": 22, "geneva": 43}
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert there(world) == sorted(GIVEN)


@pytest.mark.full
def test_files_have_none_of_what_is_excluded(lake):
    tables = ["public.payroll", "public.staff", "public.audit_log", "public.audit_open", "public.plain"]
    there = lake(DDL, tables, vendor="iceberg", update=False)
    world = there.world
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=EXCLUDED))
    world.update()
    world.master.execute("INSERT INTO payroll VALUES (31, 1); INSERT INTO staff VALUES (31); DELETE FROM audit_log")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    named = {slave: {one.rpartition(".")[2] for one in there.version(slave)["tables"]} for slave in world.slaves}
    assert named == {"zurich": set(GIVEN), "geneva": {*GIVEN, "payroll", "audit_log"}}
    world.master.execute("ALTER TABLE payroll RENAME TO wages; INSERT INTO wages VALUES (32, 1)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-145: .*does not get public.payroll"):
        world.drain("zurich")


@pytest.mark.full
def test_an_older_version_is_that_of_the_tables_that_it_gets(world):
    def version(now):
        settings = {"messages": {"version": now}, "initial_files": {"versions": ["0.5"]}}
        world.configure(lambda plain: plain["sources"][SOURCE].update(settings))

    version("0.5")
    world.update("geneva")
    version("0.6")
    world.master.execute("DELETE FROM plain")
    world.inhibit("zurich")
    world.dump("zurich", version="REPL_Ver_0.5")
    assert receive(world.context, SOURCE, "zurich", load_here)["rows"] == 22
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.configure(lambda settings: settings["slaves"]["zurich"]["tables"].pop("public.audit_*"))
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match="SLC-194"):
        world.dump("zurich", version="REPL_Ver_0.5")


@pytest.mark.full
def test_the_databases_own_programs_bring_all_tables_or_none(world, monkeypatch):
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match=r"SLC-204: .*public.audit_log, public.payroll\n"):
        world.dump("zurich", mode="external")


@pytest.mark.full
def test_a_load_that_broke_off_goes_on_without_it(world):
    def breaking(job):
        load_here(job)
        raise KeyboardInterrupt

    world.inhibit()
    with pytest.raises(KeyboardInterrupt):
        world.dump(load=breaking)
    world.master.execute("INSERT INTO payroll VALUES (40); INSERT INTO staff VALUES (40); DELETE FROM audit_log")
    with background(world.publish):
        assert world.dump()["rows"] == 23
    world.release()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def test_names_that_are_found_later_come_to_the_same(build, weak):
    world = build("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE audit_log (id int PRIMARY KEY)", {"public.*": {}},
                  elsewhere={"master": weak})  # fmt: skip
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables={"public.audit*": {"exclude": True}}))
    # What it has by that name is its own.
    world.reader("zurich").execute("INSERT INTO audit_log VALUES (7)")
    for statement in (
        "INSERT INTO t VALUES (1); INSERT INTO audit_log VALUES (1)",
        "ALTER TABLE t RENAME TO audit_t; INSERT INTO audit_t VALUES (2)",
    ):
        world.master.execute(statement)
    world.catch_up()
    assert there(world) == ["audit_log"]
    world.master.execute("ALTER TABLE audit_log RENAME TO t")
    world.master.execute("INSERT INTO t VALUES (3)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-145: .*is called"):
        world.drain()
    assert world.reader("zurich").execute("SELECT id FROM audit_log").fetchall() == [(7,)]


@pytest.mark.full
def test_a_table_that_is_declined_later_and_refers_to_others_is_not_in_the_way_of_filling_these(updating):
    world = updating(DDL, {"public.*": {}})
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables={"public.staff": {"exclude": True}}))
    world.master.execute("DELETE FROM payroll WHERE id > 10; UPDATE payroll SET salary = 1")
    world.inhibit("zurich")
    assert world.dump("zurich")["failed"] == {}
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.rows("zurich", "public.payroll") == world.rows("master", "public.payroll")
    assert world.rows("zurich", "public.staff").total() == 20
