"""A function that a slave trusts by its name is that of those who may be trusted, whatever others call theirs (R7)."""

from __future__ import annotations

import pytest

from sluice.drain.step import drain_of
from sluice.errors import SluiceError, TransientError
from sluice.store import leases

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


def adopt(world):
    """Take tables and types of others as they are; what they call is another question."""
    world.configure(lambda settings: settings["slaves"]["zurich"].update(adopt=["public.*"]))


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


@pytest.mark.full(but=["a default"])
@pytest.mark.parametrize(
    "columns",
    [
        pytest.param("h hue CHECK (h = 'red')", id="an operator that a cast could change"),
        pytest.param("h hue, b text DEFAULT 'red'::hue::text", id="a default"),
        pytest.param("h hue, CHECK (to_jsonb(ROW(ROW(h))) IS NOT NULL)", id="JSON"),
    ],
)
def test_casts_whose_type_belongs_to_others_are_asked_about_since_they_could_be_exchanged(world, stranger, columns):
    slave = world.reader("zurich")
    adopt(world)
    make = """CREATE TYPE public.hue AS ENUM ('red');
        CREATE FUNCTION public.texts(public.hue[]) RETURNS text[] LANGUAGE sql IMMUTABLE RETURN ARRAY['red'];
        CREATE CAST (public.hue[] AS text[]) WITH FUNCTION public.texts(public.hue[]) AS ASSIGNMENT"""
    world.master.execute(make)
    slave.execute(f"SET ROLE {stranger}; CREATE TYPE public.hue AS ENUM ('red'); RESET ROLE")
    world.master.execute(f"CREATE TABLE a (id int PRIMARY KEY, {columns}); INSERT INTO a (id, h) VALUES (1, 'red')")
    with pytest.raises(SluiceError, match=rf"SLC-320: .*casts of the type public\.hue of {stranger}"):
        world.inhibit("zurich")
    slave.execute(f"DROP TYPE hue; {make}")
    world.configure(lambda settings: settings["slaves"]["zurich"].update(trusts=["public.texts"]))
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


@pytest.mark.full(but=["a table"])
@pytest.mark.parametrize(
    ("there", "hidden", "made"),
    [
        pytest.param(
            "TABLE public.a (id int)", "TABLE public.a RENAME TO aside", "id int, CHECK (public.fires(1))", id="a table"
        ),
        pytest.param("DOMAIN public.d AS int", "DOMAIN public.d RENAME TO aside", "id d", id="a type"),
    ],
)
def test_what_somebody_takes_away_after_it_was_looked_at_is_not_made_unseen(
    world, stranger, monkeypatch, there, hidden, made
):
    reader, pair = world.reader("zurich"), world.pair("zurich")
    adopt(world)
    reader.execute(f"SET ROLE {stranger}; CREATE {there}; RESET ROLE")
    world.update("zurich")
    for server in (world.master, reader):
        server.execute(PLANTED.format(name="public.fires", type="int"))
    world.master.execute("CREATE DOMAIN d AS int CHECK (public.fires(VALUE))")
    world.master.execute(f"CREATE TABLE a ({made})")
    world.publish()
    slave = world.context.slave(pair, world.context.mapper(pair))
    look = slave.doubts

    def interrupted(command):
        found = look(command)
        reader.execute(f"ALTER {hidden}")
        return found

    monkeypatch.setattr(slave, "doubts", interrupted)
    drain = drain_of(world.context, pair, slave)
    try:
        drain.begin(leases.acquire(world.context.store, f"drain {pair}", force=True).epoch)
        with pytest.raises(TransientError, match=r"SLC-095: .*public\.[ad] "):
            drain.deliver()
    finally:
        drain.close()
        slave.close()
    assert reader.execute("SELECT is_called FROM planted").fetchone() == (False,)
