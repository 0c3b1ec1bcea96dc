"""A slave gets some rows, computed columns, masks, or what a stylesheet or a plugin makes: alike in load, stream and
comparison.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from support.world import World

from sluice.apply.transform.build import hash_texts
from sluice.apply.transform.plugin import RowByRow
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = r"""
CREATE TABLE people (
    id int PRIMARY KEY, name text NOT NULL, email text, born date, pay numeric(8,2) NOT NULL CHECK (pay >= 0),
    region char(2), notes text
);
CREATE TABLE orders (
    id int PRIMARY KEY, person int REFERENCES people ON UPDATE CASCADE ON DELETE CASCADE, tags text, amount int
);
CREATE TABLE events (what text, n int);
INSERT INTO people
    SELECT g, E'P\t' || g, CASE WHEN g % 3 > 0 THEN 'p' || g || '@x' END, date '1980-01-01' + g, g * 1.5,
           CASE WHEN g % 2 = 0 THEN 'EU' ELSE 'US' END, E'line\\ \n' || g
    FROM generate_series(1, 40) AS g;
INSERT INTO orders
    SELECT g, g, CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a' ELSE 'a,b' END, g FROM generate_series(1, 40) AS g;
INSERT INTO events SELECT 'e' || g % 3, g % 5 FROM generate_series(1, 30) AS g;
"""
SEEN = {
    "public.people": {
        "columns": {"name": "called"},
        "exclude_columns": ["notes"],
        "where": "region = 'EU' AND pay > 3",
        "compute": {"yearly": "pay * 12", "called": "upper(substr(name, 1, 1)) || '.'"},
        "mask": {"email": "hash", "born": "redact", "region": "XX"},
        "stylesheet": False,
    },
    "public.orders": {"mask": {"id": "hash"}, "plugin": f"{__name__}:PerTag", "stylesheet": False},
    "public.events": {"where": "n <> 2", "compute": {"n": "(n + 1)::integer"}},
}
# Of the events none that is e0, each with how often it is, under another name.
STYLE = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>
  <xsl:template match="colname[.='n']"><colname typeName="text">times</colname><colname typeName="integer">m</colname>
  </xsl:template>
  <xsl:template match="row[col='e0']"/>
  <xsl:template match="col[@name='n']">
    <col name="m"><xsl:value-of select="."/></col>
    <col name="times"><xsl:value-of select="concat(., ' &lt; &amp;')"/></col>
  </xsl:template>
</xsl:stylesheet>"""
CHANGES = """
BEGIN;
INSERT INTO people VALUES (100, 'new', 'n@x', NULL, 50, 'EU', 'x'), (101, 'other', NULL, NULL, 50, 'US', 'y');
UPDATE people SET region = 'EU' WHERE id IN (7, 9);
UPDATE people SET region = 'US' WHERE id IN (8, 10);
UPDATE people SET pay = pay + 1, name = 'x' || name WHERE id BETWEEN 11 AND 20;
UPDATE people SET notes = 'unseen' WHERE id = 22;
UPDATE people SET id = 222 WHERE id = 40;
COMMIT;
UPDATE orders SET tags = 'b,c' WHERE id BETWEEN 1 AND 12;
UPDATE orders SET tags = NULL WHERE id = 13;
INSERT INTO orders VALUES (50, 100, 'z', 1);
DELETE FROM orders WHERE id > 35 AND id < 50;
DELETE FROM people WHERE id = 36;
UPDATE events SET n = n + 1 WHERE what = 'e1';
DELETE FROM events WHERE n = 4;
"""
EMPTIED = """
TRUNCATE events; INSERT INTO events VALUES ('e1', 1), ('e1', 2), ('e1', 1); TRUNCATE orders;
INSERT INTO orders VALUES (60, 1, 'z,y', 1);
"""


