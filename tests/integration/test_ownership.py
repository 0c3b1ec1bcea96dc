"""What is ours in other people's databases is ours alone, or nothing is done with it."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager

import pytest
from psycopg.errors import InsufficientPrivilege
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import SluiceError
from sluice.model.position import START
from sluice.monitor.check import findings
from sluice.vendors.postgresql.load.blocks import PostgresRanges
from sluice.vendors.postgresql.load.receiver import loader

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY)"
BOTH = f"{DDL}; CREATE TABLE u (id int PRIMARY KEY)"


@pytest.fixture
def world(build):
    return build(DDL, ["public.t"])


@contextmanager
def estranged(world):
    """A role that has no part in Sluice."""
    name = f"stranger_{world.infos['master'].database}"
    world.master.execute(f"CREATE ROLE {name}; CREATE SCHEMA away AUTHORIZATION {name}")
    world.reader("zurich").execute("CREATE SCHEMA away")
    yield name
    for database in ("master", "zurich"):
        with world.session(database) as session:
            session.execute(f"DROP OWNED BY {name} CASCADE")
    world.master.execute(f"DROP ROLE {name}")


@pytest.fixture
def stranger(world):
    """The role, in the world of most tests."""
    with estranged(world) as name:
        yield name


def found(world):
    """What `check` says of the source."""
    return [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]


def said(error):
    """The statements that a hint says."""
    return re.search(r"say: (.*?)(\. (Then|A) .*)?$", error.hint)[1]


def test_the_resources_have_a_schema_of_their_own_in_which_nobody_else_makes_things(world, stranger):
    owner = world.infos["master"].login
    schemas = "SELECT nspname, pg_get_userbyid(nspowner), nspacl FROM pg_namespace WHERE nspname = 'repl'"
    assert world.master.execute(schemas).fetchall() == [("repl", owner, None)]
    assert world.master.execute("SELECT to_regclass('public.repl_queue')").fetchone() == (None,)
    world.master.execute("INSERT INTO t VALUES (1)")
    assert world.master.execute("SELECT count(*) FROM repl.REPL_ITEMS").fetchone() == (1,)
    with pytest.raises(InsufficientPrivilege), world.session() as session:
        session.execute(f"SET ROLE {stranger}; CREATE FUNCTION repl.f() RETURNS int RETURN 1")
    cleanup(world.context, SOURCE)
    assert world.master.execute(schemas).fetchall() == []


STRANGE = {
    "a table that somebody else owns": (291, "ALTER TABLE repl.repl_queue OWNER TO {0}"),
    "a view that somebody else owns": (291, "ALTER VIEW repl.repl_items OWNER TO {0}"),
    "a sequence that somebody else owns": (291, "ALTER SEQUENCE repl.repl_seq OWNER TO {0}"),
    "a function that somebody else owns": (291, "ALTER FUNCTION repl.repl_adopt OWNER TO {0}"),
    "a trigger function that somebody else owns": (
        291,
        "DO $$ BEGIN EXECUTE (SELECT format('ALTER FUNCTION %s OWNER TO {0}', oid::regprocedure) FROM pg_proc"
        " WHERE proname ~ 'repl_capture_[0-9]'); END $$",
    ),
    "a function of one of our names": (
        291,
        "CREATE FUNCTION repl.repl_note(text, text) RETURNS void LANGUAGE sql AS '';"
        "ALTER FUNCTION repl.repl_note(text, text) OWNER TO {0}",
    ),
    "a trigger": (
        291,
        "CREATE FUNCTION away.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER z BEFORE INSERT ON repl.repl_queue FOR EACH ROW EXECUTE FUNCTION away.f()",
    ),
    "a function of ours where it does harm": (
        291,
        "CREATE TRIGGER z BEFORE INSERT ON repl.repl_queue FOR EACH ROW EXECUTE FUNCTION repl.repl_mark_function()",
    ),
    "a rule": (291, "CREATE RULE r AS ON INSERT TO repl.repl_notes DO INSTEAD NOTHING"),
    "CREATE for all": (291, "GRANT CREATE ON SCHEMA repl TO PUBLIC"),
    "CREATE for one": (291, "GRANT CREATE ON SCHEMA repl TO {0}"),
    "a schema that somebody else owns": (291, "ALTER SCHEMA repl OWNER TO {0}"),
}


@pytest.mark.full
def test_what_others_could_change_is_refused_by_each_job_until_it_is_put_right(world, stranger):
    for what, (code, change) in STRANGE.items():
        world.master.execute(change.format(stranger))
        for job in (world.publish, lambda: bootstrap(world.context, SOURCE)):
            with pytest.raises(SluiceError) as refused:
                job()
            assert refused.value.code == code, what
        assert f"SLC-{code:03d}" in "".join(found(world)), what
        world.master.execute(said(refused.value))
        if what.startswith("a table"):
            # It may have checks, defaults and policies of others: it is not taken over.
            owned = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'not_ours_repl_queue'"
            assert world.master.execute(owned).fetchall() == [(stranger,)]
        bootstrap(world.context, SOURCE, recreate_triggers=True)
        world.publish()


# What keeps changes out of a publication, and of which tables.
HARM = {
    "commands": {
        "SET (publish = 'update')": "tu",
        "DROP TABLE repl.repl_queue": "tu",
        "SET TABLE repl.repl_queue": "tu",
    },
    "rows": {
        "SET (publish = 'insert, update')": "tu",
        "SET TABLE t WHERE (id > 1), u": "t",
        "DROP TABLE t": "t",
    },
}


def test_a_publication_of_somebody_else_is_refused_and_one_that_does_not_tell_all_leaves_no_slave_normal(build):
    world = build(BOTH, ["public.t", "public.u"], source={"capture": "log"})
    execute, jobs = world.master.execute, (world.publish, lambda: bootstrap(world.context, SOURCE))
    with estranged(world) as stranger:
        cleanup(world.context, SOURCE)
        execute(f'GRANT CREATE ON DATABASE "{world.infos["master"].database}" TO {stranger}')
        execute(f"SET ROLE {stranger}")
        for what in HARM:
            execute(f'CREATE PUBLICATION "repl.repl_{what}"')
        execute("RESET ROLE")
        with pytest.raises(SluiceError, match=f"SLC-291: .*repl_commands. belongs to {stranger}; .*rows") as refused:
            bootstrap(world.context, SOURCE)
        execute(said(refused.value))
        bootstrap(world.context, SOURCE, rebase=True)
        for what in HARM:
            execute(f'ALTER PUBLICATION "repl.repl_{what}" OWNER TO {stranger}')
            for job in jobs:
                with pytest.raises(SluiceError, match=f"SLC-291: .*repl_{what}. belongs to {stranger}"):
                    job()
            assert "SLC-291" in "".join(found(world))
            execute(f'ALTER PUBLICATION "repl.repl_{what}" OWNER TO CURRENT_USER')
    with closing(world.context.source(SOURCE)) as source:
        # The look of a publisher is one that remembers what it saw.
        for what, harms in HARM.items():
            for harm, tables in harms.items():
                assert source.capture.silenced() == []
                execute(f'ALTER PUBLICATION "repl.repl_{what}" {harm}')
                assert "".join(one.table for one in source.capture.silenced()) == tables, harm
                if harm == "DROP TABLE t":
                    # The others go on.
                    execute("INSERT INTO u VALUES (1)")
                    world.publish()
                    assert [row["action"] for row in world.log()][-1:] == ["I"]
                bootstrap(world.context, SOURCE)
        assert source.capture.silenced() == []
    execute("INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE id = 1; TRUNCATE t; INSERT INTO t VALUES (3)")
    world.publish()
    assert "".join(row["action"] for row in world.log()[-5:]) == "IIDTI"


IN_SLAVE = {
    "a table that somebody else owns": "ALTER TABLE sluice_references OWNER TO {0}",
    "the position, that somebody else owns": "ALTER TABLE sluice_position OWNER TO {0}",
    "a trigger": "CREATE TRIGGER z BEFORE UPDATE ON sluice_loaded FOR EACH ROW EXECUTE FUNCTION away.f()",
    "a rule": "CREATE RULE r AS ON UPDATE TO sluice_ranges DO INSTEAD NOTHING",
}


# Sessions that rely on our tables in a slave, each with what the job does that opens it.
RELYING = {
    "a drain": lambda world, slave: world.drain(),
    "a comparison": lambda world, slave: slave.aligned(START, 1).__enter__(),
    "a load": lambda world, slave: slave.loading(2**62).progress(),
    "a task of a load": lambda world, slave: loader(slave.info, slave.pair, "public"),
    "blocks": lambda world, slave: PostgresRanges(slave.info, slave.pair, "public", slave.mapper).unfit(
        [], (), {}, build=False
    ),
}


def test_each_job_refuses_tables_of_ours_in_a_slave_that_others_could_change(world, stranger):
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    slave = world.reader("zurich")
    slave.execute("CREATE FUNCTION away.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
    for what, change in IN_SLAVE.items():
        slave.execute(change.format(stranger))
        for job, run in RELYING.items():
            with pytest.raises(SluiceError) as refused, closing(world.context.slave(world.pair("zurich"))) as opened:
                run(world, opened)
            told = "among our tables in the slave" in refused.value.fact
            assert (refused.value.code, told) == (291, True), (what, job)
        found = "".join(one.text for one in findings(world.context) if one.subject == "slave zurich")
        assert "SLC-291: among our tables in the slave" in found
        slave.execute(said(refused.value))
    world.catch_up()
    assert world.differences() == {}


# Somebody makes a table of a name of ours while we look, where he may: here an event trigger gives it to him.
STOLEN = """
    CREATE FUNCTION away.stolen() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE (SELECT string_agg(format('ALTER TABLE %s OWNER TO {0}', objid::regclass), ';')
                 FROM pg_event_trigger_ddl_commands() WHERE objid::regclass::text ~ '{1}$');
    EXCEPTION WHEN null_value_not_allowed THEN END $$;
    CREATE EVENT TRIGGER stolen ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION away.stolen();
    ALTER EVENT TRIGGER stolen ENABLE ALWAYS
