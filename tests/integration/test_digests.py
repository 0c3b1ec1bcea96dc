"""Databases of two kinds compute the same digests of rows, and only rows of buckets that differ are read (R10)."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest
from psycopg import sql
from support.logical import DDL as EVERY
from support.logical import NAMES, ROWS, VALUES, made_on_maria
from support.mariadb import SERVERS
from support.updating import compare_here
from test_mariadb_types import UNFIT

from sluice.errors import RowsDiffer, SluiceError
from sluice.model.names import TableName
from sluice.vendors import text_compare
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.catalog.master_tables import described
from sluice.vendors.mariadb.read.master_digests import digests
from sluice.vendors.mariadb.session import connect
from sluice.vendors.postgresql.read import compare as postgresql_compare
from sluice.vendors.protocol.digests import Digested
from sluice.verify.ranges import parse

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


# What compares rows that are read.
READING = [(text_compare, "compare"), (postgresql_compare, "_compare_texts")]


def watched(monkeypatch):
    """What is found of each table, the tables of which rows are read, and a way to compare that says so."""
    found, read = {}, []
    ways = [(module, name, getattr(module, name)) for module, name in READING]

    def compared(jobs):
        outcomes = []
        for job in jobs:
            name = job.view.layout.name.table
            for module, way, real in ways:
                monkeypatch.setattr(module, way, lambda *of, name=name, real=real: read.append(name) or real(*of))
            outcomes += compare_here([job])
            found[name] = outcomes[-1]
        return outcomes

    return found, read, compared


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_both_sides_digest_every_type_alike_and_what_differs_is_found_exactly(maria, slave_server, monkeypatch):
    typed = f"CREATE TABLE typed (id int PRIMARY KEY, {TYPED})"
    tables = ["t", "typed", "harmed", "heap", "floats", "pairs"]
    world = maria(
        f"{EVERY}; {typed}; {PLAIN}",
        [f"public.{one}" for one in tables],
        before=made_on_maria(slave_server.kind),
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
    found, read, compared = watched(monkeypatch)
    assert world.verify(initial=True, compare=compared) == {"zurich": 0}
    assert {name: one.compared for name, one in found.items()} == {
        "t": len(ROWS), "typed": 8, "harmed": 3000, "heap": 100, "floats": 100, "pairs": 1000
    }  # fmt: skip
    assert read == ["floats"]

    database = world.infos["zurich"].database
    for key, (change, _) in CHANGED.items():
        slave_server.execute(f"UPDATE {database}.harmed SET {change} WHERE id = {key}")
    slave_server.execute(NOT_DIFFERENT.format(database))
    slave_server.execute(f"DELETE FROM {database}.harmed WHERE id IN (1, 3000)")
    slave_server.execute(f"UPDATE {database}.harmed SET id = id + 10000 WHERE id = 2")
    slave_server.execute(f"DELETE FROM {database}.heap LIMIT 1")
    slave_server.execute(f"UPDATE {database}.pairs SET a = 'a  ' WHERE a = 'a ' AND b < 2")
    # Longer than the text of a value that the server makes: it is not taken for NULL.
    slave_server.execute(f"UPDATE {database}.harmed SET raw = REPEAT('x', 70000) WHERE id = {LONG}")
    with slave_server.most_allowed(131072), suppress(RowsDiffer):
        world.verify(compare=compared)
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
    for text, rows, differ in (
        ("public.harmed: 1 .. 5", 5, {"1", "2", "3", "4", "5"}),
        ("public.harmed: 10000 ..", 1, {"10002"}),
        ("public.harmed: 30 .. 99", 70, set()),
    ):
        with suppress(RowsDiffer):
            world.verify(compare=compared, ranges=parse([text]))
        assert (found["harmed"].compared, {one.key[0] for one in found["harmed"].rows}) == (rows, differ), text
    for text, why in (("public.heap: 1 ..", "have no key"), ("public.pairs: a .. b", "whole numbers and days")):
        with pytest.raises(SluiceError, match=f"SLC-622: .*{why}"):
            world.verify(compare=compared, ranges=parse([text]))


OF_MARIA = """
CREATE TABLE typed (id bigint unsigned PRIMARY KEY, tiny tinyint, filled int(6) zerofill, amount decimal(12,4),
    old varchar(20) CHARACTER SET latin1, fixed char(5), long_one longtext, kind enum('a','ä,'), some set('x','y'),
    raw varbinary(20), image blob, day date, at datetime, finer datetime(3), stamp timestamp(6) NULL, clock time(2),
    made year, code uuid, Bucket int DEFAULT 1);
