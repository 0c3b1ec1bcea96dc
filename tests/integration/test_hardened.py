"""What others may do to a source that is captured: gain nothing by our functions, and never wait for us (R9)."""

from __future__ import annotations

from threading import Thread

import psycopg
import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
PARTED = """
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted VALUES (1);
"""
COMMIT_MARKS = (
    "SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname LIKE 'W\\_%' AND tgenabled = 'A'"
)


@pytest.fixture
def role(build):
    """A role without a right but to connect, on the server of a world."""
    made = []

    def make(world, name):
        world.master.execute(f"CREATE ROLE {name}")
        made.append((world, name))
        return name

    yield make
    for world, name in made:
        world.master.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


@pytest.mark.full
def test_a_type_that_a_writer_makes_is_not_ours(build, role):
    """Whoever writes a row decides how names without a schema are looked up in our function."""
    world = build(PLAIN, ["public.t"])
    writer = role(world, "writer_of_types")
    world.master.execute(f"GRANT INSERT ON t TO {writer}; CREATE SCHEMA evil AUTHORIZATION {writer}")
    for number, schema in enumerate(("pg_temp", "evil")):
        session = world.session()
        session.execute(f"SET ROLE {writer}")
        session.execute(
            f"CREATE FUNCTION {schema}.gain(value pg_catalog.text) RETURNS bool LANGUAGE plpgsql AS"
            f" $$ BEGIN EXECUTE 'ALTER ROLE {writer} SUPERUSER'; RETURN true; END $$;"
            f"CREATE DOMAIN {schema}.text AS pg_catalog.text CHECK ({schema}.gain(VALUE));"
            f"SET search_path = {schema}, pg_catalog, public"
        )
        session.execute("INSERT INTO public.t VALUES (%s, 'a')", [number])
        session.close()
    found = world.master.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [writer]).fetchone()
    assert found == (False,)
    world.catch_up()
    assert world.differences() == {}


def test_operators_that_a_writer_makes_are_not_ours(build, role):
    """Also where a change cannot be put in order, and that is noted: then what was done for it is rolled back, but not
    the number that an operator has drawn."""
    world = build(PLAIN, ["public.t"])
    world.master.execute("DROP FUNCTION repl_overtaken; INSERT INTO t VALUES (1, 'a')")
    writer = role(world, "writer_of_operators")
    world.master.execute(f"GRANT ALL ON t TO {writer}; CREATE SCHEMA evil AUTHORIZATION {writer}")
    session = world.session()
    session.execute(f"SET ROLE {writer}; CREATE SEQUENCE evil.gained")
    for kind in ("varchar", "text", "text[]", "oid", "int2", "int4", "int8", "float8", '"char"', "tid", "xid", "bool"):
        session.execute(
            f"CREATE FUNCTION evil.gain({kind}, {kind}) RETURNS bool LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM pg_catalog.nextval('evil.gained'); RETURN true; END $$"
        )
        for operator in ("=", "<>", ">"):
            made = f"CREATE OPERATOR evil.{operator} (LEFTARG = {kind}, RIGHTARG = {kind}, FUNCTION = evil.gain)"
            session.execute(made)
    session.execute("SET search_path = evil, pg_catalog, public")
    world.master.execute(
        "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN UPDATE public.t SET v = v || 'x'; RETURN NULL; END $$;"
        "CREATE TRIGGER again AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION again()"
    )
    session.execute("INSERT INTO public.t VALUES (2, 'b'), (3, 'c')")
    session.execute("UPDATE public.t SET v = 'd'; DELETE FROM public.t")
    # And where nobody saw that the key is called otherwise.
    world.master.execute(
        "DO $$ DECLARE name text; BEGIN FOR name IN SELECT evtname FROM pg_event_trigger LOOP"
        " EXECUTE format('ALTER EVENT TRIGGER %I DISABLE', name); END LOOP; END $$; ALTER TABLE t RENAME id TO ident"
    )
    session.execute("INSERT INTO public.t VALUES (2, 'b'), (3, 'c')")
    session.close()
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("LOST",)]
    assert world.master.execute("SELECT is_called FROM evil.gained").fetchone() == (False,)