"""
OURS = "DROP TABLE IF EXISTS sluice_position, sluice_loaded, sluice_ranges, sluice_indexes, sluice_references"


def test_what_is_made_is_looked_at_before_it_counts(world, stranger):
    cleanup(world.context, SOURCE)
    world.master.execute(STOLEN.format(stranger, "repl_queue"))
    world.reader("zurich").execute(OURS + ";" + STOLEN.format(stranger, "sluice_loaded"))
    with pytest.raises(SluiceError, match=r"SLC-291: .*repl_queue belongs to"):
        bootstrap(world.context, SOURCE)
    stolen = pytest.raises(SluiceError, match=r"SLC-291: .*sluice_loaded belongs to")
    with closing(world.context.slave(world.pair("zurich"))) as slave, stolen:
        slave.install()
    there = "SELECT to_regclass('repl.repl_queue'), to_regclass('sluice_loaded')"
    for name in ("master", "zurich"):
        assert world.reader(name).execute(there).fetchone() == (None, None)
        world.reader(name).execute("DROP EVENT TRIGGER stolen")


RIGHTS = """
    SELECT coalesce(nspname, relname) FROM pg_class AS class FULL JOIN pg_namespace AS namespace ON false
    CROSS JOIN LATERAL aclexplode(coalesce(nspacl, relacl)) AS acl
    WHERE (nspname = 'repl' OR relnamespace = to_regnamespace('repl') OR relname LIKE 'sluice%')
      AND acl.grantee <> coalesce(nspowner, relowner) AND (nspname IS NULL OR acl.privilege_type <> 'USAGE')