class PerTag(RowByRow):
    """An order's row for each of its tags."""

    def __init__(self, layout):
        super().__init__(layout)
        self.columns = [*(one for one in layout.columns if one.name != "tags"), Column("tag", "text", True)]
        self.key = ("id", "tag")

    def row(self, row):
        kept = {name: value for name, value in row.items() if name != "tags"}
        return [{**kept, "tag": tag} for tag in (row["tags"] or "").split(",") if tag]


@pytest.fixture
def world(updating, monkeypatch, tmp_path):
    made = updating(DDL, ["public.people", "public.orders", "public.events"])
    made.infos["salt"] = ConnectionInfo("generic", password="pepper")
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))
    (tmp_path / "events.xsl").write_text(STYLE)
    seen = {"tables": SEEN, "salt": "salt", "stylesheets": {"directory": str(tmp_path), "name": "events.xsl"}}
    made.configure(lambda settings: settings["slaves"]["geneva"].update(seen))
    return made


def expected(world):
    """What the slave should have of `people`, worked out by the master itself."""
    return world.master.execute(
        "SELECT id, upper(substr(name, 1, 1)) || '.', NULL::date, pay, 'XX', pay * 12, email FROM people "
        "WHERE region = 'EU' AND pay > 3 ORDER BY id"
    ).fetchall()


def found(world):
    return (
        world.session("geneva")
        .execute("SELECT id, called, born, pay, region, yearly, email FROM branch.people ORDER BY id")
        .fetchall()
    )


def test_rows_are_shaped_alike_when_they_are_loaded_streamed_and_compared(world):
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for changes in ("", CHANGES, EMPTIED):
        if changes:
            world.master.execute(changes)
            assert world.verify() == {"zurich": 0, "geneva": 0}
        there, here = expected(world), found(world)
        assert [row[:-1] for row in here] == [row[:-1] for row in there]
        emails = hash_texts(pa.array([row[-1] for row in there], pa.string()), b"pepper").to_pylist()
        assert [row[-1] for row in here] == emails
        events = "SELECT {} FROM {} WHERE what <> 'e0' AND {} ORDER BY 1, 2, 3"
        there = world.master.execute(events.format("what, n + 1 || ' < &', n + 1", "events", "n <> 2")).fetchall()
        assert there
        assert world.session("geneva").execute(events.format("*", "branch.events", "true")).fetchall() == there
    geneva = world.session("geneva")
    rows = geneva.execute("SELECT person, tag FROM branch.orders ORDER BY person, tag").fetchall()
    assert (
        rows
        == world.master.execute(
            "SELECT person, tag FROM orders, unnest(string_to_array(tags, ',')) AS tag ORDER BY person, tag"
        ).fetchall()
    )
    geneva.execute("UPDATE branch.people SET yearly = 1 WHERE id = 100; DELETE FROM branch.orders WHERE tag = 'z'")
    with pytest.raises(SluiceError, match="SLC-090") as differ:
        world.verify()
    for fault in (
        "public.people on geneva: 0 missing, 0 extra, 1 changed",
        "public.orders on geneva: 1 missing, 0 extra",
    ):
        assert fault in differ.value.fact


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_rows_pass_a_stylesheet_in_spark_tasks_and_one_that_fails_there_stops_its_slave_alone(world, tmp_path):
    from sluice.spark.compare_tasks import compare_all
    from sluice.spark.load_tasks import load

    # The plugin is known to this process alone.
    world.configure(lambda settings: settings["slaves"]["geneva"]["tables"].pop("public.orders"))
    row = "<xsl:template match=\"row[col='e0']\""
    stops = f'{row}><xsl:message terminate="yes">no such row</xsl:message></xsl:template>'
    (tmp_path / "events.xsl").write_text(STYLE.replace(f"{row}/>", stops))
    world.inhibit()
    failed = world.dump(load=load)["failed"]
    assert list(failed) == ["geneva"]
    assert re.search("SLC-162: the stylesheet events.xsl failed on .* no such row", failed["geneva"])
    (tmp_path / "events.xsl").write_text(STYLE)
    world.configure(lambda settings: None)
    world.release("zurich")
    world.update("geneva", load=load)
    assert world.verify(compare=compare_all, initial=True) == {"zurich": 0, "geneva": 0}
    events = "SELECT what, n + 1 || ' < &', n + 1 FROM events WHERE what <> 'e0' AND n <> 2 ORDER BY 1, 2, 3"
    there = world.session("geneva").execute("SELECT * FROM branch.events ORDER BY 1, 2, 3").fetchall()
    assert there == world.master.execute(events).fetchall()


