"""Remove: a replication is taken out of the control store and of its slave, and nothing else with it."""

from __future__ import annotations

import pytest
from support.store_tables import metadata

from sluice.cli.parser import main
from sluice.commands.remove_replication import Extent, expect_removable, remove_replication
from sluice.errors import SluiceError, UnknownName
from sluice.model.row_conflict import RejectedChange
from sluice.store import cascades, leases, rejected_changes, replications
from sluice.store.tables import for_pair

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (1, 1);
"""
TABLES = ["public.parent", "public.child"]
OURS = "SELECT relname FROM pg_class WHERE relname LIKE 'sluice\\_%' AND relkind = 'r'"


def fill(world, *slaves):
    slaves = slaves or world.slaves
    world.update(*slaves)
    world.verify(*slaves, initial=True)


@pytest.fixture
def world(updating):
    world = updating(DDL, TABLES)
    fill(world)
    store, pair = world.context.store, world.pair("zurich")
    rejected_changes.keep(store, pair, [RejectedChange(None, None, "X", 1, 1, ["1"], None)])
    cascades.remember(store, world.pair("geneva"), "", pair, [])
    return world


def left(world, slave="zurich"):
    """The tables of the store that still have rows of a replication."""
    found = set()
    with world.context.store.begin() as connection:
        for table in metadata.sorted_tables:
            if {"source", "slave"} <= set(table.columns.keys()):
                where = for_pair(table, world.pair(slave))
                if connection.execute(table.select().where(where)).first():
                    found.add(table.name)
    return found


def tables_of(world, slave="zurich", schema="public"):
    rows = world.reader(slave).execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])
    return {name for (name,) in rows if not name.startswith("sluice_")}


@pytest.mark.full(but=["tables go"])
@pytest.mark.parametrize("tables", [False, True], ids=["tables stay", "tables go"])
def test_nothing_is_left_of_it_but_the_audit_trail_and_it_can_be_filled_again(world, tables):
    assert {"replication", "rejected", "comparison"} <= left(world)
    gone = remove_replication(world.context, world.pair("zurich"), Extent.TABLES if tables else Extent.POSITION, "eva")
    assert left(world) == {"audit"}
    assert world.reader("zurich").execute(OURS).fetchall() == []
    assert tables_of(world) == (set() if tables else {"parent", "child"})
    assert ("table public.child" in gone) == tables
    told = world.standing("zurich")
    assert (told.status, told.position) == ("UNCONFIGURED", "0/0")
    with world.context.store.begin() as connection:
        assert connection.execute(metadata.tables["cascade"].select()).first() is None, "nothing leads to it"
    ((actor, detail),) = (
        world.reader("control").execute("SELECT actor, detail FROM audit WHERE event = 'remove'").fetchall()
    )
    assert (actor, "were dropped" in detail) == ("eva", tables)
    # A drain finds nothing to do, the other slave goes on, and this one can be filled again.
    world.master.execute("INSERT INTO parent VALUES (2)")
    world.publish()
    assert world.drain("zurich")["standby"] == "the replication is UNCONFIGURED"
    assert world.drain("geneva")["transactions"] == 1
    fill(world, "zurich")
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_of_the_slaves_own_stays_though_its_master_has_one_of_that_name(world):
    world.reader("zurich").execute("CREATE TABLE payroll (id int PRIMARY KEY); INSERT INTO payroll VALUES (1)")
    world.master.execute("CREATE TABLE payroll (id int PRIMARY KEY)")
    world.configure(lambda settings: settings["sources"]["flights"]["tables"].update({"public.payroll": {}}))
    gone = remove_replication(world.context, world.pair("zurich"), Extent.TABLES)
    assert {"table public.parent", "table public.child"} <= set(gone)
    assert tables_of(world) == {"payroll"}


def test_a_table_stays_of_which_no_comparison_says_that_all_of_its_rows_are_the_masters(world):
    zurich, geneva = world.reader("zurich"), world.reader("geneva")
    merging = {"public.parent": {"on_existing_rows": "merge"}}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=merging))
    zurich.execute("INSERT INTO parent VALUES (70)")
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    # What was merged once stays the slave's own, and the entry may lead elsewhere now: nobody compared that table.
    entries = {"public.child": {"as": "rented"}}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=entries))
    zurich.execute("CREATE TABLE rented (id int PRIMARY KEY)")
    # A sample of no row finds nothing, whatever a comparison of all rows had found.
    geneva.execute("INSERT INTO branch.parent VALUES (70)")
    with pytest.raises(SluiceError, match="SLC-090"):
        world.verify("geneva")
    world.reader("control").execute("DELETE FROM comparison WHERE slave = 'geneva' AND \"table\" = 'public.child'")
    assert world.verify("geneva", percent=1e-7) == {"geneva": 0}
    for slave in world.slaves:
        remove_replication(world.context, world.pair(slave), Extent.TABLES)
    assert tables_of(world) == {"parent", "child", "rented"}
    assert tables_of(world, "geneva", "branch") == {"parent", "child"}
    assert zurich.execute("TABLE parent").fetchall() == [(1,), (70,)]


@pytest.mark.full
def test_our_tables_stay_where_another_replication_needs_them(world):
    session = world.reader("zurich")
    session.execute("INSERT INTO sluice_position VALUES ('other', 'zurich', 4, 9)")
    gone = remove_replication(world.context, world.pair("zurich"))
    assert gone == ["the position of flights->zurich"]
    assert session.execute("SELECT source, ordinal FROM sluice_position").fetchall() == [("other", 9)]


@pytest.mark.full
def test_what_cannot_be_removed_now_is_refused_and_stays(world):
    pair, context = world.pair("zurich"), world.context
    with (
        leases.hold_lease(context.store, f"drain {pair}"),
        pytest.raises(SluiceError, match=r"SLC-387: .* drain is at work"),
    ):
        remove_replication(context, pair)
    world.reader("zurich").execute("CREATE VIEW v AS SELECT * FROM child")
    with pytest.raises(SluiceError, match="child"):
        remove_replication(context, pair, Extent.TABLES)
    world.reader("zurich").execute("DROP VIEW v")
    world.configure(
        lambda settings: settings["sources"].update(back={"connection": "zurich", "tables": {"public.child": {}}})
    )
    with pytest.raises(SluiceError, match=r"SLC-387: .* source back"):
        remove_replication(world.context, pair, Extent.TABLES)

    def shared(settings):
        settings["sources"].pop("back")
        settings["sources"]["other"] = {"connection": "elsewhere", "tables": {"public.child": {}}, "prefix": "O_"}
        settings["replications"].append({"source": "other", "slave": "zurich"})

    before = [*world.settings["replications"]]
    world.configure(shared)
    with pytest.raises(SluiceError, match=r"SLC-387: .* public.child has rows of"):
        remove_replication(world.context, pair, Extent.TABLES)
    world.configure(lambda settings: settings.update(replications=before) or settings["sources"].pop("other"))
    assert (world.standing("zurich").status, tables_of(world)) == ("NORMAL", {"parent", "child"})
    replications.request(world.context.store, [pair], 77)
    with pytest.raises(SluiceError, match=r"SLC-387: .* is INITIAL"):
        remove_replication(world.context, pair)
    assert world.position().ordinal >= 0


@pytest.mark.full
def test_the_shell_asks_first_and_forgets_what_is_configured_no_more(world, monkeypatch, capsys):
    def typed(*words):
        for name, value in world.environment().items():
            monkeypatch.setenv(name, value)
        return main(["remove", "flights", "geneva", *words]), "".join(capsys.readouterr())

    code, said = typed("--tables")
    assert (code, "`branch`" in said or "remove flights geneva --tables --yes" in said) == (1, True), said
    world.configure(lambda settings: settings["replications"].pop())
    assert typed("--yes")[0] == 0
    assert left(world, "geneva") == {"audit"}
    assert world.reader("geneva").execute(OURS).fetchall() != [], "its slave is left alone"
    with pytest.raises(UnknownName):
        remove_replication(world.context, world.pair("geneva"))


@pytest.mark.full
def test_a_slave_of_files_goes_with_its_rows_or_stays(lake):
    made = lake()
    world, pair = made.world, made.world.pair("zurich")
    for attempt in (remove_replication, expect_removable):
        with pytest.raises(SluiceError, match=r"SLC-387: .*as their versions list them"):
            attempt(world.context, pair, Extent.POSITION)
    assert "replication" in left(world)
    (gone,) = remove_replication(world.context, pair, Extent.TABLES)
    assert (gone, left(world)) == (f"directory {made.path / 'zurich' / 'flights'}", {"audit"})
    assert not (made.path / "zurich" / "flights").exists()
