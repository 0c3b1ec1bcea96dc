"""A slave of Iceberg tables: what their readers find is what its versions list, and so what the master has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from pyiceberg.table import StaticTable
from support.lake import CHANGES, TABLES
from support.world import SOURCE

from sluice.crash import CrashPoint
from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]


def opened(there, slave, table):
    return StaticTable.from_metadata(str(there.path / slave / SOURCE / "iceberg" / table.replace(".", "/")))


def said(value):
    """A row without what is NULL in it: a file of earlier does not have columns of later."""
    if isinstance(value, dict):
        return str({name: said(part) for name, part in sorted(value.items()) if part is not None})
    return str(value)


def read(there, slave, table, **scan):
    return Counter(map(said, opened(there, slave, table).scan(**scan).to_arrow().to_pylist()))


def listed(there, slave, table):
    """What the version that is current says; the same as the master, as `verify` finds."""
    return Counter(map(said, there.read(slave, table)))


def assert_equal(there):
    assert there.world.verify() == {"zurich": 0, "geneva": 0}
    for slave in there.world.slaves:
        for table in TABLES:
            assert read(there, slave, table) == listed(there, slave, table), (slave, table)


@pytest.mark.full
def test_readers_find_what_the_master_has_and_what_it_had(lake):
    there = lake(vendor="iceberg")
    world = there.world
    before = read(there, "zurich", "public.heap")
    assert sum(before.values()) == 100
    assert_equal(there)
    world.master.execute(CHANGES)
    assert_equal(there)
    heap = Counter((row["a"], row["b"]) for row in opened(there, "zurich", "public.heap").scan().to_arrow().to_pylist())
    assert heap == Counter(world.master.execute("SELECT a, b FROM heap").fetchall())
    assert sum(read(there, "zurich", "public.keyed", row_filter="id = 7").values()) == 1, "files are left out rightly"
    world.master.execute("TRUNCATE heap")
    assert_equal(there)
    snapshots = opened(there, "zurich", "public.heap").snapshots()
    assert read(there, "zurich", "public.heap", snapshot_id=snapshots[0].snapshot_id) == before
    world.master.execute("ALTER TABLE keyed DROP note, ADD more bigint; INSERT INTO heap VALUES (1, 'new')")
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert_equal(there)


@pytest.mark.full
def test_what_a_killed_drain_did_not_tell_is_told_by_the_next(lake):
    there = lake(vendor="iceberg")
    world = there.world
    world.master.execute(CHANGES)
    world.publish()
    before = read(there, "zurich", "public.heap")
    there.kill_drain("zurich", CrashPoint.COMMITTED)
    assert read(there, "zurich", "public.heap") == before != listed(there, "zurich", "public.heap")
    assert world.drain("zurich")["changes"] == 0
    assert_equal(there)
    assert len(opened(there, "zurich", "public.heap").snapshots()) > 1
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"path": str(there.path), "keep_hours": 0})
    world.configure(lambda _: None)
    world.let_leases_expire()
    world.drain("zurich")
    assert len(opened(there, "zurich", "public.heap").snapshots()) == 1, "others have lost their files"
    for table in TABLES:
        assert read(there, "zurich", table) == listed(there, "zurich", table)


@pytest.mark.full
def test_a_history_takes_new_columns_and_wider_types_and_refuses_others(lake):
    there = lake(
        "CREATE TABLE keyed (id int PRIMARY KEY, note text); INSERT INTO keyed VALUES (1, 'a')",
        TABLES[:1],
        vendor="iceberg",
    )
    world = there.world
    world.master.execute("ALTER TABLE keyed ADD more int; UPDATE keyed SET more = 5")
    world.master.execute("ALTER TABLE keyed ALTER id TYPE bigint, DROP note; INSERT INTO keyed VALUES (5000000000, 6)")
    world.publish()
    world.drain("geneva")
    found = opened(there, "geneva", "public.keyed").scan().to_arrow()
    assert sorted(zip(*(found[name].to_pylist() for name in ("id", "note", "more")), strict=True), key=str) == [
        (1, "a", 5),
        (1, "a", None),
        (1, None, 5),
        (5000000000, None, 6),
        *[(None, None, None)] * 2,
    ], "a TRUNCATE stands before the rows of an update, and of an ALTER that computed them anew"
    before = there.version("geneva")
    world.master.execute("ALTER TABLE keyed ALTER more TYPE text; INSERT INTO keyed VALUES (7, 'x')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-432: Iceberg cannot keep public\.keyed .*more: int -> string"):
        world.drain("geneva")
    assert there.version("geneva")["tables"] == before["tables"]


@pytest.mark.full
def test_a_table_follows_columns_by_their_numbers_and_older_snapshots_have_those_of_their_time(lake):
    """Also where who committed a version died before Iceberg was told; until a name comes to mean another column."""
    there = lake(
        "CREATE TABLE keyed (id int PRIMARY KEY, note text, n int, gone int); INSERT INTO keyed VALUES (1, 'a', 2, 3)",
        TABLES[:1],
        vendor="iceberg",
    )
    world = there.world
    table = opened(there, "zurich", "public.keyed")
    numbers, first = {field.name: field.field_id for field in table.schema().fields}, table.current_snapshot()
    world.master.execute("ALTER TABLE keyed RENAME note TO said; ALTER TABLE keyed DROP gone, ADD more int DEFAULT 5")
    world.master.execute("ALTER TABLE keyed ALTER n TYPE bigint; ALTER TABLE keyed RENAME said TO told")
    world.publish()
    there.kill_drain("zurich", CrashPoint.COMMITTED)
    world.drain("zurich")
    world.master.execute("INSERT INTO keyed VALUES (2, 'b', 5000000000, 6)")
    assert world.verify() == {"zurich": 0, "geneva": 0}
    found = opened(there, "zurich", "public.keyed")
    fields = {field.name: (field.field_id, str(field.field_type)) for field in found.schema().fields}
    assert {name: fields[name] for name in ("id", "told", "n")} == {
        "id": (numbers["id"], "int"),
        "told": (numbers["note"], "string"),
        "n": (numbers["n"], "long"),
    }
    assert fields["more"][0] not in numbers.values()
    rows = found.scan(row_filter="told >= 'a'").to_arrow().sort_by("id").to_pylist()
    assert [tuple(row[name] for name in ("id", "told", "n", "more")) for row in rows] == [
        (1, "a", 2, 5),
        (2, "b", 5000000000, 6),
    ]
    (row,) = found.scan(snapshot_id=first.snapshot_id).to_arrow().to_pylist()
    assert row == {"id": 1, "note": "a", "n": 2, "gone": 3, "sluice_text": None}
    world.master.execute("ALTER TABLE keyed ADD note text DEFAULT 'new'")
    assert world.verify() == {"zurich": 0, "geneva": 0}
    anew = opened(there, "zurich", "public.keyed")
    assert anew.scan(selected_fields=("note",)).to_arrow().to_pylist() == [{"note": "new"}] * 2
    assert first.snapshot_id not in [one.snapshot_id for one in anew.snapshots()]