@pytest.mark.full
def test_a_table_that_is_altered_or_made_later_is_shaped_as_well(world):
    entry = {"where": "id > 20", "mask": {"email": "hash"}, "compute": {"next": "id + 1"}}
    world.configure(lambda settings: settings["sources"]["flights"]["tables"].update({"public.later*": {}}))
    seen = {"tables": {"public.*": {}, "public.people": entry}, "stylesheets": None}
    world.configure(lambda settings: settings["slaves"]["geneva"].update(seen))
    later = {"mask": {"secret": "hash"}, "compute": {"next": "id + 1"}}
    world.configure(lambda settings: settings["slaves"]["geneva"]["tables"].update({"public.later*": later}))
    world.update()
    world.master.execute("ALTER TABLE people ADD size int; UPDATE people SET size = 5 WHERE id = 22")
    world.master.execute("CREATE TABLE later1 (id int PRIMARY KEY, secret text); INSERT INTO later1 VALUES (1, 'a')")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    geneva = world.session("geneva")
    assert geneva.execute("SELECT size, next FROM branch.people WHERE id < 24 ORDER BY id").fetchall() == [
        (None, 22),
        (5, 23),
        (None, 24),
    ]
    hashes = hash_texts(pa.array(["a"]), b"pepper").to_pylist()
    assert geneva.execute("SELECT id, secret, next FROM branch.later1").fetchall() == [(1, *hashes, 2)]


