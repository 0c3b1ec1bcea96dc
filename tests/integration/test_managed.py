"""Administrators who are no superusers, as those of clouds: the scripts of `grants` work for them, and work again."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from support.world import SOURCE

from sluice.capture.grants import grants, slave_grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = 'CREATE TABLE "Größe" (id int PRIMARY KEY, v text); CREATE SCHEMA sluice'
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
    world.reader("master").execute("DROP SCHEMA sluice")
    world.admin = give(world, managed, "master")
    world.run = lambda: managed.run(world.admin, grants(world.context, SOURCE))
    return world


def capture(world):
    """Capture and publish a row."""
    bootstrap(world.context, SOURCE)
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.master.execute("""INSERT INTO "Größe" VALUES (1, 'a')""")
    world.publish()
    world.drain()
    assert world.rows("zurich", "public.Größe").total() == 1


def test_the_administrator_gives_a_role_the_rights_on_tables_of_another(world):
    execute(world, "master", 'ALTER TABLE "Größe" OWNER TO {owner}')
    assert world.run() == ""
    capture(world)


def test_tables_of_the_administrator_are_captured_by_his_login(world):
    said = world.run()
    assert "has CREATEROLE" in said
    assert "HINT:  nothing was granted. Simplest is a connection whose login is " in said
    world.context.connections["master"] = world.admin
    assert world.run() == ""
    capture(world)


def test_membership_is_offered_where_it_can_be_given_and_taken_where_it_was(world):
    said = world.run()
    grant = f'GRANT {world.admin.login} TO "Role {world.admin.login}";'
    offered = f"Or make the role a member, with all that {world.admin.login} may do, and run the script again: {grant}"
    if world.master.info.server_version < 160000:
        assert offered in said
        world.master.execute(grant.encode())
        assert "WARNING" in world.run()
        capture(world)
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
    world = build(DDL, ["public.*"], elsewhere={"zurich": managed}, slave={"schema": "for sluice"})
    admin = give(world, managed, "zurich")
    execute(world, "zurich", 'DROP SCHEMA IF EXISTS "for sluice" CASCADE')
    execute(world, "zurich", 'ALTER TABLE "Größe" OWNER TO {owner}')
    world.configure(lambda settings: None)
    for _ in range(2):
        assert managed.run(admin, slave_grants(world.context, "zurich", silent=False)) == ""
        world.context.slave(world.pair("zurich")).install()
