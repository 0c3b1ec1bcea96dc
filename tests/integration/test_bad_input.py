"""Bad input gets a clear error (code, fact, hint), and nothing is half done."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import replace

import pytest
from support.lasting import configured_anew, lasting
from support.places import reserve_port
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.store import leases
from sluice.store.engine import Store
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text); CREATE TABLE bare (a int, note text)"


@pytest.fixture
def world(build):
    return build(DDL, ["public.t", "public.bare"])


@pytest.fixture(scope="module")
def shared(server, tmp_path_factory):
    with lasting(server, tmp_path_factory.mktemp("bad_input"), DDL, ["public.t", "public.bare"]) as world:
        yield world


@pytest.fixture
def reached(shared):
    """A world whose databases nobody changes."""
    with configured_anew(shared):
        yield shared


def watch(world, **tables):
    """Let the configuration name other tables."""
    settings = {f"public.{name}": entry for name, entry in tables.items()}
    world.configure(lambda plain: plain["sources"][SOURCE].update(tables=settings))


def triggers(world):
    found = world.master.execute("SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal")
    return sorted(found.fetchall())


# What is watched instead; the error.
WATCHED = {
    "a trigger that fires too early": (
        {"t": {"trigger": "REPL_cap"}},
        41,
        "REPL_cap of public.t would fire before",
        "such as RI_z_REPL_cap",
    ),
    "a trigger's name that is too long": ({"t": {"trigger": "z" * 62}}, 41, "is too long", "61 bytes"),
    "a partition of a watched table": (
        {"whole": {}, "half": {}},
        477,
        "public.half is a partition of public.whole, which is watched already",
        "take public.half out",
    ),
    "a trigger of the table's own": ({"t": {"trigger": "zown"}}, 41, "has a trigger zown of its own", "another"),
}


def test_a_table_that_cannot_be_watched_changes_nothing(world):
    world.master.execute("CREATE TABLE more (id int)")
    world.master.execute("CREATE TABLE whole (id int) PARTITION BY LIST (id)")
    world.master.execute("CREATE TABLE half PARTITION OF whole DEFAULT")
    world.master.execute("CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    world.master.execute("CREATE TRIGGER zown AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION own()")
    before = triggers(world)
    for tables, code, fact, hint in WATCHED.values():
        watch(world, more={}, **tables)
        with pytest.raises(ConfigError) as caught:
            bootstrap(world.context, SOURCE)
        assert caught.value.code == code
        assert fact in caught.value.fact
        assert hint in caught.value.hint
        assert triggers(world) == before
    assert world.master.execute("SELECT count(*) FROM repl_tables WHERE tablename = 'more'").fetchone() == (0,)


def test_an_ordinary_prefix_folds_as_the_database_folds(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert world.master.execute("SELECT DB_ACTION FROM REPL_ITEMS").fetchall() == [("INSERT",)]


# How the connection is spoiled; the error; whether a retry may help.
CONNECTIONS = {
    "nobody listens": ({"port": 0}, 30, "connecting to 127.0.0.1:", "tries again", True),
    "wrong password": ({"password": "wrong-canary"}, 31, "password authentication failed", "login and password", False),
    "unknown role": ({"login": "nobody-here"}, 31, "authentication failed", "login and password", False),
    "unknown database": ({"database": "nowhere"}, 31, 'database "nowhere" does not exist', "database name", False),
}


def test_a_source_that_cannot_be_reached_says_why(reached):
    right = reached.infos["master"]
    for spoiled, code, fact, hint, transient in CONNECTIONS.values():
        given = {"port": reserve_port()} if "port" in spoiled else spoiled
        reached.context.connections["master"] = replace(right, **given)
        with pytest.raises(SluiceError) as caught:
            reached.publish()
        assert caught.value.code == code
        assert isinstance(caught.value, TransientError) is transient
        assert fact in caught.value.fact
        assert hint in caught.value.hint
        assert "canary" not in str(caught.value)


def test_why_a_login_is_refused_does_not_depend_on_the_words(reached):
    """A role whose very name speaks of a password; it has no connection left, which passes."""
    reached.master.execute("CREATE ROLE \"a password\" LOGIN PASSWORD 'canary' CONNECTION LIMIT 0")
    busy = replace(reached.infos["master"], login="a password", password="canary")
    for job, name, code in ((reached.publish, "master", 658), (reached.publish, "control", 60)):
        reached.configure(lambda plain: None)
        before, reached.context.connections[name] = reached.context.connections[name], busy
        with pytest.raises(TransientError) as caught:
            job()
        assert caught.value.code == code
        assert "too many connections" in caught.value.fact
        reached.context.connections[name] = before
    reached.master.execute('DROP ROLE "a password"')


@pytest.mark.parametrize(
    ("state", "code", "of_the_store"),
    [("28P01", 31, 31), ("28000", 31, 31), ("3D000", 31, 31), ("57P03", 30, 60), ("53300", 658, 60)],
)
def test_a_server_is_understood_in_any_language(state, code, of_the_store):
    """A server that greets everybody with an error, in words that tell nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=greet, args=(listening, state), daemon=True).start()
        abroad = ConnectionInfo("postgres", "127.0.0.1", listening.getsockname()[1], "there", "me", "secret")
        with pytest.raises(SluiceError) as caught:
            connect(abroad, "test")
        assert caught.value.code == code
        with pytest.raises(SluiceError) as caught, Store(abroad).begin():
            pass
        assert caught.value.code == of_the_store
        assert "the control store" in caught.value.fact
        assert isinstance(caught.value, TransientError) is (of_the_store == 60)


