"""A role that may do nothing fills a slave again and again with what `grants --slave` gives it, and not with less."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from psycopg import sql
from support.world import SOURCE

from sluice.capture.grants import slave_grants
from sluice.cli.parser import main
from sluice.errors import SluiceError
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE region (id int PRIMARY KEY, name text);
CREATE TABLE city (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, region int REFERENCES region ON DELETE CASCADE);
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE later (id serial PRIMARY KEY, colour colour);
INSERT INTO region SELECT g, 'r' || g FROM generate_series(1, 40) AS g;
INSERT INTO city (region) SELECT 1 + g % 40 FROM generate_series(1, 300) AS g;
INSERT INTO later (colour) VALUES ('red');
"""
# On a hardened server: what everybody may do elsewhere, nobody may.
HARDENED = """
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER DATABASE {database} OWNER TO {admin};
ALTER SCHEMA public OWNER TO {admin};
CREATE SCHEMA "The branch";
CREATE TABLE "The branch".city (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, region int, own text);
ALTER TABLE "The branch".city OWNER TO {owner};
GRANT USAGE ON SCHEMA "The branch" TO {owner};
"""
CITY = sql.Identifier("The branch", "city")


@pytest.fixture
def world(updating, server):
    """The slave's database belongs to a superuser, one of its tables to an application, and its connection to a role
    that has no right at all."""
    world = updating(DDL, ["public.*"], {}, slaves=["zurich"])
    world.configure(
        lambda settings: settings["slaves"]["zurich"].update(
            schema="for sluice", schemas={"public": "The branch"}, adopt=["The branch.city"]
        )
    )
    world.renamed = {"zurich": {"public": "The branch"}}
    info = world.infos["zurich"]
    world.database, world.role = info.database, f"Role {info.database}"
    world.names = {
        name: sql.Identifier(text)
        for name, text in (
            ("database", info.database),
            ("admin", info.login),
            ("owner", f"Owner {info.database}"),
            ("role", world.role),
        )
    }
    world.admin = server.cluster.admin(info.database)
    world.admin.execute(
        sql.SQL("CREATE ROLE {owner}; CREATE ROLE {role} LOGIN PASSWORD 'canary'").format(**world.names)
    )
    world.admin.execute(sql.SQL(HARDENED).format(**world.names))
    world.infos["zurich"] = replace(info, login=world.role, password="canary")
    world.configure(lambda settings: None)
    yield world
    world.admin.close()


def run(world, server, **how):
    """Run the script as its reader does; what psql said."""
    script = f"{slave_grants(world.context, 'zurich', **{'silent': False, **how})};\n"
    psql = [server.cluster.bin / "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    done = subprocess.run(
        [*psql, server.cluster.admin_dsn(world.database)], input=script, capture_output=True, text=True, check=False
    )
    assert "canary" not in script
    return done.stderr


def fill_by_force(world):
    world.inhibit(force=True)
    world.dump()
    world.release()
    world.master.execute("UPDATE region SET name = name || '+'")
    world.publish()
    world.drain()


def fill(world):
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}


@pytest.mark.full(but=["silent"])
@pytest.mark.parametrize("silent", [False, True], ids=["references only check", "silent"])
def test_a_role_with_these_rights_fills_a_slave_twice_and_follows(world, server, silent):
    with pytest.raises(SluiceError, match=r"SLC-03[13].*permission denied"):
        world.context.slave(world.pair("zurich")).install()
    for _ in range(2):
        assert run(world, server, silent=silent) == ""
    if not silent:
        world.admin.execute('ALTER TABLE "The branch".city ALTER region TYPE bigint')
    world.update()
    world.end_update()
    world.master.execute("DELETE FROM region WHERE id < 9; INSERT INTO region VALUES (100); TRUNCATE later")
    world.master.execute(
        "CREATE TABLE new (id int PRIMARY KEY, city int REFERENCES city); INSERT INTO new VALUES (1, 300)"
    )
    world.master.execute("ALTER TABLE later RENAME TO latest; ALTER TABLE city ADD day date DEFAULT '2013-01-01'")
    world.catch_up()
    assert world.rows("zurich", "public.new") == world.rows("master", "public.new")
    assert run(world, server, silent=silent) == ""
    fill(world)
    (said,) = (one for one in findings(world.context) if one.subject == "slave zurich")
    assert said.good
    assert ("stay silent" in said.text) == silent
    more = "rolsuper OR rolcreaterole OR rolcreatedb OR has_database_privilege(rolname, current_database(), 'CREATE')"
    assert world.admin.execute(f"SELECT {more} FROM pg_roles WHERE rolname = %s", [world.role]).fetchone() == (False,)


# The right that is taken away. Those to make tables come first, since some of these stay.
RIGHTS = {
    "to connect": "REVOKE CONNECT ON DATABASE {database} FROM {role}",
    "to make tables of ours": 'REVOKE CREATE ON SCHEMA "for sluice" FROM {role}',
    "to use the schema of ours": 'REVOKE USAGE ON SCHEMA "for sluice" FROM {role}',
    "to make tables": 'REVOKE CREATE ON SCHEMA "The branch" FROM {role}',
    "membership in an owner": "REVOKE {owner} FROM {role}",
    "to make temporary tables": "REVOKE TEMPORARY ON DATABASE {database} FROM {role}",
}


@pytest.mark.full
def test_each_right_is_needed_and_one_that_is_missing_is_told(world, server):
    for right, revoke in RIGHTS.items():
        assert run(world, server) == ""
        world.admin.execute(sql.SQL(revoke).format(**world.names))
        with pytest.raises(SluiceError, match=r"SLC-033: .*(permission denied|must be owner)") as caught:
            fill_by_force(world)
        assert "./sluice grants SLAVE --slave" in str(caught.value), right
    assert run(world, server) == ""
    fill_by_force(world)
    assert world.verify(initial=True) == {"zurich": 0}


MORE = {
    "superuser": ("ALTER ROLE {owner} SUPERUSER", "superuser"),
    "runs programs": ("GRANT pg_execute_server_program TO {owner}", "pg_execute_server_program"),
}


@pytest.mark.full
@pytest.mark.parametrize(("more", "said"), MORE.values(), ids=MORE)
def test_an_owner_with_more_than_rights_on_tables_is_not_granted(world, server, more, said):
    world.admin.execute(sql.SQL(more).format(**world.names))
    told = run(world, server)
    assert said in told
    assert "HINT:  nothing was granted" in told
    member = world.admin.execute("SELECT pg_has_role(%s, %s, 'MEMBER')", [world.role, f"Owner {world.database}"])
    assert member.fetchone() == (False,)
    world.admin.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(CITY, world.names["role"]))
    assert run(world, server) == ""
    fill(world)


def test_what_cannot_be_granted_is_told(world, server, tmp_path, capsys):
    world.infos["zurich"] = replace(world.infos["zurich"], login="nobody's")
    world.configure(lambda settings: None)
    assert 'CREATE ROLE "nobody\'s" LOGIN' in run(world, server)
    world.configure(lambda settings: settings["slaves"]["zurich"].update(vendor="parquet"))
    with pytest.raises(SluiceError, match=r"SLC-468: .*no script of grants"):
        slave_grants(world.context, "zurich", silent=False)
    with pytest.raises(SystemExit):
        main(["grants", SOURCE, "--silent-triggers"])
    assert "needs --slave" in capsys.readouterr().err
