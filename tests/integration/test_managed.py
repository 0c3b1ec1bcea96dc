"""Administrators who are no superusers, as those of clouds: the scripts of `grants` work for them, and work again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from support.managed import SLOTS_BY_ROLE
from support.world import SOURCE

from sluice.capture.grants import grants, slave_grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import ConfigError, SluiceError
from sluice.monitor.check import findings
from sluice.state.replication import ReplicationEvent
from sluice.store import removal, replications
from sluice.vendors.postgresql.leftovers import of_source

pytestmark = [pytest.mark.postgres]

DDL = 'CREATE TABLE "Größe" (id int PRIMARY KEY, v text); CREATE SCHEMA sluice'
SLAVE = {"schema": "for sluice", "adopt": ["public.Größe"]}
ROLES = """
CREATE ROLE {owner}; GRANT {owner} TO {admin}; GRANT USAGE, CREATE ON SCHEMA public TO {owner};
CREATE ROLE {role} LOGIN PASSWORD 'canary'; GRANT CONNECT ON DATABASE {database} TO {role}
"""


def give(world, managed, name):
    """Give a database's connection to a role that may do nothing; the administrator of the database, and the names."""
    admin = world.infos[name]
    names = {"owner": f"Owner {admin.login}", "role": f"Role {admin.login}"}
    names |= {"admin": admin.login, "database": admin.database}
    world.names = {key: sql.Identifier(text) for key, text in names.items()}
    execute(world, name, ROLES)
    world.infos[name] = replace(admin, login=names["role"], password="canary")
    world.context.connections[name] = world.infos[name]
    return admin


def execute(world, name, statements):
    """Statements of the administrator."""
    world.reader(name).execute(sql.SQL(statements).format(**world.names))


@pytest.fixture
def world(build, managed):
    """A source of which nothing is captured yet, whose tables belong to its administrator."""
    world = build(DDL, ["public.*"], source={"schema": "sluice"}, elsewhere={"master": managed})
    cleanup(world.context, SOURCE)
    removal.note_returned(world.context.store, SOURCE)
    world.reader("master").execute("DROP SCHEMA sluice")
    world.admin = give(world, managed, "master")
    world.run = lambda: managed.run(world.admin, grants(world.context, SOURCE))
    world.superuser = managed.cluster.admin(world.admin.database)
    yield world
    world.superuser.close()


def capture(world):
    """Capture and publish a row."""
    bootstrap(world.context, SOURCE)
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.master.execute("""INSERT INTO "Größe" VALUES (1, 'a')""")
    world.publish()
    world.drain()
    assert world.rows("zurich", "public.Größe").total() == 1


def expect_unseen(world):
    """The script goes through again, but event triggers are a superuser's here."""
    said = world.run()
    assert "ERROR" not in said
    assert "WARNING:  no event triggers were made: permission denied to create event trigger" in said
    left = "SELECT FROM pg_roles WHERE starts_with(rolname, %s) AND rolname ~ '_ddl$'"
    assert not world.superuser.execute(left, [f"Role {world.admin.login}"]).fetchall()


def test_the_administrator_gives_a_role_the_rights_on_tables_of_another(world):
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    assert world.run() == ""
    capture(world)
    expect_unseen(world)


def test_tables_of_the_administrator_are_captured_by_his_login(world):
    said = world.run()
    assert "has CREATEROLE" in said
    assert "HINT:  nothing was granted. Simplest is a connection whose login is " in said
    world.context.connections["master"] = world.admin
    assert world.run() == ""
    capture(world)
    expect_unseen(world)


