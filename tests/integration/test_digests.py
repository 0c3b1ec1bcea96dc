"""Databases of two kinds compute the same digests of rows, and only rows of buckets that differ are read (R10)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from psycopg import sql
from support.logical import DDL as EVERY
from support.logical import NAMES, ROWS, VALUES, made_on_maria
from support.updating import compare_here
from test_mariadb_types import UNFIT

from sluice.errors import RowsDiffer
from sluice.vendors import text_compare

pytestmark = [pytest.mark.postgres]

# The types of which MariaDB has columns of its own that print as the master does, with the values that these can hold.
OWN = {
    kind: [value for value in values if value not in UNFIT.get(kind, ())]
    for kind, values in VALUES.items()
    if kind not in ("real", "double precision")
}
TYPED = ", ".join(f"v{number} {kind}" for number, kind in enumerate(OWN))
PLAIN = """
CREATE TABLE harmed (id int PRIMARY KEY, note text, name varchar(9), amount numeric(9,2), day date, at timestamptz,
    raw bytea, flag boolean, code uuid);
INSERT INTO harmed SELECT g, (ARRAY[NULL, '', 'x'])[1 + g % 3], 'a', g / 8.0, '2024-01-01', '2024-01-01 12:00:00.5+02',
    CASE WHEN g % 2 = 0 THEN '\\x00ff'::bytea END, g % 2 = 0, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    FROM generate_series(1, 3000) AS g;
CREATE TABLE heap (a int, b text);
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 100) AS g;
CREATE TABLE floats (id int PRIMARY KEY, a float8);
INSERT INTO floats SELECT g, g / 7.0 FROM generate_series(1, 100) AS g;
CREATE TABLE pairs (a varchar(9), b numeric(12,4), c text, PRIMARY KEY (a, b));
INSERT INTO pairs SELECT (ARRAY['a', 'A', 'a ', 'é'])[1 + g % 4], g / 8.0, 'n,' || g FROM generate_series(1, 1000) AS g;
"""
# By the keys of rows: what is done to each on the slave, and the columns that then differ.
CHANGED = {
    3: ("note = ''", "note"),
    4: ("note = NULL", "note"),
    6: ("note = 'x'", "note"),
    5: ("note = 'x '", "note"),
    8: ("note = 'X'", "note"),
    9: ("note = 'x', name = ''", "note name"),
    11: ("note = 'x,', name = ' a'", "note name"),
    12: ("name = 'á'", "name"),
    13: ("amount = amount + 0.01", "amount"),
    14: ("amount = NULL", "amount"),
    15: ("day = day + INTERVAL 1 DAY", "day"),
    16: ("at = at + INTERVAL 1 MICROSECOND", "at"),
    17: ("raw = ''", "raw"),
    18: ("raw = x'00ffff'", "raw"),
    20: ("raw = NULL, note = NULL", "raw note"),
    21: ("flag = NULL", "flag"),
    22: ("flag = 0", "flag"),
    23: ("code = REPLACE(code, '11', '12')", "code"),
    24: ("amount = 3.13", "amount"),
    25: ("amount = 3, note = NULL", "amount note"),
}
LONG = 27
NOT_DIFFERENT = "UPDATE {}.harmed SET flag = 7 WHERE id = 26"


def test_both_sides_digest_every_type_alike_and_what_differs_is_found_exactly(maria, maria_server, monkeypatch):
    typed = f"CREATE TABLE typed (id int PRIMARY KEY, {TYPED})"
    tables = ["t", "typed", "harmed", "heap", "floats", "pairs"]
    world = maria(
        f"{EVERY}; {typed}; {PLAIN}",
        [f"public.{one}" for one in tables],
        before=made_on_maria(),
        slaves=("zurich",),
        update=False,
    )
    own = [[values[place] if place < len(values) else None for values in OWN.values()] for place in range(8)]
    for table, width, rows in (("t", len(NAMES), ROWS), ("typed", len(OWN), own)):
        places = sql.SQL(", ").join([sql.Placeholder()] * (width + 1))
        insert = sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(table), places)
        for number, row in enumerate(rows):
            world.master.execute(insert, [number, *row])
    world.update()
    found, read, real = {}, [], text_compare.compare

    def compared(jobs):
        outcomes = []
        for job in jobs:
            monkeypatch.setattr(
                text_compare, "compare", lambda *sides, job=job: read.append(job.view.layout.name.table) or real(*sides)
            )
            outcomes += compare_here([job])
            found[job.view.layout.name.table] = outcomes[-1]
        return outcomes

    assert world.verify(initial=True, compare=compared) == {"zurich": 0}
    assert {name: one.compared for name, one in found.items()} == {
        "t": len(ROWS), "typed": 8, "harmed": 3000, "heap": 100, "floats": 100, "pairs": 1000
    }  # fmt: skip
    assert read == ["floats"]

    database = world.infos["zurich"].database
    for key, (change, _) in CHANGED.items():
        maria_server.execute(f"UPDATE {database}.harmed SET {change} WHERE id = {key}")
    maria_server.execute(NOT_DIFFERENT.format(database))
    maria_server.execute(f"DELETE FROM {database}.harmed WHERE id IN (1, 3000)")
    maria_server.execute(f"UPDATE {database}.harmed SET id = id + 10000 WHERE id = 2")
    maria_server.execute(f"DELETE FROM {database}.heap LIMIT 1")
    maria_server.execute(f"UPDATE {database}.pairs SET a = 'a  ' WHERE a = 'a ' AND b < 2")
    # Longer than the text of a value that the server makes: it is not taken for NULL.
    maria_server.execute(f"UPDATE {database}.harmed SET raw = REPEAT('x', 70000) WHERE id = {LONG}")
    ((most,),) = maria_server.execute("SELECT @@GLOBAL.max_allowed_packet")
    try:
        maria_server.execute("SET GLOBAL max_allowed_packet = 131072")
        with suppress(RowsDiffer):
            world.verify(compare=compared)
    finally:
        maria_server.execute("SET GLOBAL max_allowed_packet = %s", most)
    rows = {(one.kind, one.key, " ".join(one.columns)) for one in found["harmed"].rows}
    names = list(found["harmed"].columns)
    assert rows == {
        ("missing", ("1",), ""), ("missing", ("3000",), ""), ("missing", ("2",), ""), ("extra", ("10002",), ""),
        ("changed", (str(LONG),), "raw"),
        *(("changed", (str(key),), " ".join(sorted(columns.split(), key=names.index)))
          for key, (_, columns) in CHANGED.items()),
    }  # fmt: skip
    assert found["harmed"].different == len(rows)
    assert found["harmed"].compared == 3001
    assert (found["heap"].missing, found["heap"].different) == (1, 1)
    assert (found["pairs"].missing, found["pairs"].extra, found["pairs"].different) == (4, 4, 8)
    assert [found[one].different for one in ("t", "typed", "floats")] == [0, 0, 0]