INSERT INTO typed VALUES
    (18446744073709551615, -128, 42, -0.5, 'äé ', 'ab', 'a,\\b😀', 'ä,', 'x,y', x'00ff', '', '2024-02-29',
        '2024-01-01 10:00:00', '2024-01-01 10:00:00.120', '2024-01-01 10:00:00.5', '-838:59:59.5', 2024, UUID(), 1),
    (0, NULL, NULL, NULL, '', '', '', NULL, '', '', NULL, '0001-01-01',
        '2024-01-01 10:20:30', NULL, NULL, '00:00:10', NULL, NULL, 1);
INSERT INTO typed (id, tiny, old) SELECT seq, seq % 100, CONCAT('note ', seq) FROM seq_1_to_3000;
CREATE TABLE floats (id int PRIMARY KEY, a double, b bit(3));
INSERT INTO floats VALUES (1, 0.1, b'101')
"""


@pytest.mark.full
@pytest.mark.parametrize("into", ["mariadb", "postgresql"])
def test_a_master_on_mariadb_is_digested_as_it_was_at_a_place_of_its_log(binlog, maria_server, monkeypatch, into):
    world, master = binlog(OF_MARIA, ["typed", "floats"], into=into, slaves=("zurich",))
    found, read, compared = watched(monkeypatch)
    assert world.verify(compare=compared) == {"zurich": 0}
    assert (read, found["typed"].compared) == (["floats"], 3002)

    name, info = TableName(master.name, "typed"), world.infos["master"]
    with closing(connect(info, "test")) as session:
        place = str(end_of_log(session))
        columns = [one.name for one in described(session, name).columns]
    sides = []
    for change in (
        "UPDATE typed SET tiny = 0, old = NULL, amount = id / 8 WHERE id BETWEEN 0 AND 200",
        "DELETE FROM typed WHERE id BETWEEN 1000 AND 2000",
        "",
    ):
        with digests(info, place, (), name, columns) as side:
            how = Digested("00ab", (0,), tuple(side.plain))
            sums = side.sums(how)[0]
            rows = [
                row for piece in side.rows(how, sums) for row in zip(*(one.to_pylist() for one in piece), strict=True)
            ]
            sides.append((sums, sorted(rows, key=str)))
        if change:
            master.execute(change)
    assert sides[0] == sides[1] == sides[2]
    assert len(sides[0][1]) == 3002

    master.execute("UPDATE typed SET image = REPEAT('x', 60000), long_one = REPEAT('y', 30000) WHERE id = 8")
    world.publish()
    world.drain()
    if into == "mariadb":
        harm, schema = maria_server.execute, world.infos["zurich"].database
    else:
        harm, schema = world.session("zurich").execute, "public"
    harm(f"UPDATE {schema}.typed SET old = 'äé' WHERE id > 4000")
    harm(f"UPDATE {schema}.typed SET clock = '00:00:01' WHERE id = 0")
    harm(f"DELETE FROM {schema}.typed WHERE id = 7")
    # Too long for a server to hash, on both sides if both are of this kind.
    harm(f"UPDATE {schema}.typed SET long_one = CONCAT('z', SUBSTR(long_one, 2)) WHERE id = 8")
    with maria_server.most_allowed(131072), suppress(RowsDiffer):
        world.verify(compare=compared)
    assert {(one.kind, *one.key, *one.columns) for one in found["typed"].rows} == {
        ("changed", "18446744073709551615", "old"),
        ("changed", "0", "clock"),
        ("changed", "8", "long_one"),
        ("missing", "7"),
    }
    # Of some keys: bounds are numbers, and not texts.
    table = f"{master.name}.typed"
    for text, rows, differ in (
        (f"{table}: 7 .. 10", 4, {"7", "8"}),
        (f"{table}: 9 .. 4001", 1991, set()),
        (f"{table}: .. +0", 1, {"0"}),
        (f"{table}: 4001 .. 99999999999999999999", 1, {"18446744073709551615"}),
        (f"{table}: 99999999999999999999 ..", 0, set()),
    ):
        with suppress(RowsDiffer):
            world.verify(compare=compared, ranges=parse([text]))
        assert (found["typed"].compared, {one.key[0] for one in found["typed"].rows}) == (rows, differ), text
    for text, code in ((f"{table}: 1.5 ..", 640), (f"{table}: 2 .. 1", 640), (f"{table}: 1, 2 ..", 640)):
        with pytest.raises(SluiceError, match=f"SLC-{code:03d}: no keys of"):
            world.verify(compare=compared, ranges=parse([text]))
