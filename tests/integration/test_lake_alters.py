"""A slave of files follows what the master alters, as far as that says what each row has from there on (R3, R7)."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from support.world import SOURCE

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

TABLE = "public.t"
DDL = """
CREATE TABLE {t} (id int PRIMARY KEY, note varchar(20), small smallint, amount numeric(9,2), long numeric(20,10),
    at timestamp(3), day date, mood text);
INSERT INTO {t} SELECT g, 'note ' || g, g, g / 8.0, g / 1e10, '2024-01-01 12:00:00.5', '2024-01-01', 'glad'
    FROM generate_series(1, 300) AS g;
INSERT INTO {t} VALUES (301, E'a\\tb\\\\c', 1, 'NaN', 'NaN', 'infinity', '-infinity', '');
INSERT INTO {t} (id) VALUES (302);
"""
FIRST = "UPDATE {t} SET small = 1 WHERE small IS NULL; UPDATE {t} SET note = 'changed' WHERE id < 3"
CHANGES = """
UPDATE {t} SET {key} = {key} + 1000 WHERE {key} BETWEEN 10 AND 20;
DELETE FROM {t} WHERE {key} BETWEEN 30 AND 35;
INSERT INTO {t} ({key}, small) SELECT g, 0 FROM generate_series(500, 510) AS g;
"""
ALTERS = {
    "a column more": "ADD more int",
    "a constant": "ADD more numeric(6,2) NOT NULL DEFAULT 7.5, ADD said text DEFAULT E'a\\tb'",
    "a constant that is a text": "ADD more timestamptz DEFAULT '-infinity', ADD n numeric(5,1) DEFAULT 'NaN'",
    "a default that was computed once": "ADD more timestamptz DEFAULT now()",
    "a value for each row": "ADD more double precision DEFAULT random()",
    "columns less": "DROP note, DROP amount",
    "a column anew": "DROP mood, ADD mood text DEFAULT 'new'",
    "another name": "RENAME note TO said",
    "the key's name": "RENAME id TO key",
    "a longer text": "ALTER note TYPE varchar(30)",
    "a text": "ALTER note TYPE text",
    "more digits": "ALTER amount TYPE numeric(12,2), ALTER at TYPE timestamp",
    "wider integers": "ALTER id TYPE bigint, ALTER small TYPE int",
    "a computed column": "ADD twice int GENERATED ALWAYS AS (small * 2) STORED",
    "nothing of the rows": "ALTER note SET DEFAULT 'x', ALTER small SET NOT NULL, ADD CHECK (id > 0)",
}
# Columns of a history stand beside those of before, which Iceberg cannot have with these.
NO_HISTORY = {
    "any digits": "ALTER amount TYPE numeric, ALTER long TYPE numeric",
    "another scale": "ALTER amount TYPE numeric(12,3)",
    "other values": "ALTER note TYPE int USING length(note), ALTER day TYPE text",
}
SEVERAL = """
BEGIN;
UPDATE t SET note = 'before' WHERE id < 5;
ALTER TABLE t RENAME note TO x; ALTER TABLE t RENAME mood TO note; ALTER TABLE t RENAME x TO mood;
UPDATE t SET note = 'between' WHERE id BETWEEN 3 AND 8;
ALTER TABLE t ADD more text DEFAULT 'first';
DELETE FROM t WHERE id = 6;
ALTER TABLE t DROP more, ADD more text DEFAULT 'second';
INSERT INTO t (id) VALUES (600);
COMMIT;
UPDATE t SET more = 'behind' WHERE id = 7;
ALTER TABLE t ALTER id TYPE bigint;
UPDATE t SET mood = 'at last' WHERE id = 8;
"""


def of(text, table="t", key="id"):
    return text.format(t=table, key=key)


@pytest.fixture(params=["parquet", "iceberg"])
def there(lake, request):
    return lake(of(DDL), [TABLE], vendor=request.param)


def assert_same(there):
    """Besides what `verify` finds: each file has the columns that the master has now."""
    assert there.world.verify() == {"zurich": 0, "geneva": 0}
    for name, table in there.version("zurich")["tables"].items():
        columns = there.world.master.execute(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
            "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [name],
        )
        names = [*(column for (column,) in columns), "sluice_text"]
        paths = [there.path / "zurich" / SOURCE / file["path"] for file in table["files"]]
        assert [pq.read_schema(path).names for path in paths] == [names] * len(paths)


@pytest.mark.full
@pytest.mark.parametrize("vendor", ["parquet", "iceberg"])
def test_rows_and_histories_follow_what_the_master_alters(lake, vendor):
    alters = ALTERS | (NO_HISTORY if vendor == "parquet" else {})
    tables = {f"t{number}": alter for number, alter in enumerate(alters.values())}
    there = lake("".join(of(DDL, table) for table in tables), [f"public.{table}" for table in tables], vendor=vendor)
    world = there.world
    for table, alter in tables.items():
        world.master.execute(of(FIRST, table))
        for part in alter.split("; "):
            world.master.execute(f"ALTER TABLE {table} {part}")
    assert_same(there)
    for table, alter in tables.items():
        world.master.execute(of(CHANGES, table, "key" if "TO key" in alter else "id"))
    assert_same(there)


@pytest.mark.full
def test_a_history_of_iceberg_that_cannot_have_the_columns_stops_until_it_is_one_of_parquet(lake):
    tables = {f"t{number}": alter for number, alter in enumerate(NO_HISTORY.values())}
    ddl, names = "".join(of(DDL, table) for table in tables), [f"public.{table}" for table in tables]
    there = lake(ddl, names, vendor="iceberg")
    for table, alter in tables.items():
        there.world.master.execute(f"{of(FIRST, table)}; ALTER TABLE {table} {alter}")
    there.world.publish()
    with pytest.raises(SluiceError, match=r"SLC-432: Iceberg cannot keep public\.t"):
        there.world.drain("geneva")
    there.world.configure(lambda settings: settings["slaves"]["geneva"].update(vendor="parquet"))
    assert_same(there)


@pytest.mark.full
@pytest.mark.parametrize(("there", "size"), [("parquet", 100), ("iceberg", 50_000)], indirect=["there"])
def test_what_is_altered_again_and_again_is_followed_at_its_place(there, size):
    there.world.master.execute(SEVERAL)
    there.drain_by(size)
    assert_same(there)


@pytest.mark.full
def test_what_no_event_trigger_saw_is_followed_when_it_is_found(lake, weak):
    there = lake(of(DDL), [TABLE], elsewhere={"master": weak})
    world = there.world
    for alter in (
        "ALTER TABLE t ADD more int DEFAULT 5; INSERT INTO t (id, more) VALUES (400, 6)",
        "ALTER TABLE t RENAME note TO said; UPDATE t SET said = 'changed' WHERE id = 7",
        "ALTER TABLE t DROP mood",
        "ALTER TABLE t ADD drawn double precision DEFAULT random(); ALTER TABLE t ALTER at TYPE timestamp",
    ):
        world.master.execute("UPDATE t SET small = 7 WHERE id = 9")
        world.master.execute(alter)
        assert_same(there)
    row = next(row for row in there.read("zurich", TABLE) if row["id"] == 1)
    assert (row["more"], row["said"]) == (5, "note 1")


@pytest.mark.full
@pytest.mark.parametrize("there", ["parquet"], indirect=True)
def test_a_drain_that_is_killed_within_an_alter_repeats_it_and_does_nothing_twice(there):
    world = there.world
    world.master.execute(SEVERAL)
    world.publish()
    there.drain_in_spite_of_deaths("geneva")
    assert_same(there)


@pytest.mark.full
def test_what_a_slave_calls_otherwise_leaves_out_or_computes_is_altered_so(lake):
    there = lake(of(DDL), [TABLE], update=False)
    world = there.world
    seen = {"as": "main.things", "columns": {"note": "said", "more": "most"}, "exclude_columns": ["amount"]}
    seen |= {"compute": {"twice": "small * 2"}, "mask": {"mood": "null"}}
    world.configure(lambda settings: [settings["slaves"][slave].update(tables={TABLE: seen}) for slave in world.slaves])
    world.update()
    world.master.execute(
        "ALTER TABLE t ALTER amount TYPE numeric, DROP day, ADD more int DEFAULT 5, ALTER note TYPE text"
    )
    world.master.execute("ALTER TABLE t RENAME long TO length; UPDATE t SET more = 6 WHERE id = 3")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    row = next(row for row in there.read("zurich", "main.things") if row["id"] == 1)
    names = ["id", "said", "small", "length", "at", "mood", "most", "twice", "sluice_text"]
    assert (list(row), row["most"]) == (names, 5)
    world.master.execute("ALTER TABLE t RENAME mood TO temper")
    world.publish()
    for slave in world.slaves:
        with pytest.raises(SluiceError, match=r"SLC-153: main\.things .*: nobody knows .* its rows have in temper"):
            world.drain(slave)


INEXACT = {
    "numbers": ("a oid", "ALTER a TYPE int", "in a, oid -> integer"),
    "network": ("a cidr", "ALTER a TYPE inet", "in a, cidr -> inet"),
    "computed": ("a int GENERATED ALWAYS AS (id * 2) STORED", "ALTER a DROP EXPRESSION", "in a"),
}


@pytest.mark.full
def test_what_cannot_be_exact_stops_in_front_of_it_until_an_update(lake):
    ddl = "CREATE TABLE {0} (id int PRIMARY KEY, {1}); INSERT INTO {0} (id) VALUES (1);"
    tables = "".join(ddl.format(name, column) for name, (column, *_) in INEXACT.items())
    there = lake(tables, [f"public.{name}" for name in INEXACT])
    world = there.world
    for name, (_, alter, why) in INEXACT.items():
        world.master.execute(f"INSERT INTO {name} (id) VALUES (2)")
        world.master.execute(f"ALTER TABLE {name} {alter}")
        world.publish()
        for slave in world.slaves:
            with pytest.raises(SluiceError, match=rf"SLC-153: public\.{name} .*: nobody knows .* its rows have {why}"):
                world.drain(slave)
            rows = there.read(slave, f"public.{name}")
            assert [row["id"] for row in rows if row.get("sluice_action", "I") == "I"][-1] == 2
        world.update()
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}, name


@pytest.mark.full
def test_a_table_without_rows_takes_any_columns(lake):
    there = lake("CREATE TABLE t (id int PRIMARY KEY, a oid)", [TABLE])
    there.world.master.execute("ALTER TABLE t ALTER a TYPE int; INSERT INTO t VALUES (1, -1)")
    there.world.publish()
    there.world.drain("zurich")
    assert there.read("zurich", TABLE) == [{"id": 1, "a": -1, "sluice_text": None}]


@pytest.mark.full
def test_the_policy_of_the_replication_decides(lake):
    there = lake(of(DDL), [TABLE])
    world = there.world
    world.configure(lambda settings: [one.update(alters="stop") for one in settings["replications"]])
    world.master.execute("ALTER TABLE t ADD more int DEFAULT 5")
    world.publish()
    with pytest.raises(SluiceError, match="SLC-143"):
        world.drain("zurich")
    world.configure(lambda settings: [one.update(alters="ignore") for one in settings["replications"]])
    world.let_leases_expire()
    world.drain("zurich")
    assert "more" not in there.read("zurich", TABLE)[0]
    world.master.execute("INSERT INTO t (id) VALUES (1000)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-153: public\.t has other columns .*: more integer"):
        world.drain("zurich")
