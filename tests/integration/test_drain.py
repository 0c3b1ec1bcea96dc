"""Draining: the net effect reaches the slave, whatever the cuts, its own triggers and its crashes (R3, R4, R6)."""

from __future__ import annotations

import pytest
from support.memory import peak

from sluice.crash import CrashPoint
from sluice.drain import drain as draining
from sluice.drain import pipeline
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.store import replications
from sluice.vendors.postgresql import slave as slaves
from sluice.vendors.postgresql.write import writer

MEMORY = 400_000_000

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def stricter(build):
    """A slave with a unique key of its own; batches of one transaction; two rows that cannot both be there."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, u int)", ["public.t"], slave={"max_batch": 1})
    world.reader("zurich").execute("ALTER TABLE t ADD UNIQUE (u)")
    world.master.execute("INSERT INTO t VALUES (1, 1)")
    world.master.execute("INSERT INTO t VALUES (2, 1)")
    return world


@pytest.mark.parametrize("later", [False, True], ids=["in its segment", "in a later segment than are looked up"])
def test_a_key_that_a_later_transaction_frees_is_no_error(stricter, monkeypatch, later):
    if later:
        monkeypatch.setattr(draining, "_SEGMENTS", 1)
        stricter.publish()
    stricter.master.execute("DELETE FROM t WHERE id = 1")
    stricter.catch_up()
    assert stricter.differences() == {}
    assert stricter.rows("zurich", "public.t").total() == 1


def test_a_key_that_no_later_transaction_frees_stops_the_slave_where_it_is(stricter):
    stricter.master.execute("INSERT INTO t VALUES (3, 3)")
    stricter.publish()
    for _ in range(2):
        with pytest.raises(SluiceError, match=r"SLC-072: ") as caught:
            stricter.drain()
        assert "remove" in caught.value.hint
        assert stricter.position().ordinal == 1
        assert stricter.rows("zurich", "public.t").total() == 1
        assert "EXCEPTION" in replications.holds(stricter.context.store, stricter.pair("zurich"))


def test_an_overtaken_drain_does_not_take_the_slave_back(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    slave = world.context.slave(world.pair("zurich"))
    slave.take_over(7)
    for earlier in (6, 1):
        with pytest.raises(FencedError, match="SLC-050"):
            slave.take_over(earlier)
    slave.take_over(7)
    slave.close()


def one_to_one(world, *slaves, **more):
    """Let some slaves get each transaction by itself."""
    for entry in world.settings["replications"]:
        if entry["slave"] in slaves:
            entry.update(mode="one_to_one", **more)
    world.configure(lambda settings: None)


SHIFT = "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, v text, u int UNIQUE)"
FAMILY = (
    "CREATE TABLE parent (id int PRIMARY KEY, v text);"
    "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE)"
)
NO_KEY = "CREATE TABLE t (a int, b text, c float8)"
PARTED = (
    "CREATE TABLE t (id int, k int, v text, PRIMARY KEY (id, k)) PARTITION BY RANGE (k);"
    "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (100);"
    "CREATE TABLE high (v text, k int NOT NULL, gone int, id int NOT NULL); ALTER TABLE high DROP COLUMN gone;"
    "ALTER TABLE t ATTACH PARTITION high FOR VALUES FROM (100) TO (200)"
)
NAMES = {
    'public."Order.Lines"': '"Order.Lines"',
    "public.select": '"select"',
    'public."Größe ""x"""': '"Größe ""x"""',
    "public.with space": '"with space"',
}
ODDLY_NAMED = ";".join(
    f'CREATE TABLE {name} ("Key" int PRIMARY KEY, "order" text, "ä ""q"" %s {{}}" text)' for name in NAMES.values()
)