def greet(listening, state):
    """Answer each connection with one error."""
    fields = f'SSCHWERWIEGEND\0VFATAL\0C{state}\0Mnein, C "08006"\0\0'.encode()
    with contextlib.suppress(OSError):
        while True:
            client, _ = listening.accept()
            with client:
                while (size := int.from_bytes(client.recv(4), "big")) == 8:
                    client.recv(4)
                    client.sendall(b"N")
                client.recv(size)
                client.sendall(b"E" + (4 + len(fields)).to_bytes(4, "big") + fields)


def test_a_control_store_that_does_not_answer_is_transient(reached):
    reached.configure(lambda plain: None)
    reached.context.connections["control"] = replace(reached.infos["control"], port=reserve_port())
    with pytest.raises(TransientError, match=r"SLC-060: the control store does not answer"):
        reached.publish()


def test_a_control_store_that_refuses_the_login_is_not_asked_again_and_again(reached):
    for spoiled in ({"password": "wrong-canary"}, {"database": "nowhere"}, {"login": "nobody-here"}):
        reached.configure(lambda plain: None)
        reached.context.connections["control"] = replace(reached.infos["control"], **spoiled)
        with pytest.raises(SluiceError, match=r"SLC-031: the control store does not answer") as caught:
            reached.publish()
        assert not isinstance(caught.value, TransientError)
        assert "canary" not in str(caught.value)
        assert caught.value.hint.endswith("type: ./sluice connect control")


def test_a_connection_that_was_not_handed_over_is_named(reached):
    reached.context.connections.pop("zurich")
    with pytest.raises(ConfigError, match=r"SLC-014: there is no Airflow connection 'zurich'") as caught:
        reached.drain()
    assert "type: ./sluice connect zurich" in caught.value.hint


def test_a_slave_that_lacks_a_column_stops_where_it_is_and_goes_on_when_it_has_it(world):
    world.master.execute("INSERT INTO t VALUES (1, 'before')")
    world.catch_up()
    world.reader("zurich").execute("ALTER TABLE t DROP COLUMN note")
    world.master.execute("INSERT INTO bare VALUES (1, 'x'); INSERT INTO t VALUES (2, 'after')")
    world.publish()
    before = world.position()
    with pytest.raises(SluiceError, match=r"SLC-073: the slave's table public.t lacks the column note") as caught:
        world.drain()
    assert 'type on the slave: ALTER TABLE "public"."t" ADD COLUMN "note" text. Rows' in caught.value.hint
    assert "until an initial_update fills the table again" in caught.value.hint
    assert world.position() == before
    assert sum(world.rows("zurich", "public.bare").values()) == 0, "nothing of the batch is applied"
    world.reader("zurich").execute("ALTER TABLE t ADD COLUMN note text")
    activate(world)
    world.drain()
    assert sum(world.rows("zurich", "public.bare").values()) == 1


def test_a_slave_that_lacks_a_table_is_named(world):
    world.reader("zurich").execute("DROP TABLE t")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-070: the slave has no table public\.t") as caught:
        world.drain()
    assert "initial_update" in caught.value.hint


def test_a_table_without_a_primary_key_works(world):
    world.master.execute("INSERT INTO bare VALUES (1, NULL), (1, NULL), (2, ''), (2, 'x')")
    world.catch_up()
    world.master.execute("DELETE FROM bare WHERE ctid = (SELECT min(ctid) FROM bare WHERE a = 1)")
    world.master.execute("UPDATE bare SET note = NULL WHERE a = 2")
    world.catch_up()
    assert world.differences() == {}


def test_a_job_started_twice_leaves_the_first_alone(reached):
    for name, job in ((f"publish {SOURCE}", reached.publish), (f"drain {SOURCE}->zurich", reached.drain)):
        with leases.hold_lease(reached.context.store, name) as first:
            with pytest.raises(TransientError, match=rf"SLC-051: {name} is already being worked on by") as caught:
                job()
            assert "the other goes on" in caught.value.hint
            leases.renew(reached.context.store, first)
        job()


def test_errors_of_a_job_are_its_exit_code_and_its_last_words(reached):
    reached.path.mkdir(exist_ok=True)
    reached.infos["master"] = replace(reached.infos["master"], password="wrong-canary")
    refused = reached.job("publish", "--once")
    assert refused.returncode == 3
    assert "\nSLC-031: " in f"\n{refused.stderr}"
    assert refused.stderr.splitlines()[-1].startswith("HINT: fix login and password")
    assert "canary" not in refused.stderr + refused.stdout


def test_sessions_of_ours_are_known_by_name(reached):
    with connect(reached.infos["master"], "test") as session:
        assert session.execute("SELECT current_setting('application_name')").fetchone() == ("sluice test",)


def activate(world):
    """What unpausing the drain DAG does."""
    from sluice.state.dispatcher import Hold
    from sluice.store import replications

    replications.lift(world.context.store, world.pair("zurich"), Hold.EXCEPTION, "fixed")