@pytest.fixture(scope="module")
def checked(server, tmp_path_factory):
    """One world, whose configuration alone changes."""
    made = World(server, tmp_path_factory.mktemp("checked"), DDL, ["public.people"])
    yield made
    made.close()
    server.drop_databases(made.infos.values())


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (
            {"where": "regio = 'EU'"},
            "`where` of public.people cannot be used: there is no column regio; there is id,",
        ),
        ({"where": "region = "}, "`where` of public.people cannot be used: .* is no expression"),
        ({"where": "old.pay < pay"}, "a row is seen by itself"),
        (
            {"compute": {"x": "pg_sleep(1)"}},
            "`compute.x` of public.people cannot be used: there is no function",
        ),
        ({"mask": {"born": "yesterday"}}, "`mask.born` of public.people cannot be used: 'yesterday' as date"),
        ({"mask": {"hair": "redact"}}, "public.people has no column hair"),
        ({"mask": {"name": "hash"}}, "SLC-014: .* the Airflow connection 'salt', and there is none"),
        ({"plugin": "nowhere:Plugin"}, "SLC-161: the plugin nowhere:Plugin cannot be used"),
        (
            {"stylesheet": True},
            "SLC-161: the stylesheet REPL_0_0_0_0.xsl cannot be used for public.people: .*XMLSyntax",
        ),
    ],
)
def test_check_finds_what_does_not_go_with_a_table(checked, entry, why, tmp_path):
    (tmp_path / "REPL_0_0_0_0.xsl").write_text(STYLE[: len(STYLE) // 2])
    seen = {"tables": {"public.people": entry}, "salt": "salt" if "hash" in str(entry) else None}
    seen["stylesheets"] = {"directory": str(tmp_path)} if "stylesheet" in entry else None
    checked.configure(lambda settings: settings["slaves"]["zurich"].update(seen))
    (said,) = [one for one in findings(checked.context) if one.subject == "slave zurich"]
    assert not said.good
    assert re.search(why, said.text)


def test_check_finds_two_tables_of_a_wildcard_that_would_be_one(checked, monkeypatch):
    monkeypatch.setitem(checked.settings["sources"]["flights"], "tables", {"public.*": {}})
    seen = {"tables": {"public.orders": {"as": "people"}}, "salt": None, "stylesheets": None}
    checked.configure(lambda settings: settings["slaves"]["zurich"].update(seen))
    (said,) = [one for one in findings(checked.context) if one.subject == "slave zurich"]
    assert re.search("SLC-007: .*(people|orders) and public.(people|orders) would both be public.people", said.text)


def test_check_says_which_stylesheet_is_taken(checked, tmp_path):
    seen = {"tables": {}, "salt": None, "stylesheets": {"directory": str(tmp_path), "version": "9"}}
    checked.configure(lambda settings: settings["slaves"]["zurich"].update(seen))
    said = {}
    for name in (None, "REPL_0_0_9.xsl", "REPL_0_0_9_zurich.xsl"):
        if name:
            (tmp_path / name).write_text(STYLE)
        (said[name],) = [one for one in findings(checked.context) if one.subject == "slave zurich"]
    assert all(one.good for one in said.values())
    assert "there is no stylesheet for its messages" in said.pop(None).text
    assert all(f"messages pass {name}" in one.text for name, one in said.items())


@pytest.mark.full
def test_a_row_that_cannot_be_evaluated_stops_the_slave_in_front_of_it(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, n int, v text)", ["public.t"])

    def see(v):
        seen = {"public.t": {"compute": {"v": v}, "where": "id < 10"}}
        world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=seen))

    def there():
        return world.reader("zurich").execute("SELECT * FROM t ORDER BY id").fetchall()

    see("(100 / n)::text")
    world.master.execute("INSERT INTO t VALUES (1, 3, 'x'), (11, 0, 'x'), (2, 5, 'y')")
    world.catch_up()
    assert there() == [(1, 3, "33"), (2, 5, "20")]
    world.master.execute("UPDATE t SET n = 0 WHERE id = 2")
    with pytest.raises(SluiceError, match=r"SLC-162: .*division by zero"):
        world.catch_up()
    assert there() == [(1, 3, "33"), (2, 5, "20")]
    world.master.execute("DELETE FROM t WHERE id = 1")
    world.master.execute("INSERT INTO t VALUES (12, 0, 'unseen')")
    see("(100 / NULLIF(n, 0))::text")
    world.catch_up()
    assert (there(), world.position().ordinal) == ([(2, 0, None)], 4)


def keeps_what_is_old(layout):
    return lambda action, new, old: action == "D" and int(old["n"]) > 5


@pytest.mark.full(but=["batch"])
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_change_that_is_vetoed_or_does_not_meet_the_condition_leaves_the_row_as_it_was(build, mode):
    world = build("CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE heap (a int)", ["public.t", "public.heap"])
    chosen = {
        "public.t": {"veto": f"{__name__}:keeps_what_is_old"},
        "public.heap": {"when": "old.a IS NULL OR new.a > old.a"},
    }
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=chosen))
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    for statement in (
        "INSERT INTO t VALUES (1, 3), (2, 7), (3, 8); INSERT INTO heap VALUES (1), (2), (2)",
        "DELETE FROM t",
        "INSERT INTO t VALUES (2, 4); UPDATE heap SET a = 5 - a",
        "DELETE FROM heap",
    ):
        world.master.execute(statement)
    world.catch_up()
    slave = world.reader("zurich")
    assert slave.execute("SELECT * FROM t ORDER BY id").fetchall() == [(2, 4), (3, 8)]
    assert slave.execute("SELECT a FROM heap ORDER BY a").fetchall() == [(3,), (3,), (4,)]
    assert world.position().ordinal == 4
