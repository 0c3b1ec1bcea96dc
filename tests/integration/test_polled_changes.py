"""What a look at the catalog tells of DDL that nobody saw, what it must not guess (R7), whom it keeps waiting (R9)."""

from __future__ import annotations

import pytest
from support.issuing import everywhere, execute, standings
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.capture.queue.capture import QueueCapture

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL)"
PARTED = """
CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10);
CREATE TABLE high PARTITION OF t FOR VALUES FROM (10) TO (20);
"""
# Of parts that have parts.
DEEP = """
CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10);
CREATE TABLE high PARTITION OF t FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE higher PARTITION OF high DEFAULT;
"""


@pytest.fixture
def polled(build, weak):
    """Makes worlds whose master may create no event trigger."""
    return lambda ddl, tables: build(ddl, tables, elsewhere={"master": weak})


@pytest.mark.full
@pytest.mark.parametrize(
    "ddl",
    [
        "ALTER TABLE t ADD a text; INSERT INTO t VALUES (1, 'v', 'a'); ALTER TABLE t ADD b text, DROP v",
        "ALTER TABLE t DROP v; ALTER TABLE t ADD a text; INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD b text",
    ],
    ids=["before one of two goes", "after one goes and before two have come"],
)
def test_an_image_that_is_as_long_as_another_is_not_taken_for_it(polled, ddl):
    world = polled(PLAIN, ["public.t"])
    world.master.execute(ddl)
    world.publish()
    assert (world.log(), world.left_out()) == ([], {"public.t"})


ANOTHER_KEY = {
    "others": "ALTER TABLE {0} DROP CONSTRAINT {0}_pkey; INSERT INTO {0} VALUES (1, 'c');"
    "ALTER TABLE {0} ADD PRIMARY KEY (v)",
    "none": "ALTER TABLE {0} DROP CONSTRAINT {0}_pkey; INSERT INTO {0} VALUES (1, 'a'), (1, 'c')",
    "later": "ALTER TABLE {0} DROP CONSTRAINT {0}_pkey, ADD PRIMARY KEY (id) DEFERRABLE; UPDATE {0} SET id = id + 1",
}