def test_membership_is_offered_where_it_can_be_given_and_taken_where_it_was(world, managed):
    said = world.run()
    grant = f'GRANT {world.admin.login} TO "Role {world.admin.login}";'
    offered = f"Or make the role a member, with all that {world.admin.login} may do, and run the script again: {grant}"
    if world.master.info.server_version < 160000:
        assert offered in said
        world.master.execute(grant.encode())
        assert "WARNING" in world.run()
        capture(world)
        for _ in range(2):
            said = run_as_where_it_may(world, managed, world.admin)
            assert (said.count("WARNING"), "is a member of" in said) == (1, True)
        (told,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        assert "DDL is seen as it happens" in told
    else:
        assert offered not in said
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            world.master.execute(grant.encode())


def test_the_last_way_of_the_hint_can_be_typed_by_the_administrator(world):
    said = world.run()
    world.master.execute(said.partition("ordinary role")[2].partition("again: ")[2].splitlines()[0].encode())
    assert world.run() == ""
    capture(world)


def test_the_administrator_gives_a_slaves_role_its_rights_in_a_schema_that_is_not_there(build, managed):
    world = build(DDL, ["public.*"], elsewhere={"zurich": managed}, slave=SLAVE)
    admin = give(world, managed, "zurich")
    execute(world, "zurich", 'DROP SCHEMA IF EXISTS "for sluice" CASCADE')
    execute(world, "zurich", 'ALTER TABLE "Größe" OWNER TO {owner}')
    world.configure(lambda settings: None)
    for _ in range(2):
        assert managed.run(admin, slave_grants(world.context, "zurich", silent=False)) == ""
        world.context.slave(world.pair("zurich")).install()
    log = Path(managed.cluster.service().log)
    told = log.stat().st_size
    capture(world)
    assert [one.good for one in findings(world.context) if "which the role cannot silence" in one.text] == [True]
    assert b"permission denied" not in log.read_bytes()[told:]
    said = managed.run(admin, slave_grants(world.context, "zurich", silent=True))
    assert "WARNING:  permission denied for parameter session_replication_role" in said
    assert "triggers or references of their own are refused" in said


EVENTS = re.compile(r"\b(?:CREATE|ALTER|DROP) EVENT TRIGGER [^;]*")


def run_as_where_it_may(world, managed, admin):
    """Run the script as where an administrator may make event triggers: here a superuser makes these alone."""
    script = grants(world.context, SOURCE)
    made = EVENTS.findall(script)
    assert len(made) == 1 + 3 * 6
    said = managed.run(admin, EVENTS.sub("NULL", script))
    if "ERROR" not in said:
        world.superuser.execute(";".join(made[1:]).encode())
    return said


def test_an_administrator_who_may_make_event_triggers_makes_them_again_and_again(world, managed):
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    assert world.run() == ""
    bootstrap(world.context, SOURCE)
    for _ in range(2):
        assert run_as_where_it_may(world, managed, world.admin) == ""
        (told,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        assert "DDL is seen as it happens" in told
    keeper = f"Role {world.admin.login}_ddl"
    owners = "SELECT DISTINCT proowner::regrole::text FROM pg_proc WHERE prorettype = 'event_trigger'::regtype"
    assert (f'"{keeper}"',) in world.superuser.execute(f"{owners} AND pronamespace = 'sluice'::regnamespace").fetchall()
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        world._servers["master"].connect(world.infos["master"]) as weak,
    ):
        weak.execute("ALTER FUNCTION sluice.repl_altered() SECURITY INVOKER")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.master.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(keeper)))
    other = sql.Identifier(f"Other {world.admin.login}")
    # Who made the role may join it, and goes on; nobody else may.
    world.master.execute(sql.SQL("GRANT {} TO {admin}").format(sql.Identifier(keeper), **world.names))
    assert run_as_where_it_may(world, managed, world.admin) == ""
    world.master.execute(
        sql.SQL("CREATE ROLE {other}; GRANT {} TO {other}").format(sql.Identifier(keeper), other=other)
    )
    said = run_as_where_it_may(world, managed, world.admin)
    assert f'ERROR:  the role "{keeper}" is there, and "Other {world.admin.login}" is a member of it' in said
    world.master.execute(sql.SQL("DROP ROLE {}").format(other))
    assert run_as_where_it_may(world, managed, world.admin) == ""


