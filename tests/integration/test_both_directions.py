"""Two databases that are masters of each other: what a drain writes is not sent back, what users write is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import pytest
from psycopg.errors import LockNotAvailable
from support.waiting import until
from support.world import CAPTURES

from sluice.crash import CrashPoint
from sluice.errors import SluiceError, TransientError
from sluice.monitor.check import findings
from sluice.statements.issue import issue
from sluice.vendors.postgresql import slave as slaves
from sluice.vendors.postgresql.capture import own_ddl

pytestmark = [pytest.mark.postgres]

BOTH = {("east", "west"): {"block_loop": True}, ("west", "east"): {"block_loop": True}}
DDL = (
    "CREATE TABLE t (id int PRIMARY KEY, v text);"
    "CREATE TABLE heap (a int, b text);"
    "CREATE TABLE late (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text);"
    "CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);"
    "CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100);"
    "CREATE TABLE high PARTITION OF parted FOR VALUES FROM (100) TO (200)"
)
TABLES = ["public.t", "public.heap", "public.late", "public.parted"]
EAST = (
    "INSERT INTO t VALUES (1, 'east'), (3, 'east'); UPDATE t SET v = 'again' WHERE id = 3",
    "INSERT INTO heap VALUES (1, 'x'), (1, 'x'); DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap)",
    "INSERT INTO late VALUES (10, 'a'), (11, 'b')",
    "UPDATE late SET id = id + 1 WHERE id >= 10",
    "INSERT INTO parted VALUES (1, 'low'), (101, 'high'); UPDATE parted SET id = 102 WHERE id = 1",
)
WEST = (
    "INSERT INTO t VALUES (2, 'west'), (4, 'west'); DELETE FROM t WHERE id = 4",
    "INSERT INTO heap VALUES (2, 'y')",
    "INSERT INTO late VALUES (20, 'c')",
    "INSERT INTO parted VALUES (50, 'low'), (150, 'high')",
)


def equal(world, tables=TABLES):
    return all(world.rows("east", table) == world.rows("west", table) for table in tables)


@pytest.mark.parametrize("capture", CAPTURES)
def test_changes_on_both_sides_arrive_once_and_come_to_rest(several, capture):
    world = several(DDL, BOTH, TABLES, source={"capture": capture})
    for statement in EAST:
        world.at("east").execute(statement)
    for statement in WEST:
        world.at("west").execute(statement)
    changes = len(world.queued("east")) + len(world.queued("west"))
    assert world.until_quiet() == [changes if capture == "triggers" else 21, 0]
    assert equal(world)
    assert world.rows("west").total() == 3
    world.at("west").execute("TRUNCATE heap; TRUNCATE parted; UPDATE t SET v = 'west again'")
    world.at("east").execute("INSERT INTO late VALUES (30, 'd')")
    assert world.until_quiet()[1:] == [0]
    assert equal(world)
    assert world.rows("west", "public.heap").total() == 0


@pytest.mark.full
def test_without_the_switch_a_slave_that_is_a_master_hands_on_what_it_gets(several):
    world = several(DDL, {("a", "b"): {}, ("b", "c"): {}}, TABLES)
    for statement in EAST:
        world.at("a").execute(statement)
    world.until_quiet()
    world.at("b").execute("INSERT INTO t VALUES (9, 'of its own')")
    world.until_quiet()
    for table in TABLES:
        assert world.rows("c", table) == world.rows("b", table)
    assert world.rows("c").total() == 3
    assert world.rows("a").total() == 2


PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
ROLES = pytest.mark.parametrize("superuser", [True, False], ids=["event triggers", "polling"])


@pytest.mark.full
@ROLES
def test_an_initial_update_is_not_sent_back_and_what_it_makes_is_watched(several, superuser):
    world = several(PLAIN, BOTH, ["public.*"], superuser=superuser)
    east, west = world.at("east"), world.at("west")
    east.execute("INSERT INTO t VALUES (1, 'east'); CREATE TABLE more (id int PRIMARY KEY, v text)")
    east.execute("INSERT INTO more VALUES (1, 'a'), (2, 'b')")
    west.execute("INSERT INTO t VALUES (2, 'taken away here, and on its way to the east')")
    world.publish("east")
    world.update("east", "west")
    assert world.queued("west") == ["I"]
    west.execute("INSERT INTO more VALUES (3, 'c')")
    assert sum(world.until_quiet()) == 2
    assert equal(world, ["public.more"])
    assert (world.rows("east").total(), world.rows("west").total()) == (2, 1)


@pytest.mark.full
def test_an_initial_update_is_not_sent_back_by_the_log(several):
    world = several("", BOTH, ["public.*"], source={"capture": "log"})
    world.at("east").execute("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')")
    world.publish("east")
    world.update("east", "west")
    world.at("west").execute("INSERT INTO t VALUES (2, 'b')")
    world.at("east").execute("INSERT INTO t VALUES (3, 'c')")
    assert world.until_quiet() == [2, 0]
    assert equal(world, ["public.t"])
    assert world.queued("west") == []


@pytest.mark.full
def test_a_statement_is_executed_everywhere_once(several):
    world = several(PLAIN, BOTH, ["public.*"], superuser=False)
    world.at("east").execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    world.until_quiet()
    for text in (
        "UPDATE t SET v = v || '!'",
        "ALTER TABLE t ADD COLUMN n text DEFAULT 'n'",
        "CREATE TABLE more AS SELECT id FROM t",
        "INSERT INTO more SELECT id FROM t",
    ):
        issue(world.context, "west", text)
    published = world.until_quiet()
    assert sum(published) == 4
    assert equal(world, ["public.t", "public.more"])
    assert world.rows("east", "public.more").total() == 4
    world.at("east").execute("UPDATE t SET n = 'east'; INSERT INTO more VALUES (7)")
    world.until_quiet()
    assert equal(world, ["public.t", "public.more"])


def test_what_users_write_beside_a_drain_is_sent_and_what_the_drain_sets_off_is_not(several, monkeypatch):
    """Their keys stand on both sides of the drain's; a drain that dies leaves nothing, and delivers again."""
    world = several(f"{PLAIN}; CREATE TABLE log (id int, v text)", BOTH, ["public.t", "public.log"])
    west, beside = world.at("west"), world.at("west", "beside")
    west.execute(
        "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO public.log VALUES (NEW.id, 'late'); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION noted();"
        "ALTER TABLE t ENABLE ALWAYS TRIGGER noted"
    )
    (told,) = [one.text for one in findings(world.context) if one.subject == "slave west"]
    assert "but noted on public.t: what that writes is not published there" in told
    world.at("east").execute("INSERT INTO t SELECT g, 'east' FROM generate_series(1, 5) AS g")
    world.publish("east")
    beside.execute("BEGIN; INSERT INTO log VALUES (0, 'before')")

    def dies(at):
        if at is CrashPoint.MERGED:
            raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(slaves, "crash_if_asked", dies)
        with pytest.raises(RuntimeError):
            world.drain("east", "west")
    assert world.queued("west") == []
    assert world.drain("east", "west") == 5
    beside.execute("INSERT INTO log VALUES (0, 'after'); COMMIT")
    assert world.queued("west") == ["I", "I"]
    assert world.rows("west", "public.log").total() == 7
    west.execute("INSERT INTO t VALUES (6, 'west')")
    assert sum(world.until_quiet()) == 4
    assert world.rows("east", "public.log").total() == 3


