"""A function that a slave trusts by its name is that of those who may be trusted, whatever others call theirs (R7)."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

# What it does on the slave leaves a trace; on the master it does nothing.
PLANTED = """
CREATE FUNCTION {name}({type}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    IF to_regclass('public.planted') IS NOT NULL THEN PERFORM nextval('public.planted'); END IF;
    RETURN true;
END $$
"""


@pytest.fixture
def world(updating):
    made = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.*"])
    made.reader("zurich").execute("CREATE SEQUENCE planted; GRANT ALL ON planted TO PUBLIC")
    return made


@pytest.fixture
def stranger(world):
    """A role that may make things in `public` of the slave, and no more."""
    name = f"stranger_{world.infos['zurich'].database}"
    slave = world.reader("zurich")
    slave.execute(f"CREATE ROLE {name}; GRANT CREATE ON SCHEMA public TO {name}")
    yield name
    slave.execute(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")


def test_an_operator_whose_owner_could_exchange_it_is_asked_about_whatever_it_calls_now(world, stranger):
    slave = world.reader("zurich")
    make = "CREATE OPERATOR public.=== (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int)"
    world.master.execute(make)
    slave.execute(f"SET ROLE {stranger}; {make}; RESET ROLE")
    world.master.execute("CREATE TABLE a (id int CHECK (id OPERATOR(public.===) id)); INSERT INTO a VALUES (1)")
    with pytest.raises(SluiceError, match=rf"SLC-320: .*the operator public\.=== of {stranger}"):
        world.inhibit("zurich")
    slave.execute(f"DROP OPERATOR public.=== (int, int); {make}")
    world.update("zurich")
    assert world.rows("zurich", "public.a") == world.rows("master", "public.a")


def test_another_function_of_a_trusted_name_is_asked_about_unless_it_belongs_to_who_may_be_trusted(world, stranger):
    slave = world.reader("zurich")
    world.configure(lambda settings: settings["slaves"]["zurich"].update(trusts=["public.fine"]))
    for kind in ("int", "text"):
        world.master.execute(PLANTED.format(name="public.fine", type=kind))
    slave.execute(PLANTED.format(name="public.fine", type="int"))
    slave.execute(f"SET ROLE {stranger};{PLANTED.format(name='public.fine', type='text')}; RESET ROLE")
    world.master.execute("CREATE TABLE a (id int CHECK (fine(id))); INSERT INTO a VALUES (1)")
    world.update("zurich")
    assert world.rows("zurich", "public.a") == world.rows("master", "public.a")
    world.master.execute("CREATE TABLE b (id int CHECK (fine(id::text))); INSERT INTO b VALUES (1)")
    slave.execute("ALTER SEQUENCE planted RESTART")
    with pytest.raises(SluiceError, match=rf"SLC-320: .*calls public\.fine of {stranger}"):
        world.inhibit("zurich", force=True)
    assert slave.execute("SELECT is_called FROM planted").fetchone() == (False,)
    # Whoever owns the schema could put his own in the place of any.
    slave.execute(f"ALTER SCHEMA public OWNER TO {stranger}")
    world.inhibit("zurich", force=True)
    world.dump("zurich")
    assert world.rows("zurich", "public.b") == world.rows("master", "public.b")
    slave.execute("ALTER SCHEMA public OWNER TO pg_database_owner")