def test_event_triggers_of_one_administrator_stay_where_another_runs_the_script(world, managed):
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    assert world.run() == ""
    bootstrap(world.context, SOURCE)
    assert run_as_where_it_may(world, managed, world.admin) == ""
    second = replace(world.admin, login=f"Second {world.admin.login}", password="canary")
    names = {**world.names, "second": sql.Identifier(second.login)}
    world.superuser.execute(
        sql.SQL("CREATE ROLE {second} LOGIN CREATEROLE PASSWORD 'canary'; GRANT {owner}, {role} TO {second}").format(
            **names
        )
    )
    # Here superusers alone can own one, and so a catalog says what a provider allows.
    world.superuser.execute("SET allow_system_table_mods = on")
    world.superuser.execute(
        sql.SQL("UPDATE pg_event_trigger SET evtowner = {}::regrole").format(sql.Literal(f'"{world.admin.login}"'))
    )
    said = run_as_where_it_may(world, managed, second)
    assert "ERROR" not in said
    if world.master.info.server_version >= 160000:
        role = f'"Role {world.admin.login}_ddl"'
        assert f"no event triggers were made: only {world.admin.login} may make them for the role {role}" in said
    (told,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert "DDL is seen as it happens" in told
    world.superuser.execute(sql.SQL("DROP OWNED BY {second} CASCADE; DROP ROLE {second}").format(**names))


def test_a_right_that_cannot_be_given_is_told_and_takes_no_other_away(world):
    more = {"capture": "log", "verification": {"max_active": 5}}
    world.configure(lambda settings: settings["sources"][SOURCE].update(more))
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    said = world.run()
    assert "ERROR" not in said
    assert "without REPLICATION the log cannot be read" in said
    newest = world.master.info.server_version >= 160000
    assert ("`bootstrap` waits longer" in said) == newest
    assert ("`max_active` is refused" in said) == newest
    right = "SELECT has_database_privilege(%s, current_database(), 'CREATE')"
    assert world.superuser.execute(right, [world.infos["master"].login]).fetchone() == (True,)


@pytest.fixture
def provided(world):
    """A role that gives REPLICATION, as Amazon has it: the administrator may grant it."""
    world.superuser.execute("CREATE ROLE rds_replication")
    world.superuser.execute(sql.SQL("GRANT rds_replication TO {admin} WITH ADMIN OPTION").format(**world.names))
    yield
    world.superuser.execute("DROP ROLE rds_replication")


@pytest.mark.usefixtures("provided")
def test_where_replication_is_given_by_a_role_the_script_grants_that_and_what_it_allows_is_tried(world, managed):
    """This server asks for the attribute, whatever the role is a member of, and so `check` says."""
    world.configure(lambda settings: settings["sources"][SOURCE].update(capture="log"))
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    for _ in range(2):
        said = world.run()
        assert "ERROR" not in said
        assert "NOTICE" not in said
        assert "REPLICATION" not in said
    log = Path(managed.cluster.service().log)
    told = log.stat().st_size
    (found,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert "the role lacks REPLICATION: let an administrator run the script" in found
    assert b"ERROR" not in log.read_bytes()[told:]
    left = of_source(world.infos["master"], world.context.source(SOURCE).capture.resources, [], [])
    assert [one.statement for one in left if "log" in one.what] == [
        f'REVOKE rds_replication FROM "Role {world.admin.login}"'
    ]


@pytest.mark.usefixtures("provided")
def test_where_members_of_a_role_may_use_slots_the_log_is_read(world, managed):
    """As on Amazon: nobody here has the attribute REPLICATION."""
    world.superuser.execute(SLOTS_BY_ROLE)
    world.configure(lambda settings: settings["sources"][SOURCE].update(capture="log"))
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    with pytest.raises(ConfigError, match="the role lacks REPLICATION, CREATE on the database"):
        bootstrap(world.context, SOURCE)
    assert "REPLICATION" not in world.run()
    bootstrap(world.context, SOURCE)
    run_as_where_it_may(world, managed, world.admin)
    capture(world)
    attribute = "SELECT rolreplication FROM pg_roles WHERE rolname = ANY (%s)"
    names = [world.admin.login, world.infos["master"].login]
    assert world.superuser.execute(attribute, [names]).fetchall() == [(False,), (False,)]
    with pytest.raises(SluiceError, match="somebody else made the event triggers") as caught:
        cleanup(world.context, SOURCE)
    world.superuser.execute(caught.value.hint.partition("in this database: ")[2])
    assert any(one.startswith("SLOT") for one in cleanup(world.context, SOURCE))


def test_an_administrator_who_has_replication_gives_it_and_the_log_is_read(world, managed):
    world.configure(lambda settings: settings["sources"][SOURCE].update(capture="log"))
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    # Before 16 a superuser gives it, or whatever a provider has in his place.
    has = "role" if world.master.info.server_version < 160000 else "admin"
    world.superuser.execute(sql.SQL(f"ALTER ROLE {{{has}}} REPLICATION").format(**world.names))
    assert "REPLICATION" not in world.run()
    bootstrap(world.context, SOURCE)
    run_as_where_it_may(world, managed, world.admin)
    capture(world)
    execute(world, "master", 'SET ROLE {owner}; ALTER TABLE "Größe" ADD day date; RESET ROLE')
    world.catch_up()
    assert [change["action"] for change in world.log()] == ["I", "A"]