"""


def test_default_privileges_give_nobody_a_right_on_what_is_made(world, stranger):
    cleanup(world.context, SOURCE)
    for name in ("master", "zurich"):
        for things in ("TABLES", "SEQUENCES", "SCHEMAS"):
            for role in (stranger, "PUBLIC"):
                world.reader(name).execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {things} TO {role}")
    bootstrap(world.context, SOURCE)
    world.reader("zurich").execute(OURS)
    with closing(world.context.slave(world.pair("zurich"))) as slave:
        slave.install()
    for name in ("master", "zurich"):
        assert world.reader(name).execute(RIGHTS).fetchall() == []
    world.master.execute(f"GRANT SELECT, TRIGGER ON repl.repl_items, repl.repl_queue TO {stranger}")
    bootstrap(world.context, SOURCE)
    assert world.master.execute(
        "SELECT DISTINCT acl.privilege_type FROM pg_class, LATERAL aclexplode(relacl) AS acl"
        " WHERE relname IN ('repl_items', 'repl_queue') AND acl.grantee <> relowner"
    ).fetchall() == [("SELECT",)]


def test_a_schema_of_an_application_with_our_name_stays_its_own(world, stranger):
    cleanup(world.context, SOURCE)
    world.master.execute(f"CREATE SCHEMA repl AUTHORIZATION {stranger}")
    with pytest.raises(SluiceError, match=r"SLC-291: .*others may make things in the schema") as refused:
        bootstrap(world.context, SOURCE)
    assert refused.value.hint.index("leave the schema as it is") < refused.value.hint.index(
        "ALTER SCHEMA repl OWNER TO"
    )
    # Who can do all that we do may have one, too.
    world.master.execute(f"ALTER ROLE {stranger} SUPERUSER")
    bootstrap(world.context, SOURCE)
    cleanup(world.context, SOURCE)
    owner = "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'repl'"
    assert world.master.execute(owner).fetchone() == (stranger,)


# What is no table, and takes the name of one that is to be made.
SQUATTED = {
    "an index": "CREATE TABLE theirs (id int); CREATE INDEX sluice_ranges ON theirs (id)",
    "a composite type": "CREATE TYPE sluice_loaded AS (a int)",
    "an enum": "CREATE TYPE sluice_position AS ENUM ('a')",
    "a domain": "CREATE DOMAIN sluice_indexes AS int",
    "a view": "CREATE VIEW sluice_references AS SELECT 1 AS one",
}


@pytest.mark.full(but=["an index", "an enum", "a view"])
@pytest.mark.parametrize("what", SQUATTED)
def test_a_name_of_ours_that_somebody_else_has_given_away_is_told_with_how_to_free_it(world, stranger, what):
    slave = world.reader("zurich")
    slave.execute(f"GRANT CREATE ON SCHEMA public TO {stranger}")
    with world.session("zurich") as session:
        session.execute(f"SET ROLE {stranger}; {SQUATTED[what]}")
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    with pytest.raises(SluiceError) as refused:
        world.drain()
    assert refused.value.code == 291
    assert stranger in refused.value.fact
    slave.execute(said(refused.value) if what != "a view" else "DROP VIEW sluice_references")
    world.catch_up()
    assert world.differences() == {}


def test_a_source_in_public_goes_on_unless_somebody_else_owns_that(build):
    world = build(DDL, ["public.t"], source={"schema": "public"})
    with estranged(world) as stranger:
        # Whoever owns a schema may drop what is in it.
        world.master.execute(f"ALTER SCHEMA public OWNER TO {stranger}")
        with pytest.raises(SluiceError, match=f"others may make things in the schema public .*: {stranger}") as refused:
            world.publish()
        assert refused.value.code == 291
        assert "others may make things in the schema" in refused.value.fact
        world.master.execute(said(refused.value))
    (fine,) = found(world)
    assert "others may make things" not in fine
    world.master.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    (warned,) = found(world)
    assert "others may make things in the schema public of the DbResources (PUBLIC)" in warned
    world.publish()