CASES = [
    pytest.param(
        SHIFT,
        ["public.t"],
        ["INSERT INTO t SELECT g, 'alike', g FROM generate_series(1, 5) AS g", "UPDATE t SET id = id + 1",
         "UPDATE t SET id = id - 1, v = v || id"],
        id="id = id + 1 on a deferrable key",
    ),
    pytest.param(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)",
        ["public.t"],
        ["INSERT INTO t SELECT generate_series(1, 5)", "UPDATE t SET id = id + 1", "UPDATE t SET id = 8 - id"],
        id="a table that is nothing but its key",
    ),
    pytest.param(
        "CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE)",
        ["public.t"],
        ["INSERT INTO t VALUES (1, 10), (2, 20)",
         "UPDATE t SET u = -1 WHERE id = 1; UPDATE t SET u = 10 WHERE id = 2; UPDATE t SET u = 20 WHERE id = 1"],
        id="unique values swapped",
    ),
    pytest.param(
        FAMILY,
        ["public.parent", "public.child"],
        ["INSERT INTO parent VALUES (1, 'a'), (2, 'b'); INSERT INTO child VALUES (1, 1), (2, 1), (3, 2)",
         "UPDATE parent SET v = 'c'; DELETE FROM parent WHERE id = 2; INSERT INTO parent VALUES (2, 'again')",
         "UPDATE parent SET id = 7 WHERE id = 1", "DELETE FROM parent WHERE id = 7"],
        id="a parent that changes, comes back, moves and goes with its children",
    ),
    pytest.param(
        NO_KEY,
        ["public.t"],
        ["INSERT INTO t SELECT 1, NULL, 'NaN' FROM generate_series(1, 5)",
         "INSERT INTO t VALUES (NULL, '', 0.1), (1, NULL, NULL)",
         "DELETE FROM t WHERE ctid IN (SELECT ctid FROM t WHERE c = 'NaN' LIMIT 2)",
         "UPDATE t SET b = 'x' WHERE a IS NULL", "INSERT INTO t SELECT * FROM t"],
        id="duplicate rows and nulls without a key",
    ),
    pytest.param(
        FAMILY,
        ["public.parent", "public.child"],
        ["INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 1)",
         "TRUNCATE parent CASCADE; INSERT INTO parent VALUES (1, 'after'), (3, 'c'); INSERT INTO child VALUES (9, 3)",
         "TRUNCATE child"],
        id="truncate",
    ),
    pytest.param(
        PARTED,
        ["public.t"],
        ["INSERT INTO t VALUES (1, 1, 'a'), (2, 150, 'b')",
         "INSERT INTO low VALUES (3, 3, 'c'); INSERT INTO high VALUES ('d', 103, 4)",
         "UPDATE t SET k = k + 100 WHERE k < 100", "DELETE FROM high WHERE id = 4", "UPDATE high SET v = v || '!'"],
        id="partitions, one with columns in another order",
    ),
    pytest.param(
        "CREATE TABLE t (id int, PRIMARY KEY (id) DEFERRABLE) PARTITION BY RANGE (id);"
        "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (5); CREATE TABLE high PARTITION OF t DEFAULT",
        ["public.t"],
        ["INSERT INTO t SELECT generate_series(1, 9)", "UPDATE t SET id = id + 1", "DELETE FROM t WHERE id = 5"],
        id="partitions with a deferrable key",
    ),
    pytest.param(
        ODDLY_NAMED,
        list(NAMES),
        [f"INSERT INTO {name} VALUES (1, 'a', 'b'), (2, '', NULL); UPDATE {name} SET \"order\" = 'x' WHERE \"Key\" = 1"
         for name in NAMES.values()],
        id="names with capitals, blanks, quotes, dots, reserved words",
    ),
    pytest.param(
        "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int, b int GENERATED ALWAYS AS (a) STORED)",
        ["public.t"],
        ["INSERT INTO t (a) VALUES (1), (2)", "UPDATE t SET a = 5 WHERE id = 1", "DELETE FROM t WHERE id = 2"],
        id="identity and generated columns",
    ),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.smoke
def test_slaves_equal_the_source_one_transaction_at_a_time_and_all_at_once(build):
    """Every slave catches up after each transaction, some changes of it at a time, with all in one batch, or with each
    replayed as it was. Each case has a schema of its own."""
    cases = {f"case{number}": case for number, case in enumerate(CASES)}
    made = [f"CREATE SCHEMA {schema}; SET search_path = {schema}; {case.values[0]}" for schema, case in cases.items()]
    tables = [one.replace("public.", f"{schema}.") for schema, case in cases.items() for one in case.values[1]]
    world = build(f"{';'.join(made)}; RESET search_path", tables, slaves=("zurich", "geneva", "basel"))
    world.settings["slaves"]["zurich"]["max_batch"] = 2
    one_to_one(world, "basel")
    for schema, case in cases.items():
        world.master.execute(f"SET search_path = {schema}")
        for statement in case.values[2]:
            world.master.execute(statement)
            world.publish()
            world.drain("zurich")
        world.catch_up()
        assert world.differences() == {}, case.id


