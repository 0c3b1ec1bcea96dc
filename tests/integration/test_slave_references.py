"""Foreign keys of a slave whose role cannot silence them: what acts is refused, what only checks holds nothing back."""

from __future__ import annotations

import re

import pytest
from psycopg import sql
from support.updating import background, blocks_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.store import blocked

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE region (id int PRIMARY KEY, name text, capital int);
CREATE TABLE city (
    id int PRIMARY KEY, "in" int REFERENCES region ON UPDATE CASCADE ON DELETE CASCADE, twin int REFERENCES city);
ALTER TABLE region ADD CONSTRAINT of_it FOREIGN KEY (capital) REFERENCES city;
INSERT INTO region SELECT g, 'r' || g FROM generate_series(1, 20) AS g;
INSERT INTO city SELECT g, 1 + g % 20, 600 - g FROM generate_series(1, 599) AS g;
UPDATE region SET capital = (SELECT min(city.id) FROM city WHERE "in" = region.id);
"""
TABLES = ["public.region", "public.city"]
REGION = TableName("public", "region")
KEYS = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY conname"
LATE = "DEFERRABLE INITIALLY DEFERRED"


@pytest.fixture
def world(updating, weak):
    """A slave of an ordinary role, without tables."""
    return updating(DDL, TABLES, {}, slaves=["zurich"], elsewhere={"zurich": weak}, source={"blocks": {"rows": 100}})


def fill(world):
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


# What somebody made on the slave; what SLC-074 names.
ACTING = {
    "an action": (
        'ADD FOREIGN KEY ("in") REFERENCES region ON UPDATE RESTRICT ON DELETE SET NULL ("in")',
        "city_in_fkey",
    ),
    "checked at once": ('ADD CONSTRAINT "At once" FOREIGN KEY ("in") REFERENCES region', "At once"),
    "not valid": ('ADD CONSTRAINT n FOREIGN KEY ("in") REFERENCES region ON DELETE CASCADE DEFERRABLE NOT VALID', "n"),
}
OTHERS = {
    "trigger": (
        'CREATE TRIGGER "It\'s" AFTER INSERT ON city EXECUTE FUNCTION suppress_redundant_updates_trigger()',
        "It's",
    ),
    "rule": ("CREATE RULE again AS ON DELETE TO city DO ALSO NOTHING", "again"),
}
ACTING = {name: (f"ALTER TABLE city {text}", said) for name, (text, said) in ACTING.items()} | OTHERS


SUPERUSER = ("checked at once", "trigger")
WAYS = [(*case, "superuser" if name in SUPERUSER else "owner") for name, case in ACTING.items()]


@pytest.mark.full
@pytest.mark.parametrize(("made", "named", "way"), WAYS, ids=ACTING)
def test_what_acts_by_itself_is_refused_until_one_of_the_statements_of_the_hint_is_executed(
    world, server, made, named, way
):
    there = world.reader("zurich")
    there.execute("CREATE TABLE region (id int PRIMARY KEY, name text, capital int); INSERT INTO region VALUES (-1)")
    there.execute('CREATE TABLE city (id int PRIMARY KEY, "in" int, twin int)')
    there.execute(made.encode())
    with pytest.raises(SluiceError, match=rf"SLC-074: .*{named} on public.city"):
        world.update("zurich")
    assert there.execute("SELECT id FROM region").fetchall() == [(-1,)], "nothing was emptied"
    said = _said(world)
    assert not said.good
    owner, superuser = re.search(
        r"as the owner of its tables: (.*?); or leave .* execute: (GRANT .*?), so", said.text
    ).groups()
    if way == "owner":
        there.execute(owner.encode())
    else:
        with server.cluster.admin() as admin:
            admin.execute(superuser.encode())
    assert _said(world).good
    fill(world)


def _said(world):
    return {one.subject: one for one in findings(world.context)}["slave zurich"]


@pytest.mark.full
def test_a_table_of_the_slaves_own_that_refers_to_one_that_is_filled_keeps_its_rows_and_its_key(world, server):
    fill(world)
    there, other = world.reader("zurich"), sql.Identifier(f"other {world.infos['zurich'].login}")
    there.execute("CREATE TABLE own (city int CONSTRAINT its REFERENCES city ON DELETE CASCADE)")
    there.execute("INSERT INTO own SELECT generate_series(1, 9)")
    before = there.execute(KEYS).fetchall()
    fill(world)
    assert there.execute("SELECT count(*) FROM own").fetchone() == (9,)
    assert there.execute(KEYS).fetchall() == before
    world.master.execute("UPDATE city SET twin = NULL; UPDATE region SET capital = NULL; DELETE FROM city WHERE id = 5")
    with pytest.raises(SluiceError, match=r"SLC-271: rows of public.own do not meet the foreign key its"):
        fill(world)
    there.execute("DELETE FROM own WHERE city = 5")
    fill(world)
    assert there.execute(KEYS).fetchall() == before
    with server.cluster.admin(world.infos["zurich"].database) as admin:
        admin.execute(sql.SQL("CREATE ROLE {0}; ALTER TABLE own OWNER TO {0}").format(other))
        with pytest.raises(
            SluiceError, match=r"SLC-033: .*its of public.own \(to public.city\)(.|\n)*nothing was changed"
        ) as caught:
            fill(world)
        assert there.execute("SELECT count(*) FROM city").fetchone() == (598,)
        admin.execute(re.search(r"ALTER TABLE .*? DROP CONSTRAINT \S+(?=;)", caught.value.hint)[0].encode())
    fill(world)


# One transaction each; after each of them the slaves are what the master is.
STREAM = [
    "INSERT INTO region VALUES (50); INSERT INTO city VALUES (950, 50, 951), (951, 50, 950)",
    "UPDATE region SET capital = id",
    "UPDATE region SET id = id + 100",
    "UPDATE region SET capital = NULL; UPDATE city SET id = id + 10000, twin = twin + 10000",
    "UPDATE region SET capital = (SELECT max(id) FROM city) WHERE id > 110",
    "UPDATE city SET twin = NULL WHERE id % 2 = 0; UPDATE region SET capital = NULL; UPDATE city SET twin = id",
    "DELETE FROM region WHERE id % 3 = 0",
    "INSERT INTO city SELECT -g, NULL, -g - 1 FROM generate_series(1, 5) AS g UNION VALUES (-6, NULL::int, NULL::int)",
    'ALTER TABLE region ALTER id TYPE bigint; INSERT INTO region VALUES (7); UPDATE city SET "in" = 7 WHERE id < 0',
    "ALTER TABLE city ALTER twin TYPE bigint, ADD score int DEFAULT 1; UPDATE city SET twin = id WHERE id < 0",
    "CREATE TABLE later (city int REFERENCES city ON DELETE CASCADE); INSERT INTO later SELECT id FROM city LIMIT 9",
    "ALTER TABLE city ADD other bigint REFERENCES region ON DELETE SET NULL ON UPDATE CASCADE",
    'UPDATE city SET other = "in"; DELETE FROM region WHERE id = 7',
    'ALTER TABLE city RENAME "in" TO inside; UPDATE region SET id = -id',
    "ALTER TABLE region DROP CONSTRAINT of_it; UPDATE region SET capital = 0; DELETE FROM city WHERE inside IS NULL",
    "TRUNCATE region CASCADE; INSERT INTO region VALUES (1); INSERT INTO city VALUES (1, 1, 1), (2, 1, 3), (3, 1, 2)",
]


@pytest.mark.full
def test_the_stream_arrives_in_batches_one_to_one_and_row_by_row(updating, weak):
    world = updating(
        DDL,
        ["public.*"],
        {},
        slaves=("zurich", "geneva", "bern"),
        elsewhere=dict.fromkeys(("zurich", "geneva", "bern"), weak),
    )

    def manners(settings):
        settings["slaves"]["zurich"]["max_batch"] = 3
        settings["replications"][1]["mode"] = "one_to_one"
        settings["slaves"]["bern"]["tables"] = {f"public.{name}": {"on_missing": "stop"} for name in ("region", "city")}

    world.update()
    assert world.verify(initial=True) == dict.fromkeys(world.slaves, 0)
    world.configure(manners)
    for statement in STREAM:
        with world.master.transaction():
            world.master.execute("SET CONSTRAINTS ALL DEFERRED")
            world.master.execute(statement)
        world.catch_up()
        assert world.differences() == {}, statement
        made = [[name for name, _ in world.reader(name).execute(KEYS).fetchall()] for name in ("master", *world.slaves)]
        assert made == [made[0]] * 4, statement
    assert {text.endswith(LATE) for slave in world.slaves for _, text in world.reader(slave).execute(KEYS)} == {True}
    world.configure(lambda settings: settings["slaves"]["bern"].pop("tables"))
    world.update()
    assert world.verify(initial=True) == dict.fromkeys(world.slaves, 0)


@pytest.mark.full
def test_foreign_keys_that_come_and_go_while_blocks_do_are_those_of_the_master_in_the_end(world):
    world.inhibit("zurich")
    world.dump("zurich", mode=ONLINE)
    world.release("zurich")
    happens = [
        "ALTER TABLE region DROP CONSTRAINT of_it",
        "ALTER TABLE city ADD CONSTRAINT also FOREIGN KEY (id) REFERENCES city",
    ]

    def load(job):
        if happens:
            world.master.execute(happens.pop())
        return blocks_here(job)

    writer = world.session()
    with background(lambda: writer.execute("UPDATE region SET id = -id WHERE id % 5 = 0")), world.running("zurich"):
        load_online(world.context, SOURCE, ["zurich"], load)
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert [name for name, _ in world.reader("zurich").execute(KEYS)] == [
        name for name, _ in world.master.execute(KEYS)
    ]


def test_a_table_that_is_left_out_holds_back_no_rows_that_refer_to_it_and_is_filled_alone_later(world):
    world.update()
    world.end_update()
    before = world.reader("zurich").execute(KEYS).fetchall()
    blocked.skip(world.context.store, world.pair("zurich"), REGION, "eva")
    world.master.execute("INSERT INTO region VALUES (30); INSERT INTO city VALUES (700, 30), (701, 1)")
    world.catch_up()
    assert world.rows("zurich", "public.city") == world.rows("master", "public.city")
    world.master.execute('DELETE FROM city WHERE id = 700; INSERT INTO region VALUES (31); UPDATE city SET "in" = 31')
    with background(world.publish):
        world.inhibit("zurich", tables=[REGION])
        assert world.dump("zurich")["failed"] == {}
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.reader("zurich").execute(KEYS).fetchall() == before


@pytest.mark.full
def test_a_row_that_somebody_took_from_the_slave_is_named_by_the_key_that_misses_it(world):
    fill(world)
    there = world.reader("zurich")
    there.execute("ALTER TABLE city DROP CONSTRAINT city_in_fkey; DELETE FROM region WHERE id = 3")
    there.execute(f'ALTER TABLE city ADD CONSTRAINT city_in_fkey FOREIGN KEY ("in") REFERENCES region {LATE} NOT VALID')
    world.master.execute("INSERT INTO city VALUES (800, 3)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-072: .*city_in_fkey(.|\n)*Nothing is lost"):
        world.drain("zurich")
    fill(world)
    world.configure(lambda settings: settings["slaves"]["zurich"].update(wipe_out={"schema": "public"}))
    fill(world)
