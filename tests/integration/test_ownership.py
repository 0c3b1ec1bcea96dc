"""What is ours in other people's databases is ours alone, or nothing is done with it."""

from __future__ import annotations

import re
from contextlib import contextmanager

import pytest
from psycopg.errors import InsufficientPrivilege
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import SluiceError
from sluice.monitor.check import findings
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY)"


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
    return re.search(r"say: (.*?)\. (Then|Or|A) ", error.hint)[1]


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
    "CREATE for all": (292, "GRANT CREATE ON SCHEMA repl TO PUBLIC"),
    "CREATE for one": (292, "GRANT CREATE ON SCHEMA repl TO {0}"),
    "a schema that somebody else owns": (292, "ALTER SCHEMA repl OWNER TO {0}"),
}


def test_what_others_could_change_is_refused_by_each_job_until_it_is_put_right(world, stranger):
    for what, (code, change) in STRANGE.items():
        world.master.execute(change.format(stranger))
        for job in (world.publish, lambda: bootstrap(world.context, SOURCE)):
            with pytest.raises(SluiceError) as refused:
                job()
            assert refused.value.code == code, what
        assert f"SLC-{code}" in "".join(found(world)), what
        world.master.execute(said(refused.value))
        if what.startswith("a table"):
            # It may have checks, defaults and policies of others: it is not taken over.
            owned = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'not_ours_repl_queue'"
            assert world.master.execute(owned).fetchall() == [(stranger,)]
        bootstrap(world.context, SOURCE, recreate_triggers=True)
        world.publish()


IN_SLAVE = {
    "a table that somebody else owns": "ALTER TABLE sluice_references OWNER TO {0}",
    "the position, that somebody else owns": "ALTER TABLE sluice_position OWNER TO {0}",
    "a trigger": "CREATE TRIGGER z BEFORE UPDATE ON sluice_loaded FOR EACH ROW EXECUTE FUNCTION away.f()",
    "a rule": "CREATE RULE r AS ON UPDATE TO sluice_ranges DO INSTEAD NOTHING",
}


def test_a_drain_refuses_tables_of_ours_that_others_could_change(world, stranger):
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    slave = world.reader("zurich")
    slave.execute("CREATE FUNCTION away.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
    for what, change in IN_SLAVE.items():
        slave.execute(change.format(stranger))
        with pytest.raises(SluiceError) as refused:
            world.drain()
        assert refused.value.code == 293, what
        slave.execute(said(refused.value))
    world.catch_up()
    assert world.differences() == {}


def test_a_source_that_was_installed_in_public_is_told_what_to_write(build):
    world = build(DDL, ["public.t"], source={"schema": "public"})
    world.master.execute("INSERT INTO t VALUES (1)")
    world.configure(lambda plain: plain["sources"][SOURCE].pop("schema"))
    for job in (world.publish, lambda: bootstrap(world.context, SOURCE), lambda: cleanup(world.context, SOURCE)):
        with pytest.raises(SluiceError, match="in the schema public") as refused:
            job()
        assert refused.value.code == 290
    assert world.status("zurich") is Status.NORMAL
    assert world.master.execute("SELECT to_regnamespace('repl')").fetchone() == (None,)
    world.configure(lambda plain: plain["sources"][SOURCE].update(schema="public"))
    world.catch_up()
    assert world.differences() == {}
    with estranged(world) as stranger:
        # Whoever owns a schema may drop what is in it.
        world.master.execute(f"ALTER SCHEMA public OWNER TO {stranger}")
        with pytest.raises(SluiceError, match=f"others may make things in the schema public .*: {stranger}") as refused:
            world.publish()
        assert refused.value.code == 292
        world.master.execute(said(refused.value))
    (fine,) = found(world)
    assert "others may make things" not in fine
    world.master.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    (warned,) = found(world)
    assert "others may make things in the schema public of the DbResources (PUBLIC)" in warned
    world.publish()
