"""What is in ITEMS and should not be: changes of tables that nobody watches, bytes that are no text, damage."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.changelog.schema import NO_LAYOUT
from sluice.errors import ConfigError, SluiceError
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


@pytest.fixture
def world(build):
    # In a schema of their own nobody else could name them at all.
    return build(PLAIN, ["public.t"], source={"schema": "public"})


@pytest.fixture
def stranger(world):
    """A session of a role that has a schema of its own, and may write to a watched table."""
    world.master.execute(
        "CREATE ROLE stranger; CREATE SCHEMA own AUTHORIZATION stranger; GRANT INSERT ON t TO stranger"
    )
    session = world.session()
    session.execute("SET ROLE stranger; CREATE TABLE own.x (a int, b int, c int)")
    yield session
    session.close()
    world.master.execute("DROP OWNED BY stranger; DROP ROLE stranger")


def attach(world, session):
    """Let every function of ours that a trigger may call be called by triggers of somebody else's table."""
    (captures,) = world.master.execute("SELECT 'repl_capture_' || 't'::regclass::oid").fetchone()
    for number, (event, each, function) in enumerate(
        [
            ("AFTER INSERT OR UPDATE OR DELETE", "ROW", "repl_mark_function"),
            ("AFTER INSERT OR UPDATE OR DELETE", "ROW", captures),
            ("AFTER INSERT", "STATEMENT", captures),
            ("AFTER TRUNCATE", "STATEMENT", captures),
            ("BEFORE TRUNCATE", "STATEMENT", "repl_truncating"),
        ]
    ):
        statement = f"CREATE TRIGGER z{number} {event} ON own.x FOR EACH {each} EXECUTE FUNCTION public.{function}()"
        session.execute(statement)


def test_whoever_calls_our_functions_for_a_table_of_his_own_stops_nobody(world, stranger):
    attach(world, stranger)
    with stranger.transaction():
        stranger.execute("INSERT INTO own.x VALUES (1, 2, 3); INSERT INTO public.t VALUES (1, 'a')")
        stranger.execute("UPDATE own.x SET a = 2; TRUNCATE own.x")
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    stranger.execute("INSERT INTO own.x VALUES (4, 5, 6)")
    world.catch_up()
    assert world.differences() == {}
    sent = [(row["ordinal"], row["action"], row["new"]) for row in world.log() if row["action"] != "C"]
    assert sent == [(1, "I", ["1", "a"]), (2, "I", ["2", "b"])]
    assert {(row["layout"], row["new"], row["old"]) for row in world.log() if row["action"] == "C"} == {
        (NO_LAYOUT, None, None)
    }


NOTING = """
    CREATE SEQUENCE own.ran;
    CREATE FUNCTION own.seen(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
        $$ BEGIN IF pg_trigger_depth() > 0 THEN PERFORM nextval('own.ran'); END IF; RETURN true; END $$;
    CREATE TYPE own.kind AS ENUM ('a', 'b');
    CREATE FUNCTION own.as_text(own.kind) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN PERFORM own.seen(''); RETURN 'a'; END $$;
    CREATE TABLE own.called (id own.kind);
    CREATE CAST (own.kind AS text) WITH FUNCTION own.as_text(own.kind) AS ASSIGNMENT;
"""
# What leads from a table's trigger function to code of somebody else.
LED_AWAY = {
    "the function is called for a table of his": """
        DO $$ BEGIN EXECUTE 'CREATE TRIGGER z AFTER INSERT OR UPDATE OR DELETE ON own.called FOR EACH ROW'
            || ' EXECUTE FUNCTION public.repl_capture_' || 'named'::regclass::oid || '()'; END $$;
        INSERT INTO own.called VALUES ('a'); INSERT INTO own.called VALUES ('b')
    """,
    "the key has another type": "ALTER TABLE named ALTER id TYPE own.kind USING id::own.kind",
    "a policy hides rows": """
        CREATE POLICY his ON named USING (own.seen(id));
        ALTER TABLE named ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY
    """,
}


@pytest.mark.parametrize("change", LED_AWAY.values(), ids=LED_AWAY)
def test_code_of_others_never_runs_with_the_rights_of_the_capture(build, weak, change):
    """Its role sees no DDL, so that the function stays as it was made."""
    world = build(
        "CREATE TABLE named (id text PRIMARY KEY); CREATE SCHEMA own",
        ["public.named"],
        elsewhere={"master": weak},
        source={"schema": "public"},
    )
    world.master.execute(NOTING + "INSERT INTO named VALUES ('a'), ('b')")
    world.master.execute(change)
    with world.session() as session:
        # Whatever the plan of a query of ours lets somebody's code see.
        session.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
        session.execute("DELETE FROM own.called WHERE ctid = '(0,1)'")
        session.execute("DELETE FROM named WHERE ctid = '(0,1)'")
    assert world.master.execute("SELECT is_called FROM own.ran").fetchone() == (False,)
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("OK",)]


EVIL = """
    CREATE SEQUENCE own.ran;
    CREATE FUNCTION own.seen() RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('own.ran'); RETURN 1; END $$;
"""
IN_ITS_PLACE = """
    ALTER TABLE t RENAME TO other;
    CREATE VIEW t AS SELECT own.seen() AS id, NULL::tid AS ctid, 0::oid AS tableoid, '5'::cid AS cmin;
    UPDATE other SET v = 'b'; DELETE FROM other
"""