LATE = "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text)"
AT_COMMIT = """
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO t VALUES (5, 'new'); RETURN NULL; END $$;
CREATE TABLE late (id int);
CREATE CONSTRAINT TRIGGER again AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION again();
"""
# What a transaction does before one that is older deletes the row 5, and it commits.
WAITING = {
    "at once": "INSERT INTO t VALUES (5, 'new')",
    "in a second statement": "INSERT INTO t VALUES (1, 'first'); INSERT INTO t VALUES (5, 'new')",
    "after what was rolled back": (
        "SAVEPOINT s; INSERT INTO t VALUES (1, 'first'); ROLLBACK TO s; INSERT INTO t VALUES (5, 'new')"
    ),
    "in a trigger that waited itself": "INSERT INTO late VALUES (1); INSERT INTO t VALUES (1, 'first')",
    "with settings of ours": (
        "SELECT set_config('sluice.waits', n::text, false), set_config('sluice.' || key, '', false)"
        " FROM generate_series(0, 9) AS n, unnest(ARRAY['within', 'dropper', 'noted']) AS key"
        " ORDER BY n DESC; INSERT INTO t VALUES (5, 'new')"
    ),
}


def test_who_waits_at_its_commit_comes_behind_what_it_waited_for(build):
    """Whatever the session has said before (R1)."""
    world = build(f"{LATE}; {AT_COMMIT}", ["public.t"])
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
    for case, statements in WAITING.items():
        world.master.execute("DELETE FROM t; INSERT INTO t VALUES (5, 'old')")
        world.catch_up()
        with world.session() as session, world.session() as other:
            session.execute("BEGIN")
            for statement in statements.split("; "):
                session.execute(statement)
            waits = Thread(target=lambda session=session: session.execute("COMMIT"))
            with other.transaction():
                other.execute("DELETE FROM t WHERE v = 'old'")
                waits.start()
                while world.master.execute(blocked, [other.info.backend_pid]).fetchone() == (0,):
                    assert waits.is_alive(), case
            waits.join()
        world.catch_up()
        assert world.differences() == {}, case


REKEYED = """
    CREATE TABLE x (i int);
    CREATE FUNCTION ins() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO t VALUES (2, 'reborn'); RETURN NULL; END $$;
    CREATE TRIGGER z AFTER INSERT ON x FOR EACH ROW EXECUTE FUNCTION ins();
    CREATE FUNCTION g(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
        IF i = 3 THEN INSERT INTO x VALUES (1); PERFORM set_config('sluice.within', '', true); END IF;
        RETURN i + 20; END $$;
    INSERT INTO t VALUES (2, 'b'), (3, 'c');
"""


