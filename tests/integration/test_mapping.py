"""A slave that calls schemas, tables and columns otherwise, and does not get all of them."""

from __future__ import annotations

import pytest
from support.issuing import execute

from sluice.errors import SluiceError
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE planes (
    tailnum text PRIMARY KEY,
    seats int CHECK (seats > 0),
    lower text NOT NULL DEFAULT 'x',
    doubled int GENERATED ALWAYS AS (seats * 2) STORED,
    secret text,
    owner int UNIQUE,
    UNIQUE (secret, seats)
);
CREATE INDEX planes_lower ON planes (lower(lower)) WHERE seats > 1;
CREATE TABLE flights (
    day date, number int, plane text REFERENCES planes, note text, n bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (day, number)
);
CREATE TABLE kept (id int PRIMARY KEY, v text);
CREATE TABLE log (id int PRIMARY KEY, kept int REFERENCES kept ON DELETE CASCADE);
INSERT INTO planes (tailnum, seats, lower, secret, owner)
    SELECT 'N' || g, g + 1, 'Low ' || g, 'secret ' || g, g FROM generate_series(1, 50) AS g;
INSERT INTO flights SELECT date '2013-01-01' + g / 3, g % 3, 'N' || g, 'note ' || g FROM generate_series(1, 50) AS g;
INSERT INTO log SELECT g FROM generate_series(1, 3) AS g;
INSERT INTO kept SELECT g, 'v' FROM generate_series(1, 5) AS g;
"""
SEEN = {
    # Names that swap, and one that is a function's as well.
    "public.planes": {
        "as": "fleet.craft",
        "columns": {"tailnum": "seats", "seats": "tailnum"},
        "exclude_columns": ["secret"],
    },
    "public.flights": {"as": "legs", "columns": {"plane": "by", "n": "serial"}, "exclude_columns": ["day"]},
    "public.kept": {"as": "fleet.store"},
    "public.f*": {"exclude_columns": ["note"]},
    "public.log": {"actions": "I"},
}


@pytest.fixture
def world(updating):
    made = updating(DDL, ["public.planes", "public.flights", "public.kept", "public.log", "public.fl*"])

    def see(settings):
        settings["slaves"]["geneva"].update(tables=SEEN)
        # Batches are seen in the same way: test_shaped.py.
        settings["replications"][1].update(mode="one_to_one")

    made.configure(see)
    return made


def columns(session, table):
    return [
        name
        for (name,) in session.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum", [table]
        )
    ]


def test_a_slave_has_its_own_names_and_not_every_column(world):
    world.update()
    world.end_update()
    geneva = world.session("geneva")
    assert columns(geneva, "fleet.craft") == ["seats", "tailnum", "lower", "doubled", "owner"]
    assert columns(geneva, "branch.legs") == ["number", "by", "note", "serial"]
    made = [
        text
        for (text,) in geneva.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype <> 'n' AND conrelid IN ("
            "'fleet.craft'::regclass, 'branch.legs'::regclass, 'branch.log'::regclass) ORDER BY 1"
        )
    ]
    assert made == [
        "CHECK ((tailnum > 0))",
        "FOREIGN KEY (by) REFERENCES fleet.craft(seats)",
        "PRIMARY KEY (id)",
        "PRIMARY KEY (seats)",
        "UNIQUE (owner)",
    ]
    ((index,),) = geneva.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'planes_lower'")
    assert index.endswith("ON fleet.craft USING btree (lower(lower)) WHERE (tailnum > 1)")
    world.master.execute(
        """
        BEGIN;
        INSERT INTO planes (tailnum, seats, secret) VALUES ('N99', 9, 'x'), ('N98', 8, NULL);
        UPDATE planes SET seats = seats + 100, secret = 'moved' WHERE owner < 10;
        UPDATE planes SET secret = 'alone' WHERE owner = 20;
        INSERT INTO flights (day, number, plane, note)
            VALUES ('2020-01-01', 1, 'N99', 'a'), ('2020-01-02', 1, 'N99', 'a');
        UPDATE flights SET day = day + 1000 WHERE number = 1;
        DELETE FROM flights WHERE plane = 'N7';
        UPDATE planes SET tailnum = 'N98b' WHERE tailnum = 'N98';
        COMMIT;
        DELETE FROM flights WHERE plane = 'N99' AND day = '2022-09-27';
        DELETE FROM kept;
        """
    )
    assert world.verify() == {"zurich": 0, "geneva": 0}
    execute(world, "INSERT INTO kept AS k VALUES (7, 'w') ON CONFLICT (id) DO UPDATE SET v = k.v")
    with pytest.raises(SluiceError, match="SLC-103"):
        execute(world, "UPDATE planes SET seats = 1")
    world.master.execute("TRUNCATE flights; INSERT INTO flights (day, number) VALUES ('2000-01-01', 7)")
    world.catch_up()
    assert geneva.execute("SELECT * FROM fleet.store").fetchall() == [(7, "w")]
    counted = "SELECT pg_sequence_last_value(pg_get_serial_sequence(%s, %s))"
    ours = world.master.execute(counted, ["flights", "n"]).fetchall()
    assert geneva.execute(counted, ["branch.legs", "serial"]).fetchall() == ours
    assert geneva.execute('SELECT number, "by", note FROM branch.legs').fetchall() == [(7, None, None)]
    geneva.execute("CREATE TABLE branch.flown (id int PRIMARY KEY)")
    world.session("zurich").execute("CREATE TABLE flown (note text, id int PRIMARY KEY)")
    world.master.execute(
        "CREATE TABLE flown (note text, id int PRIMARY KEY); INSERT INTO flown VALUES ('a', 1), ('b', 2);"
        "UPDATE flown SET id = 3 WHERE id = 1"
    )
    world.catch_up()
    assert geneva.execute("SELECT id FROM branch.flown ORDER BY id").fetchall() == [(2,), (3,)]
    world.master.execute(
        "INSERT INTO kept VALUES (1, 'w'); INSERT INTO log VALUES (9, 1);"
        "UPDATE log SET id = 10 WHERE id = 1; TRUNCATE kept, log"
    )
    geneva.execute("UPDATE branch.legs SET note = 'changed here'")
    with pytest.raises(SluiceError, match=r"public\.flights on geneva: 1 missing, 1 extra") as found:
        world.verify()
    assert "public.log on geneva: 0 missing, 4 extra" in found.value.fact
    assert found.value.fact.count(" missing, ") == 2, "all else is equal"
    assert geneva.execute("SELECT id, kept FROM branch.log ORDER BY id").fetchall()[2:] == [(3, None), (9, 1)]
    world.configure(
        lambda settings: settings["slaves"]["geneva"].update(tables={"public.log": {"exclude_columns": ["w"]}})
    )
    (said,) = [one for one in findings(world.context) if one.subject == "slave geneva"]
    assert "public.log has no column w" in said.text


def test_a_column_computed_from_one_that_is_left_out_is_refused_before_anything_is_made(updating):
    world = updating(
        "CREATE TABLE t (id int PRIMARY KEY, n int, m int GENERATED ALWAYS AS (n * 2) STORED)", ["public.t"]
    )
    see = world.configure
    see(lambda settings: settings["slaves"]["geneva"].update(tables={"public.t": {"exclude_columns": ["n"]}}))
    with pytest.raises(SluiceError, match=r"SLC-432: .*does not get the column n of public\.t, but another is"):
        world.update("geneva")
    see(lambda settings: settings["slaves"]["geneva"].update(tables={"public.t": {"exclude_columns": ["n", "m"]}}))
    world.update("geneva")
    assert columns(world.session("geneva"), "branch.t") == ["id"]
