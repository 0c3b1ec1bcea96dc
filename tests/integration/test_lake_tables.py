"""A slave of files follows tables that the master makes, renames and drops, at their place in the stream (R3, R7)."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace

import pytest
from pyiceberg.table import StaticTable
from support.lake import TWO
from support.world import SOURCE

from sluice.crash import CrashPoint

pytestmark = [pytest.mark.postgres]

CHANGES = {
    "a table that is filled where it is made": """
        BEGIN; CREATE TABLE made AS SELECT id, v || '!' AS v FROM t; ALTER TABLE made ADD PRIMARY KEY (id);
        UPDATE made SET v = 'kept' WHERE id = 1; DELETE FROM made WHERE id = 2; COMMIT;
        INSERT INTO made VALUES (99, 'x');
        CREATE TABLE heap (a int, b text); INSERT INTO heap VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
        CREATE TABLE empty (id int PRIMARY KEY, v text); DROP TABLE u
    """,
    "one that is gone at once": """
        BEGIN; CREATE TABLE made (id int); INSERT INTO made VALUES (1); DROP TABLE made; INSERT INTO t VALUES (21);
        COMMIT; CREATE TABLE made (id int); INSERT INTO made VALUES (1); DROP TABLE made
    """,
    "one that is made anew with other columns": """
        UPDATE t SET v = 'before'; DROP TABLE t; CREATE TABLE t (k date PRIMARY KEY, w int, v int);
        INSERT INTO t VALUES ('2024-01-01', 1, 2);
        BEGIN; DROP TABLE t; CREATE TABLE t (id int, v text, x int); INSERT INTO t VALUES (7, 'seven'); COMMIT
    """,
    "a name": """
        UPDATE t SET v = 'before' WHERE id < 3; ALTER TABLE t RENAME TO w; UPDATE w SET v = 'after' WHERE id IN (2, 4);
        DELETE FROM w WHERE id = 5; INSERT INTO w VALUES (50, 'new');
        BEGIN; UPDATE w SET v = 'w'; ALTER TABLE w RENAME TO x; DELETE FROM x WHERE id = 6; COMMIT
    """,
    "names that change places, and columns": """
        BEGIN; ALTER TABLE t RENAME TO x; ALTER TABLE u RENAME TO t; ALTER TABLE x RENAME TO u;
        INSERT INTO t VALUES (87, 1); INSERT INTO u VALUES (87, 'x'); COMMIT;
        DELETE FROM u WHERE id = 3; DELETE FROM t WHERE id = 4;
        ALTER TABLE u ADD more int DEFAULT 5, DROP v; ALTER TABLE t RENAME n TO number;
        UPDATE u SET more = 6 WHERE id = 1; INSERT INTO t VALUES (88, 1)
    """,
    "the name of one that is gone": """
        ALTER TABLE u RENAME TO old; ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (77, 'x'); DROP TABLE old;
        CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT * FROM u WHERE id < 4
    """,
    "another schema": """
        CREATE SCHEMA other; ALTER TABLE t SET SCHEMA other; UPDATE other.t SET v = 'there' WHERE id = 2;
        CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)
    """,
    "parts that come and go": """
        CREATE TABLE parted (id int, k int) PARTITION BY LIST (k); CREATE TABLE part (id int, k int);
        INSERT INTO part VALUES (1, 1), (2, 1); ALTER TABLE parted ATTACH PARTITION part FOR VALUES IN (1);
        UPDATE part SET id = 3 WHERE id = 1; CREATE TABLE more PARTITION OF parted FOR VALUES IN (2);
        INSERT INTO parted VALUES (5, 2), (6, 1); ALTER TABLE parted DETACH PARTITION part;
        INSERT INTO part VALUES (7, 1); DROP TABLE more; ALTER TABLE parted RENAME TO whole
    """,
}


@pytest.fixture(params=["parquet", "iceberg"])
def there(lake, request):
    return lake(TWO, ["public.*", "other.*"], vendor=request.param)


# Of one catalog of Iceberg: tables that come, are renamed and are replaced.
ICEBERG = ["a table that is filled where it is made", "names that change places, and columns"]
ICEBERG += ["the name of one that is gone", "one that is made anew with other columns"]
PARQUET = pytest.mark.parametrize("there", ["parquet"], indirect=True)


@pytest.mark.full
@pytest.mark.parametrize(
    ("there", "size", "change"),
    [*(("parquet", 50_000, change) for change in CHANGES), *(("iceberg", 1, change) for change in ICEBERG)],
    indirect=["there"],
)
def test_tables_come_go_and_are_renamed_as_on_the_master(there, change, size):
    for statement in CHANGES[change].split(";"):
        there.world.master.execute(statement)
    there.drain_by(size)
    there.assert_same()


@pytest.mark.full
@PARQUET
def test_a_table_that_is_made_by_a_large_transaction_comes_in_parts(there):
    there.world.master.execute(
        """
        BEGIN; CREATE TABLE made (id int PRIMARY KEY, v text);
        INSERT INTO made SELECT g, 'x' FROM generate_series(1, 20000) AS g; ALTER TABLE made RENAME TO large;
        UPDATE large SET v = 'y' WHERE id % 2 = 0; DROP TABLE t;
        ALTER TABLE large RENAME TO t; DELETE FROM t WHERE id < 9; COMMIT
        """
    )
    there.assert_same()


@pytest.mark.full
@PARQUET
def test_where_each_transaction_is_a_commit_of_its_own_it_comes_to_the_same(there):
    world = there.world
    world.configure(lambda settings: [one.update(mode="one_to_one") for one in settings["replications"]])
    for statement in CHANGES["the name of one that is gone"].split(";"):
        world.master.execute(statement)
    there.assert_same()


@pytest.mark.full
@pytest.mark.parametrize("there", ["iceberg"], indirect=True)
@pytest.mark.parametrize("slave", ["zurich", "geneva"])
def test_a_drain_that_is_killed_repeats_it_and_does_nothing_twice(there, slave):
    world = there.world
    world.master.execute(CHANGES["the name of one that is gone"])
    world.publish()
    points = [CrashPoint.STAGED, CrashPoint.MERGED, CrashPoint.COMMITTED, CrashPoint.DELIVERED]
    committed = CrashPoint.COMMITTED
    for point in points:
        before = there.version(slave)
        killed = world.job("drain", "--slave", slave, "--once", crash_at=point)
        if killed.returncode == 0:
            assert point is not committed, "it was delivered before"
            continue
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        after = there.version(slave)
        there_is = (after["position"], after["tables"]) != (before["position"], before["tables"])
        assert there_is == (point is committed)
        world.let_leases_expire()
    assert world.drain(slave)["changes"] == 0
    there.assert_same()


@pytest.mark.full
@PARQUET
def test_of_a_dropped_table_rows_go_when_their_time_is_over_and_what_happened_stays(there):
    world = there.world
    world.master.execute("UPDATE t SET v = 'x' WHERE id = 1")
    world.master.execute("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (5); DROP TABLE u")
    there.assert_same()
    left = [name for name in there.version("geneva")["tables"] if name.startswith("public.t~dropped-")]
    assert len(left) == 1
    told = Counter(row["sluice_action"] for row in there.read("geneva", left[0]))
    assert told == {"T": 1, "L": 20, "U": 1}
    assert Counter(row["sluice_action"] for row in there.read("geneva", "public.t")) == {"I": 1}
    root = there.path / "zurich" / SOURCE
    assert len(list(root.rglob("data/public.u/*.parquet"))) == 1, "others may still read it"
    for slave in world.slaves:
        world.infos[slave] = replace(world.infos[slave], extra={"path": str(there.path), "keep_hours": 0})
    world.configure(lambda _: None)
    world.let_leases_expire()
    for slave in world.slaves:
        world.drain(slave)
        here = set((there.path / slave / SOURCE).rglob("data/*/*.parquet"))
        assert here == there.kept(slave)
    assert sum(row["sluice_action"] == "L" for row in there.read("geneva", left[0])) == 20


@pytest.mark.full
@pytest.mark.parametrize("there", ["iceberg"], indirect=True)
def test_readers_of_iceberg_find_the_tables_that_there_are_under_their_names(there):
    world = there.world
    home = there.path / "zurich" / SOURCE / "iceberg" / "public"

    def opened(table):
        return StaticTable.from_metadata(str(home / table))

    was = opened("t")
    world.master.execute("UPDATE t SET v = 'x' WHERE id = 1; ALTER TABLE t RENAME TO w; DROP TABLE u")
    world.master.execute("CREATE TABLE u (id int); INSERT INTO u VALUES (1), (2)")
    there.assert_same()
    assert [len(opened(table).scan().to_arrow()) for table in ("w", "u")] == [20, 2]
    with pytest.raises(FileNotFoundError):
        opened("t")
    assert len(was.scan().to_arrow()) == 20, "who has found it reads on"
    kept = next(path.name for path in (there.path / "geneva" / SOURCE / "iceberg" / "public").glob("u~dropped-*"))
    history = StaticTable.from_metadata(str(there.path / "geneva" / SOURCE / "iceberg" / "public" / kept))
    assert len(history.scan().to_arrow()) == 31
    world.master.execute("DROP TABLE w")
    world.publish()
    killed = world.job("drain", "--slave", "zurich", "--once", crash_at=CrashPoint.COMMITTED)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(opened("w").scan().to_arrow()) == 20
    (home / "mine" / "metadata").mkdir(parents=True)
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"path": str(there.path), "keep_hours": 0})
    world.configure(lambda _: None)
    for _ in range(2):
        world.let_leases_expire()
        world.drain("zurich")
    assert sorted(path.name for path in home.iterdir()) == ["mine", "u"]