@pytest.mark.smoke
def test_the_triggers_of_a_slave_do_not_fire_and_cascades_arrive_once(build):
    world = build(FAMILY, ["public.parent", "public.child"])
    slave = world.session("zurich")
    slave.execute(
        "CREATE TABLE fired (what text); CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO fired VALUES (TG_OP); RETURN NULL; END $$;"
        "CREATE TRIGGER fire AFTER INSERT OR UPDATE OR DELETE ON child FOR EACH ROW EXECUTE FUNCTION fire()"
    )
    world.master.execute("INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 1), (2, 1)")
    world.catch_up()
    world.master.execute("DELETE FROM parent")
    world.publish()
    assert [row["action"] for row in world.log()[-3:]] == ["D", "D", "D"]
    assert world.drain()["tolerated"] == 0
    assert world.differences() == {}
    assert slave.execute("SELECT * FROM fired").fetchall() == []


def test_the_result_does_not_depend_on_where_batches_are_cut_even_where_rows_were_not_as_expected(build):
    sizes = {"one": 1, "five": 5, "all": 1000, "each": 1000, "some": 1000}
    tables = ("parent", "child", "t", "shift", "loose")
    loose = "CREATE TABLE loose (id int PRIMARY KEY, v text)"
    world = build(f"{FAMILY}; {NO_KEY}; {SHIFT.replace(' t ', ' shift ')}; {loose}",
                  [f"public.{table}" for table in tables], slaves=sizes)  # fmt: skip
    for name, size in sizes.items():
        world.settings["slaves"][name]["max_batch"] = size
    one_to_one(world, "each")
    one_to_one(world, "some", max_collected_statements=4)
    world.master.execute("INSERT INTO parent SELECT g, 'p' FROM generate_series(1, 9) AS g")
    world.master.execute("INSERT INTO child SELECT g, 1 + g % 9 FROM generate_series(1, 20) AS g")
    world.master.execute("INSERT INTO t SELECT g % 3, 'x', NULL FROM generate_series(1, 9) AS g")
    world.master.execute("INSERT INTO shift SELECT g, 'alike', g FROM generate_series(1, 6) AS g")
    world.master.execute("INSERT INTO loose SELECT g, 'l' FROM generate_series(1, 9) AS g")
    world.catch_up()
    for name in sizes:
        world.session(name).execute(
            "DELETE FROM child WHERE id IN (3, 4, 5); INSERT INTO child VALUES (31, 1), (32, 1);"
            "UPDATE parent SET v = 'odd'; DELETE FROM t WHERE a = 1;"
            "INSERT INTO t VALUES (2, 'x', NULL); DELETE FROM shift WHERE id = 2;"
            "INSERT INTO shift VALUES (9, 'odd', 99);"
            "ALTER TABLE loose DROP CONSTRAINT loose_pkey; INSERT INTO loose SELECT * FROM loose WHERE id < 7;"
            "INSERT INTO loose VALUES (24, 'odd'), (25, 'odd'); DELETE FROM loose WHERE id = 8"
        )
    for number in range(9):
        world.master.execute(f"INSERT INTO child VALUES ({30 + number}, 1); DELETE FROM child WHERE id = {number}")
        world.master.execute(f"UPDATE parent SET v = v || {number} WHERE id = {1 + number % 5}")
        world.master.execute(f"UPDATE t SET b = 'y{number}' WHERE a = {number % 3}")
        world.master.execute("INSERT INTO t VALUES (1, 'x', NULL)")
        world.master.execute("UPDATE shift SET id = id + 1" if number % 2 else "UPDATE shift SET id = id - 1")
        world.master.execute(
            f"INSERT INTO loose VALUES ({20 + number}, 'l'); DELETE FROM loose WHERE id = {number - 6}"
        )
        world.master.execute(f"UPDATE loose SET v = v || {number}, id = id + 100 * (id / 4) WHERE id BETWEEN 3 AND 9")
    world.publish()
    tolerated = {name: world.drain(name)["tolerated"] for name in sizes}
    assert all(tolerated.values())
    for table in tables:
        first, *others = (world.rows(name, f"public.{table}") for name in sizes)
        assert all(other == first for other in others), table