def test_a_role_that_may_not_take_rows_out_of_the_queue_writes_nothing(several, server):
    world = several(PLAIN, BOTH)
    made = server.create_database(superuser=False)
    world.infos["writer"] = replace(world.infos["west"], login=made.login, password=made.password)
    world.configure(lambda plain: plain["slaves"]["west"].update(connection="writer"))
    west, role = world.at("west"), made.login
    west.execute(f"GRANT CONNECT, TEMPORARY ON DATABASE {world.infos['west'].database} TO {role}")
    west.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {role}; GRANT ALL ON t TO {role}")
    world.at("east").execute("INSERT INTO t VALUES (1, 'a')")
    world.publish("east")
    for lacking, granted in (("schema repl", f"GRANT USAGE ON SCHEMA repl TO {role}"), ("repl_queue", "")):
        with pytest.raises(SluiceError, match=f"SLC-033: .* {lacking}"):
            world.drain("east", "west")
        west.execute(granted)
    assert (world.rows("west").total(), world.queued("west")) == (0, [])
    west.execute(f"GRANT SELECT, DELETE ON repl_queue TO {role}")
    assert world.drain("east", "west") == 1
    assert (world.rows("west").total(), world.queued("west")) == (1, [])
    west.execute(f"ALTER TABLE t OWNER TO {role}")
    world.at("east").execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (2, 'b', 3)")
    world.publish("east")
    assert world.drain("east", "west") == 2
    assert (world.rows("west"), world.queued("west")) == (world.rows("east"), [])


