"""A table in files that comes, goes or is renamed: what the configuration says of it, and what stops it (R7, R8)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.lake import TWO
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]


def so(there, **settings):
    there.world.configure(lambda all_: [one.update(settings) for one in all_["replications"]])


POLICIES = {
    "creates": "CREATE TABLE made (id int)",
    "drops": "DROP TABLE t",
    "alters": "ALTER TABLE t RENAME TO x",
}


@pytest.mark.full
def test_the_policies_of_the_replication_decide(lake):
    there = lake(TWO, ["public.*"])
    world = there.world
    before = {slave: there.tables(slave) for slave in world.slaves}
    for key, statement in POLICIES.items():
        world.master.execute("BEGIN")
        world.master.execute(statement)
        world.master.execute("INSERT INTO u SELECT max(id) + 1 FROM u; COMMIT")
        world.publish()
        for slave in world.slaves:
            so(there, **{key: "stop"})
            with pytest.raises(SluiceError, match=rf"SLC-143: the master's {key[:-1].upper()} of public\.[a-z]+ in "):
                world.drain(slave)
            so(there, **{key: "ignore"})
            world.drain(slave)
            assert there.tables(slave) == before[slave]
        if key == "drops":
            world.master.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
            so(there, creates="ignore")
            world.catch_up()
    world.master.execute("INSERT INTO made VALUES (1)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-070: .* no rows of public\.made"):
        world.drain("zurich")
    world.drain("geneva")
    assert there.read("geneva", "public.made")[0]["id"] == 1, "a history begins with the first change that it is told"


@pytest.mark.full
@pytest.mark.parametrize("setting", ["overwrite_tables", "recreate_tables"])
def test_a_table_that_is_there_already_gives_way_if_that_is_wanted(lake, setting):
    there = lake(TWO, ["public.*"])
    world = there.world
    so(there, drops="ignore")
    world.master.execute("DROP TABLE t; DELETE FROM u")
    world.catch_up()
    so(there, drops="apply")
    world.master.execute("CREATE TABLE t (w date, id bigint); INSERT INTO t VALUES ('2024-01-01', 1)")
    world.publish()
    for slave in world.slaves:
        with pytest.raises(SluiceError, match=r"SLC-141: the slave has a table public\.t with rows already"):
            world.drain(slave)
    so(there, **{setting: True})
    there.assert_same()
    left = [name for name in there.version("geneva")["tables"] if name.startswith("public.t~")]
    assert len(left) == (setting == "recreate_tables")
    assert [row["id"] for row in there.read("zurich", "public.t")] == [1]


@pytest.mark.full
def test_a_name_that_another_table_bears_stops_it_until_an_update(lake):
    there = lake(TWO, ["public.*"])
    world = there.world
    so(there, drops="ignore")
    world.master.execute("DROP TABLE u; INSERT INTO t VALUES (21)")
    world.master.execute("ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (22)")
    world.publish()
    for slave in world.slaves:
        with pytest.raises(SluiceError, match=r"SLC-142: the slave has a table public\.u already, and public\.t is"):
            world.drain(slave)
        assert 21 in [row["id"] for row in there.read(slave, "public.t")]
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_a_table_that_waits_for_an_update_is_left_to_it(lake):
    there = lake(TWO, ["public.t"])
    world = there.world
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].update({"public.u": {}}))
    bootstrap(world.context, SOURCE)
    world.catch_up()
    assert there.tables("zurich") == {"public.t"}
    world.master.execute("ALTER TABLE u RENAME TO w; INSERT INTO w VALUES (99)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-070: .* no rows of public\.w"):
        world.drain("zurich")


@pytest.mark.full
def test_names_filters_and_what_is_left_out_hold_for_tables_of_later(lake):
    there = lake(TWO, ["public.*", "other.*"], update=False)
    world = there.world
    seen = {"as": "main.things", "columns": {"v": "said"}, "compute": {"twice": "id * 2"}, "where": "id < 50"}
    entries = {"public.t": seen, "public.made": {**seen, "as": "made"}, "public.hidden*": {"exclude": True}}
    for slave in world.slaves:
        world.configure(lambda all_, slave=slave: all_["slaves"][slave].update(schemas={"other": "o"}, tables=entries))
    world.update()
    world.master.execute("CREATE TABLE made (id int PRIMARY KEY, v text); INSERT INTO made VALUES (1, 'a'), (77, 'b')")
    world.master.execute("CREATE TABLE hidden (id int); INSERT INTO hidden VALUES (1); DROP TABLE t")
    world.master.execute(
        "ALTER TABLE made RENAME TO t; INSERT INTO t VALUES (2, 'c'); UPDATE t SET id = 60 WHERE id = 1"
    )
    world.master.execute("CREATE SCHEMA other; ALTER TABLE u SET SCHEMA other; INSERT INTO other.u VALUES (88)")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for slave in world.slaves:
        assert there.tables(slave) == {"main.things", "o.u"}
    (row,) = there.read("zurich", "main.things")
    assert row == {"id": 2, "said": "c", "twice": 4, "sluice_text": None}
    world.master.execute(
        "ALTER TABLE other.u RENAME TO w; ALTER TABLE other.w SET SCHEMA public; INSERT INTO w VALUES (89)"
    )
    world.master.execute(
        "CREATE TABLE brief (id int); INSERT INTO brief VALUES (1); ALTER TABLE brief RENAME TO hidden_2"
    )
    assert world.verify() == {"zurich": 0, "geneva": 0}
    for slave in world.slaves:
        assert there.tables(slave) == {"main.things", "public.w"}
    world.master.execute("ALTER TABLE t RENAME TO free")
    world.publish()
    for slave in world.slaves:
        with pytest.raises(SluiceError, match=r"SLC-145: .* public\.free, .* rows that it did not get"):
            world.drain(slave)
        names = {**entries, "public.free": {**seen, "as": "free"}}
        world.configure(lambda all_, slave=slave, names=names: all_["slaves"][slave].update(tables=names))
        world.drain(slave)
        assert there.tables(slave) == {"public.free", "public.w"}
    world.master.execute("ALTER TABLE hidden RENAME TO shown")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-145: .*does not get public.hidden"):
        world.drain("zurich")


@pytest.mark.full
def test_a_column_that_is_called_as_one_of_ours_stops_it(lake):
    there = lake(TWO, ["public.*"])
    taken = r"SLC-432: public\.{} has columns whose names are taken"
    there.world.master.execute("CREATE TABLE made (id int, sluice_text text)")
    there.world.publish()
    with pytest.raises(SluiceError, match=taken.format("made")):
        there.world.drain("zurich")
    so(there, creates="ignore")
    there.world.master.execute("ALTER TABLE t ADD sluice_key int")
    there.world.publish()
    for slave in there.world.slaves:
        with pytest.raises(SluiceError, match=taken.format("t")):
            there.world.drain(slave)


@pytest.mark.full
def test_tables_that_no_event_trigger_saw_are_followed_when_they_are_found(lake, server):
    weak = SimpleNamespace(create_database=lambda: server.create_database(superuser=False), connect=server.connect)
    there = lake(TWO, ["public.*"], elsewhere={"master": weak})
    for statements in (
        "CREATE TABLE made (id int PRIMARY KEY); INSERT INTO made VALUES (1)",
        "INSERT INTO made VALUES (2); INSERT INTO t VALUES (21); ALTER TABLE t RENAME TO x; INSERT INTO x VALUES (22)",
        "ALTER TABLE x ADD more int DEFAULT 5; ALTER TABLE x RENAME TO y; INSERT INTO y (id, more) VALUES (23, 6)",
        "DROP TABLE made; DROP TABLE u; ALTER TABLE y RENAME TO u; INSERT INTO u (id) VALUES (24)",
        "DROP TABLE u; CREATE TABLE u (k int PRIMARY KEY, at date); INSERT INTO u VALUES (1, '2024-01-01')",
        "CREATE TABLE t (id int); INSERT INTO t VALUES (1)",
    ):
        there.world.master.execute(statements)
        there.assert_same()
    (row,) = there.read("zurich", "public.u")
    assert row["k"] == 1
    assert all(one.good for one in findings(there.world.context) if one.subject.startswith("slave"))
    there.world.master.execute("ALTER TABLE u RENAME TO x; ALTER TABLE t RENAME TO u; ALTER TABLE x RENAME TO t")
    there.world.publish()
    for slave in there.world.slaves:
        with pytest.raises(SluiceError, match="SLC-142"):
            there.world.drain(slave)
    there.world.update()
    assert there.world.verify(initial=True) == {"zurich": 0, "geneva": 0}