def test_rows_that_an_unseen_key_tells_apart_are_all_there(polled):
    tables = [PLAIN.replace(" t ", f" {name} ") for name in ANOTHER_KEY]
    world = polled("; ".join(tables), [f"public.{name}" for name in ANOTHER_KEY])
    for name in ANOTHER_KEY:
        world.master.execute(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    world.catch_up()
    for name, ddl in ANOTHER_KEY.items():
        world.master.execute(ddl.format(name))
    world.catch_up()
    assert world.differences() == {}


COMPUTED = {
    "identity": "ALTER TABLE t ADD n int GENERATED ALWAYS AS IDENTITY",
    "default": "ALTER TABLE t ADD n uuid NOT NULL DEFAULT gen_random_uuid(); ALTER TABLE t ALTER n DROP DEFAULT",
}


@pytest.mark.parametrize("ddl", COMPUTED.values(), ids=COMPUTED)
def test_values_that_came_with_a_column_arrive(polled, ddl):
    world = polled(f"{PLAIN}; CREATE INDEX falling ON t (id DESC)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    world.catch_up()
    world.master.execute("CLUSTER t USING falling")
    world.master.execute(ddl)
    world.catch_up()
    assert world.differences() == {}


TAKEN = {
    "dropped": ("DROP TABLE {2}; ALTER TABLE {1} RENAME TO {2}; ALTER TABLE {0} RENAME TO {1}", "{1}{2}"),
    "renamed": ("ALTER TABLE {2} RENAME TO d; ALTER TABLE {1} RENAME TO {2}; ALTER TABLE {0} RENAME TO {1}", "{1}{2}d"),
}


@pytest.mark.full
@pytest.mark.parametrize(("names", "ddl", "left"), [("abc", *TAKEN["renamed"]), ("cba", *TAKEN["dropped"])])
def test_who_takes_a_name_comes_after_who_bore_it(polled, ddl, left, names):
    world = polled("; ".join(f"CREATE TABLE {name} (id int PRIMARY KEY)" for name in names), {"public.*": {}})
    world.master.execute("INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); INSERT INTO c VALUES (3)")
    world.catch_up()
    world.master.execute(ddl.format(*names))
    world.master.execute("INSERT INTO b VALUES (4)")
    world.catch_up()
    for name in left.format(*names):
        assert world.rows("zurich", f"public.{name}") == world.rows("master", f"public.{name}")


RELATED = """
CREATE TABLE parent (id int PRIMARY KEY, n int);
CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
INSERT INTO parent VALUES (1, 1); INSERT INTO child VALUES (1, 1);
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("ddl", "left"),
    [
        ("DROP TABLE parent, child", []),
        ("DROP TABLE parent CASCADE", ["child"]),
        (
            "ALTER TABLE parent ADD UNIQUE (n); ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES parent (n)",
            ["parent", "child"],
        ),
    ],
)
def test_tables_that_refer_to_others_are_told_of_in_an_order_that_slaves_can_follow(polled, ddl, left):
    world = polled(RELATED, ["public.child", "public.parent"])
    world.master.execute(ddl)
    world.catch_up()
    tables = "SELECT relname FROM pg_class WHERE relname IN ('parent', 'child') ORDER BY 1 DESC"
    assert [name for (name,) in world.reader("zurich").execute(tables)] == left


@pytest.mark.full
def test_a_partition_that_somebody_reads_after_it_was_detached_holds_up_nobody(polled):
    """As who archives it does, for hours."""
    world = polled(PARTED, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (11, 'b')")
    world.catch_up()
    world.master.execute("ALTER TABLE t DETACH PARTITION low")
    reader = world.session()
    reader.execute("SET idle_in_transaction_session_timeout = '20s'")
    with reader.transaction():
        reader.execute("SELECT FROM low")
        world.catch_up()
        assert world.differences() == {}
        reader.execute("SELECT FROM low")
    world.master.execute("TRUNCATE low; INSERT INTO low VALUES (2, 'c')")
    world.master.execute("ALTER TABLE t ATTACH PARTITION low FOR VALUES FROM (0) TO (10); TRUNCATE low")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_partition_may_be_altered_after_it_was_detached(polled):
    world = polled(PARTED, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (11, 'b')")
    world.catch_up()
    world.master.execute("ALTER TABLE t DETACH PARTITION low; ALTER TABLE low ADD n int")
    world.catch_up()
    assert world.differences() == {}


def test_a_table_that_somebody_reads_while_it_becomes_a_partition_keeps_no_writer_waiting(polled):
    world = polled(f"{PARTED}; CREATE TABLE p (id int NOT NULL, v text)", ["public.t", "public.p"])
    world.master.execute("INSERT INTO p VALUES (21, 'p')")
    world.master.execute("ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (20) TO (30)")
    reader = world.session()
    reader.execute("SET idle_in_transaction_session_timeout = '20s'")
    with reader.transaction():
        reader.execute("SELECT FROM p")
        with pytest.raises(TransientError, match="SLC-036"):
            world.publish()
        reader.execute("INSERT INTO t VALUES (1, 'a')")
    world.reader("zurich").execute("CREATE TABLE rest PARTITION OF t DEFAULT")
    world.catch_up()
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")


@pytest.mark.full
def test_a_table_that_is_renamed_while_it_is_looked_at_is_looked_at_again(polled, monkeypatch):
    """A writer that nobody waited for would have its row read by columns that it was not written with."""
    monkeypatch.setattr(triggers, "_LOCK_TRIES", 2)
    world = polled(PLAIN, ["public.t"])
    world.master.execute("ALTER TABLE t ADD n int")
    writer, lock = world.session(), triggers.lock

    def renamed(*given):
        monkeypatch.setattr(triggers, "lock", lock)
        world.master.execute("ALTER TABLE t RENAME TO u")
        writer.execute("BEGIN; INSERT INTO u VALUES (1, 'a', 2)")
        return lock(*given)

    monkeypatch.setattr(triggers, "lock", renamed)
    with pytest.raises(TransientError, match="SLC-036"):
        world.publish()
    writer.execute("COMMIT")
    world.catch_up()
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")


@pytest.mark.full
def test_an_alter_that_somebody_leaves_open_is_not_waited_for(polled):
    world = polled(f"{PLAIN}; CREATE TABLE u (id int PRIMARY KEY, v text DEFAULT 'v')", ["public.t", "public.u"])
    altering = world.session()
    altering.execute("SET idle_in_transaction_session_timeout = '20s'")
    with altering.transaction():
        altering.execute("ALTER TABLE u ADD n int")
        world.publish()
        with pytest.raises(TransientError, match="SLC-108"):
            execute(world, "ALTER TABLE t ADD n int")
    assert {change["action"] for change in world.log()} == set()
    world.publish()
    assert [change["action"] for change in world.log()] == ["A"]


@pytest.mark.full
def test_a_statement_drops_a_partition(polled):
    world = polled(PARTED, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (11, 'b')")
    world.catch_up()
    done = execute(world, "DROP TABLE low")
    world.catch_up()
    assert standings(world, done) == everywhere(world)
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_that_is_altered_right_after_the_look_is_looked_at_again(polled, monkeypatch):
    world = polled(PLAIN, ["public.t"])
    queued = QueueCapture.queued

    def altered(source):
        monkeypatch.setattr(QueueCapture, "queued", queued)
        world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (1, 'a', 2)")
        return queued(source)

    monkeypatch.setattr(QueueCapture, "queued", altered)
    world.publish()
    assert [change["action"] for change in world.log()] == ["I", "A"]


def test_what_is_written_to_a_partition_while_it_is_none_arrives(polled):
    world = polled(DEEP, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (11, 'c'), (12, 'd')")
    world.catch_up()
    for part, bounds in (("low", "(0) TO (10)"), ("high", "(10) TO (20)")):
        with world.master.transaction():
            world.master.execute(f"ALTER TABLE t DETACH PARTITION {part}")
            world.master.execute(
                f"UPDATE {part} SET v = 'z' WHERE id IN (1, 11); DELETE FROM {part} WHERE id IN (2, 12)"
            )
            world.master.execute(f"ALTER TABLE t ATTACH PARTITION {part} FOR VALUES FROM {bounds}")
        world.catch_up()
        assert world.differences() == {}, part


@pytest.mark.full
def test_triggers_that_are_made_again_are_no_sign_that_a_partition_was_detached(polled):
    world = polled(DEEP, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (11, 'b')")
    world.catch_up()
    bootstrap(world.context, SOURCE, recreate_triggers=True)
    (trigger,) = world.master.execute("SELECT trigger_name FROM repl_tables").fetchone()
    world.master.execute(f'DROP TRIGGER "{trigger}" ON t')
    world.publish()
    world.publish()
    assert len(world.log()) == 2