@pytest.mark.full
def test_what_bears_the_name_of_a_table_that_was_renamed_unseen_is_never_read(build):
    """Its DDL cannot be recorded by a transaction that sees no more what others did to the table."""
    world = build(f"{PLAIN}; CREATE SCHEMA own", ["public.t"])
    world.master.execute(EVIL + "INSERT INTO t VALUES (1, 'a')")
    with world.session() as session:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        world.master.execute("ALTER TABLE t ADD COLUMN w int")
        session.execute(IN_ITS_PLACE)
        session.execute("COMMIT")
    assert world.master.execute("SELECT DISTINCT note FROM repl_notes").fetchall() == [("unrecorded",)]
    assert world.master.execute("SELECT is_called FROM own.ran").fetchone() == (False,)


REBORN = """
    CREATE FUNCTION reborn(n int) RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN IF n = 3 THEN INSERT INTO t VALUES (2, 'reborn'); END IF; RETURN n; END $$;
    INSERT INTO t VALUES (2, 'b'), (3, 'c');
"""
HIDDEN = {
    "by policies": "ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
    "by a right that is gone": "REVOKE SELECT ON t FROM CURRENT_USER",
}
BROUGHT_WITHIN = ["DELETE FROM t WHERE reborn(id) > 0", "UPDATE t SET id = reborn(id) + 20"]


@pytest.mark.parametrize(("hidden", "statement"), [*zip(HIDDEN.values(), BROUGHT_WITHIN, strict=True)], ids=HIDDEN)
def test_a_row_that_came_within_a_statement_is_not_lost_in_silence_where_rows_are_hidden(
    build, weak, server, hidden, statement
):
    world = build(PLAIN, ["public.t"], elsewhere={"master": weak})
    world.master.execute(REBORN)
    world.catch_up()
    world.master.execute(hidden)
    with server.cluster.admin(world.infos["master"].database) as writer:
        writer.execute(f"SET client_min_messages = error; {statement}")
    assert world.master.execute("SELECT status FROM repl_tables").fetchall() == [("LOST",)]
    world.publish()
    assert world.left_out() == {"public.t"}


def test_what_a_table_sent_before_it_was_watched_is_not_its_content(world, stranger):
    attach(world, stranger)
    stranger.execute("INSERT INTO own.x VALUES (1, 2, 3)")
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].update({"own.x": {"actions": "I"}}))
    world.master.execute("ALTER TABLE own.x DROP c")
    bootstrap(world.context, SOURCE)
    world.master.execute("INSERT INTO own.x VALUES (4, 5)")
    world.publish()
    assert ["4", "5"] in [row["new"] for row in world.log() if row["action"] == "I"]
    assert not [row for row in world.log() if row["new"] and "3" in row["new"]]


def test_rows_of_a_partition_are_never_read_for_a_table_that_is_not_watched(world, stranger):
    stranger.execute("CREATE TRIGGER z BEFORE TRUNCATE ON own.x EXECUTE FUNCTION public.repl_truncating()")
    stranger.execute("INSERT INTO own.x VALUES (1, 2, 3); TRUNCATE own.x")
    assert world.queued() == set()


def test_a_watched_table_whose_records_are_gone_is_left_out_and_recorded_again(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a'); DELETE FROM repl_layouts")
    world.publish()
    assert (world.log(), world.left_out()) == ([], {"public.t"})
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    assert [row["new"] for row in world.log()] == [["2", "b"]]


# What is wrong in ITEMS; what the error says.
DAMAGED = {
    "an image that does not fit": ("UPDATE repl_queue SET content = '(1,a,b)'", "does not fit its recorded columns"),
    "a command of nobody": ("UPDATE repl_queue SET db_action = 'A', relid = 1", "has no recorded columns"),
}


@pytest.mark.parametrize(("damage", "why"), DAMAGED.values(), ids=DAMAGED)
def test_what_cannot_be_read_is_given_up_by_typing_what_the_hint_says(world, damage, why):
    world.master.execute(f"INSERT INTO t VALUES (1, 'a'); {damage}")
    with pytest.raises(SluiceError) as stopped:
        world.publish()
    assert stopped.value.code == 68
    assert why in stopped.value.fact
    assert "initial_update" in stopped.value.hint
    given_up = stopped.value.hint.split("`")[1]
    world.master.execute(given_up)
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    assert [row["new"] for row in world.log()] == [["2", "b"]]


def declare(world, encoding):
    """What the catalog says of the master's texts, from the next session on."""
    world.reader("control").execute(
        "UPDATE pg_database SET encoding = pg_char_to_encoding(%s), datcollate = 'C', datctype = 'C',"
        " datlocprovider = 'c', datlocale = NULL WHERE datname = %s",
        [encoding, world.infos["master"].database],
    )


@pytest.fixture
def unsure(world):
    """A source that does not know in which encoding its texts are."""
    declare(world, "SQL_ASCII")
    return world


def test_a_source_that_knows_no_encoding_is_refused_before_anything_is_made(unsure):
    told = r"SLC-028: .* SQL_ASCII(.|\n)*HINT: .*UTF8"
    found = {finding.subject: finding for finding in findings(unsure.context)}[f"source {SOURCE}"]
    assert not found.good
    with pytest.raises(ConfigError, match=told) as refused:
        bootstrap(unsure.context, SOURCE)
    assert found.text == str(refused.value)


@pytest.mark.full(but=["SQL_ASCII"])
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "UTF8"])
def test_bytes_that_are_no_text_stop_the_publisher_with_the_key_of_the_change(unsure, encoding):
    """Where the database says that it is in UTF-8, and is not, its server lets them pass."""
    session = unsure.session()
    session.execute(r"INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, E'gr\xfcn')")
    declare(unsure, encoding)
    with pytest.raises(SluiceError, match=rf"SLC-058: .* key {max(unsure.queued())}: ") as stopped:
        unsure.publish()
    unsure.master.execute(stopped.value.hint.split("`")[1])
    assert unsure.publish()["changes"] == 1