def test_a_column_added_or_dropped_between_changes_is_read_under_the_columns_of_its_time(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, a text, b text)", ["public.t"])
    for statement in (
        "INSERT INTO t VALUES (1, 'a', 'b')",
        "ALTER TABLE t ADD c int DEFAULT 7",
        "INSERT INTO t VALUES (2, 'a', 'b', 3)",
        "ALTER TABLE t DROP COLUMN a",
        "INSERT INTO t VALUES (3, 'b', 4); UPDATE t SET b = 'x' WHERE id = 1",
    ):
        world.master.execute(statement)
    world.catch_up()
    assert world.differences() == {}


# R6 -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])


def test_a_drain_that_was_overtaken_cannot_commit(world, monkeypatch):
    """Wherever it hangs, and although it holds locks on the rows that the other one writes."""
    for number, point in enumerate((CrashPoint.GATED, CrashPoint.STAGED, CrashPoint.MERGED), 1):
        world.master.execute("INSERT INTO t VALUES (%s, 'a'), (-%s, 'b')", [number, number])
        world.publish()
        zombie = world.drainer()
        seen = []

        def reached(at, point=point, seen=seen):
            if at is point:
                monkeypatch.undo()
                seen.append(world.drainer().deliver().changes)

        for module in (draining, pipeline, writer, slaves):
            monkeypatch.setattr(module, "crash_if_asked", reached)
        with pytest.raises((FencedError, TransientError)):
            zombie.deliver()
        assert seen == [2], point
        world.catch_up()
        assert world.differences() == {}
        assert world.position().ordinal == number


def test_a_drain_started_twice_at_once_is_told_so(world):
    world.drainer()
    with pytest.raises(TransientError, match="SLC-051"):
        world.drain()


def test_a_failing_batch_stops_its_slave_alone_and_leaves_it_as_it_was(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], slaves=("zurich", "geneva"))
    world.session("zurich").execute("ALTER TABLE t ADD CHECK (v <> 'bad')")
    world.master.execute("INSERT INTO t VALUES (1, 'good'), (2, 'bad')")
    world.publish()
    with pytest.raises(SluiceError) as refused:
        world.drain("zurich")
    assert not isinstance(refused.value, TransientError)
    assert (world.position("zurich").ordinal, world.rows("zurich", "public.t").total()) == (0, 0)
    assert world.drain("geneva")["changes"] == 2
    world.session("zurich").execute("ALTER TABLE t DROP CONSTRAINT t_v_check")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_the_longest_and_strangest_names_are_data_wherever_they_go(build):
    schema, table = ((start + "x" * 60)[:60] for start in ('it\'s; "no" schema ', 'drop table "t"; -- {} %s '))
    quoted = ['"' + name.replace('"', '""') + '"' for name in (schema, table)]
    name = ".".join(quoted)
    ddl = f'CREATE SCHEMA {quoted[0]}; CREATE TABLE {name} ("the ""key""; " int PRIMARY KEY, v text)'
    world = build(ddl, [name])
    for statement in (
        f"INSERT INTO {name} SELECT g, 'v' FROM generate_series(1, 4) AS g",
        f'UPDATE {name} SET v = \'w\' WHERE "the ""key""; " < 3',
        f"DELETE FROM {name} WHERE v = 'v'",
    ):
        world.master.execute(statement.encode())
        world.catch_up()
    there = world.reader("zurich").execute(f"SELECT * FROM {name} ORDER BY 1".encode()).fetchall()
    assert there == [(1, "w"), (2, "w")]


@pytest.mark.full
def test_a_drain_holds_no_more_of_a_transaction_at_once_than_the_configuration_says(build):
    """130 MB, of which the old way held several copies."""
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], slave={"max_batch": 1000})
    world.master.execute("INSERT INTO t SELECT g, repeat(md5(g::text), 64) FROM generate_series(1, 64000) AS g")
    world.publish()
    with world.start("drain", "--slave", "zurich", "--once") as job:
        most = peak(job)
    assert (job.returncode, world.differences()) == (0, {})
    assert most < MEMORY