def test_what_others_do_to_tables_while_a_statement_does_is_not_taken_for_its_own(several, monkeypatch):
    world = several(
        f"{PLAIN}; CREATE TABLE u (id int); CREATE TABLE gone (id int)", BOTH, ["public.*"], superuser=False
    )
    issue(world.context, "east", "ALTER TABLE t ADD COLUMN n int")
    world.publish("east")
    west, record = world.at("west"), own_ddl.record

    def meanwhile(*given, **more):
        west.execute("ALTER TABLE u ADD COLUMN of_the_west int; DROP TABLE gone; SET lock_timeout = '100ms'")
        with pytest.raises(LockNotAvailable):
            west.execute("ALTER TABLE t ADD COLUMN of_the_west int")
        record(*given, **more)

    monkeypatch.setattr(own_ddl, "record", meanwhile)
    world.drain("east", "west")
    assert (world.queued("west"), world.publish("west")) == ([], 2)
    known = west.execute("SELECT relname, jsonb_array_length(definition -> 'columns') FROM repl_current_tables")
    assert sorted(known.fetchall()) == [("t", 3), ("u", 2)]


def test_ddl_that_is_not_recorded_yet_is_not_taken_for_that_of_a_statement(several):
    world = several(PLAIN, BOTH, ["public.*"], superuser=False)
    issue(world.context, "east", "ALTER TABLE t ADD COLUMN n int")
    world.publish("east")
    world.at("west").execute("ALTER TABLE t ADD COLUMN of_the_west int")
    for attempt in (
        lambda: world.drain("east", "west"),
        lambda: issue(world.context, "west", "ALTER TABLE t ADD COLUMN o int"),
    ):
        with pytest.raises(TransientError, match=r"a change of public.t is not recorded yet"):
            attempt()
    assert world.publish("west") == 1
    west = world.at("west")
    west.execute("CREATE TABLE of_others (id int PRIMARY KEY); INSERT INTO of_others VALUES (1)")
    world.drain("east", "west")
    issue(world.context, "west", "CREATE TABLE made (id int PRIMARY KEY)")
    west.execute("INSERT INTO made VALUES (1)")
    assert world.queued("west") == ["S", "I"]
    assert world.publish("west") == 4


def keys_of_queues(world, name):
    query = "SELECT count(*) FROM pg_constraint WHERE contype = 'p' AND conrelid = 'repl_queue'::regclass"
    return world.at(name).execute(query).fetchone()[0]


@pytest.mark.full
def test_only_a_queue_that_drains_take_rows_out_of_has_an_index(several):
    world = several(PLAIN, {("east", "west"): {"block_loop": True}, ("west", "far"): {}}, ["public.t"])
    assert [keys_of_queues(world, name) for name in ("east", "west")] == [0, 1]


@pytest.mark.full
def test_a_statement_that_waits_holds_up_neither_another_nor_a_drain(several):
    world = several(DDL, BOTH, TABLES)
    world.at("east").execute("INSERT INTO t VALUES (1, 'east'); INSERT INTO heap VALUES (1, 'x')")
    world.until_quiet()
    world.at("east").execute("INSERT INTO heap VALUES (2, 'y')")
    world.publish("east")
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    holder, west = world.at("west", "holder"), world.at("west")
    with ThreadPoolExecutor(3) as pool:
        with holder.transaction():
            holder.execute("SELECT FROM t WHERE id = 1 FOR UPDATE")
            first = pool.submit(issue, world.context, "west", "UPDATE t SET v = 'waits' WHERE id = 1")
            until(lambda: west.execute(waiting).fetchone() == (1,), "the statement does not wait")
            another = pool.submit(issue, world.context, "west", "INSERT INTO late VALUES (40, 'e')")
            drained = pool.submit(world.drain, "east", "west")
            wait([another, drained], timeout=120)
            ended = another.done(), drained.done()
        assert ended == (True, True)
        assert (first.exception(60), another.exception(60), drained.result(60)) == (None, None, 1)
    world.until_quiet()
    assert equal(world)