@pytest.mark.full
def test_no_setting_keeps_a_row_that_a_trigger_brings_from_slaves(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute(REKEYED)
    world.master.execute("UPDATE t SET id = g(id)")
    world.catch_up()
    assert world.differences() == {}


PARTS = """
CREATE TABLE t (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE part (id int, v text); CREATE TABLE other PARTITION OF t FOR VALUES FROM (10) TO (20)
"""
ATTACH = "ALTER TABLE t ATTACH PARTITION part FOR VALUES FROM (0) TO (10)"
WAITS = "ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED"
# The tables; the trigger that bears a name of ours; what makes us need that name.
NAMED = {
    "a last key, deferred": (
        "CREATE TABLE t (id int, v text)", 'CONSTRAINT TRIGGER "W_{}" AFTER UPDATE ON t FOR EACH ROW',
        f"ALTER TABLE t {WAITS}"),
    "a last key of a part": (
        PARTS, 'TRIGGER "W_{}" AFTER UPDATE ON t FOR EACH ROW', f"{ATTACH}; ALTER TABLE part {WAITS}"),
    "a last key of all": (
        PARTS, 'TRIGGER "W_{}" AFTER UPDATE ON part FOR EACH ROW', f"{ATTACH}; ALTER TABLE t {WAITS}"),
    "a TRUNCATE": (PARTS, 'TRIGGER "{}_t" AFTER TRUNCATE ON part', ATTACH),
}  # fmt: skip


@pytest.mark.full(but=["a last key of all"])
@pytest.mark.parametrize(("ddl", "trigger", "change"), NAMED.values(), ids=NAMED)
def test_a_trigger_of_our_name_is_not_ours(build, role, ddl, trigger, change):
    """Who has the right TRIGGER may choose the name before ours is made."""
    world = build(ddl, ["public.t"])
    maker = role(world, "maker")
    world.master.execute(
        f"GRANT TRIGGER ON ALL TABLES IN SCHEMA public TO {maker}; CREATE SCHEMA evil AUTHORIZATION {maker};"
        "INSERT INTO t VALUES (15, 'other')"
    )
    (number,) = world.master.execute("SELECT 't'::regclass::oid").fetchone()
    with world.session() as session:
        session.execute(f"SET ROLE {maker}")
        session.execute("CREATE FUNCTION evil.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
        session.execute(f"CREATE {trigger.format(f'RI_z_repl_capture_{number}')} EXECUTE FUNCTION evil.nothing()")
    for statement in change.split("; "):
        world.master.execute(statement)
    world.catch_up()
    found = "SELECT count(*) FROM pg_trigger WHERE tgfoid = 'evil.nothing'::regproc"
    assert world.master.execute(found).fetchone() == (0,)
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]
    session, other = world.session(), world.session()
    other.execute("INSERT INTO t VALUES (5, 'old')")
    session.execute("BEGIN; INSERT INTO t VALUES (5, 'new')")
    other.execute("DELETE FROM t WHERE v = 'old'")
    session.execute("COMMIT")
    if ddl == PARTS:
        world.master.execute("TRUNCATE part")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_who_may_not_drop_a_table_has_nothing_locked_by_saying_its_name_nor_by_another_statement(build, role):
    """Of the same text, or one that failed."""
    world = build(PARTED + "CREATE TABLE other (a int)", ["public.parted"])
    session = world.session()
    session.execute(f"SET ROLE {role(world, 'talker')}; BEGIN; DROP TABLE IF EXISTS nothing /* part1 */")
    world.master.execute("SET lock_timeout = '20s'; INSERT INTO parted VALUES (1500); SELECT * FROM parted")
    session.execute("ROLLBACK; RESET ROLE")
    session.execute("BEGIN")
    session.execute("DROP TABLE other; UPDATE part2 SET id = id + 1")
    world.master.execute("INSERT INTO part1 VALUES (5)")
    session.execute("COMMIT")
    with pytest.raises(psycopg.errors.UndefinedTable):
        session.execute("DROP TABLE nothing")
    session.execute("INSERT INTO part1 VALUES (6)")
    session.close()
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_publisher_that_waits_for_a_partition_holds_no_other(build):
    world = build(PARTED, ["public.parted"])
    busy = world.session()
    busy.execute("BEGIN; LOCK TABLE part2 IN ACCESS EXCLUSIVE MODE")
    world.master.execute("INSERT INTO part1 VALUES (5)")
    publishing = Thread(target=world.publish)
    publishing.start()
    publishing.join(3)
    busy.execute("SET lock_timeout = '20s'; TRUNCATE part1")
    busy.execute("COMMIT")
    publishing.join(60)
    world.catch_up()
    assert world.differences() == {}


def test_ddl_of_a_session_as_replica_is_seen(build):
    world = build(PLAIN, ["public.*"])
    world.master.execute("INSERT INTO t VALUES (1, 'a'); SET session_replication_role = replica")
    world.master.execute("CREATE TABLE late (id int PRIMARY KEY); INSERT INTO late VALUES (1)")
    world.master.execute("ALTER TABLE t ALTER id TYPE int USING id + 100; RESET session_replication_role")
    world.publish()
    actions = [(change["action"], change["new"]) for change in world.log() if change["action"] in "IT"]
    assert actions == [("I", ["1", "a"]), ("I", ["1"]), ("T", None), ("I", ["101", "a"])]


@pytest.mark.full
def test_a_table_that_may_wait_at_its_commit_draws_a_last_key_from_then_on(build):
    world = build(PLAIN, ["public.t"])
    assert world.master.execute(COMMIT_MARKS).fetchone() == (0,)
    world.master.execute("CREATE TABLE child (t int REFERENCES t DEFERRABLE)")
    assert world.master.execute(COMMIT_MARKS).fetchone() == (1,)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    assert [one["action"] for one in world.log() if one["action"] in "IC"] == ["I", "C"]
    assert bootstrap(world.context, SOURCE)["added"] == []


@pytest.mark.full
def test_a_table_made_while_bootstrap_was_about_to_begin_stays_watched(build):
    world = build(PLAIN, ["public.*"])
    watched, wanted = world.context.watched_tables(SOURCE), world.context.watch_settings(SOURCE)
    world.master.execute("CREATE TABLE late (id int PRIMARY KEY)")
    source = world.context.source(SOURCE)
    assert source.capture.install(watched, wanted).removed == ()
    source.close()
    world.master.execute("INSERT INTO late VALUES (2)")
    assert len(world.queued()) == 2, "its CREATE and its row"


@pytest.mark.full
def test_a_table_that_is_watched_no_more_can_be_watched_again_under_another_name(build):
    world = build(PLAIN + "; CREATE TABLE u (id int PRIMARY KEY)", ["public.t", "public.u"])
    world.configure(lambda plain: plain["sources"][SOURCE]["tables"].pop("public.u"))
    bootstrap(world.context, SOURCE)
    known = world.master.execute("SELECT relname FROM repl_current_tables").fetchall()
    assert known == [("t",)]
    world.configure(lambda plain: plain["sources"][SOURCE]["tables"].update({"public.x*": {}}))
    bootstrap(world.context, SOURCE)
    world.master.execute("ALTER TABLE u RENAME TO x1; INSERT INTO x1 VALUES (1)")
    world.publish()
    assert [change["action"] for change in world.log()][-1] == "I"


def test_no_session_keeps_its_ddl_from_us(build, role):
    """Not by a note of the kind by which we tell our own DDL: it is not in our table, and that is closed to it."""
    world = build(PLAIN, ["public.t"])
    owner = role(world, "owner")
    world.master.execute(f"ALTER TABLE t OWNER TO {owner}; GRANT CREATE ON SCHEMA public TO {owner}")
    session = world.session()
    session.execute(f"SET ROLE {owner}; SET search_path = pg_temp, public")
    session.execute("CREATE TEMP TABLE repl_notes (trans_key xid8, note text, relid oid)")
    with session.transaction():
        session.execute("INSERT INTO repl_notes VALUES (pg_current_xact_id(), 'installing', 0)")
        session.execute("ALTER TABLE t RENAME v TO w")
    for closed in (
        "SELECT repl.repl_note('installing', ARRAY[0]::oid[])",
        "INSERT INTO repl.repl_notes DEFAULT VALUES",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(closed)
    session.execute("CREATE TEMP TABLE brief (v text); ALTER TABLE brief ALTER v TYPE int USING 1; DROP TABLE t")
    session.close()
    assert world.master.execute("SELECT db_action FROM repl_queue").fetchall() == [("A",), ("X",)]
    assert world.master.execute("SELECT FROM repl_notes").fetchall() == []
