"""Tables that are unlike others, filled over the wire and by files, and kept up afterwards."""

from __future__ import annotations

import pytest
from support.updating import load_here
from support.world import SOURCE

from sluice.initial_update.dump import dump
from sluice.initial_update.files.receive import receive

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]

COLLATION = "CREATE COLLATION strange (provider = libc, locale = 'C.utf8')"
DDL = f"""
{COLLATION};
CREATE TABLE nothing (id int PRIMARY KEY, note text);
CREATE TABLE large (id int PRIMARY KEY, value text);
CREATE TABLE wide (a int, b text, c date, d numeric, e boolean, n int, PRIMARY KEY (e, d, c, b, a));
CREATE TABLE words (word text COLLATE strange PRIMARY KEY, n int);
CREATE TABLE loose (a int, b text);
INSERT INTO wide SELECT g % 3, 'b' || g % 5, '2024-01-01'::date + g, g / 7.0, g % 2 = 0, g
    FROM generate_series(1, 300) AS g;
INSERT INTO words VALUES ('z', 1), ('å', 2), ('Z', 3), ('ä', 4), ('', 5), (E'\\t', 6);
INSERT INTO loose SELECT g % 4, nullif('b' || g % 2, 'b1') FROM generate_series(1, 200) AS g;
"""
CHANGES = """
INSERT INTO nothing VALUES (1, 'something');
UPDATE wide SET b = upper(b), e = NOT e WHERE n < 50;
DELETE FROM wide WHERE n > 290;
UPDATE words SET word = word || 'å' WHERE n < 4;
DELETE FROM words WHERE word = '';
DELETE FROM loose WHERE ctid = (SELECT min(ctid) FROM loose WHERE a = 3);
UPDATE loose SET b = 'changed' WHERE a = 2;
"""
BYTES = 200 * 1024 * 1024


def test_tables_of_every_kind_are_filled_over_the_wire_and_by_files_and_kept_up(updating):
    tables = [f"public.{name}" for name in ("nothing", "large", "wide", "words", "loose")]
    world = updating(DDL, tables, renamed={})
    world.master.execute(
        f"INSERT INTO large VALUES (1, repeat('200 MB ', {BYTES // 7})), (2, 'small'), (3, NULL)".encode()
    )
    for slave in world.slaves:
        world.reader(slave).execute(COLLATION)
    place = {"location": str(world.path / "carried")}

    def here(settings):
        settings["sources"][SOURCE]["initial_files"] = settings["slaves"]["geneva"]["initial_files"] = place

    world.configure(here)
    world.update("zurich")
    world.inhibit("geneva")
    dump(world.context, SOURCE, ["geneva"], load_here, store=True)
    world.release("geneva")
    receive(world.context, SOURCE, "geneva", load_here)
    world.release("geneva")
    world.master.execute(CHANGES.encode())
    large = "SELECT id, length(value), md5(value) FROM large ORDER BY id"
    found = {name: world.reader(name).execute(large).fetchall() for name in ("master", *world.slaves)}
    assert found["zurich"] == found["geneva"] == found["master"]
    world.catch_up()
    for table in tables:
        if table != "public.large":
            rows = [world.rows(name, table) for name in found]
            assert rows[1:] == rows[:1] * 2, table
