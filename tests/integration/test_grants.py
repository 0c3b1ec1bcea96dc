"""A role that is no superuser and owns nothing captures and publishes with what `grants` gives it, not with less."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from support.world import SOURCE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.monitor.check import findings
from sluice.monitor.status import as_table, statuses
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE SCHEMA "The shop"; CREATE SCHEMA sluice;
    CREATE TABLE "The shop"."Größe" (id int PRIMARY KEY DEFERRABLE, v text);
    CREATE TABLE "The shop".parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE "The shop".part PARTITION OF "The shop".parted FOR VALUES FROM (0) TO (1000)
"""


@pytest.fixture
def world(build, request):
    """The tables belong to one role, the source's connection is that of another, which has the rights of the script."""
    world = build(DDL, ["The shop.*"], source={"schema": "sluice", "capture": getattr(request, "param", "triggers")})
    cleanup(world.context, SOURCE)
    database = world.infos["master"].database
    world.owner, world.role = f"Owner {database}", f"sluice_{database}"
    execute = world.master.execute
    execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(world.owner)))
    execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'canary'").format(sql.Identifier(world.role)))
    execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(*map(sql.Identifier, (database, world.role))))
    for table in ("Größe", "parted", "part"):
        named = (sql.Identifier("The shop", table), sql.Identifier(world.owner))
        execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(*named))
    world.admin = world.infos["master"]
    world.context.connections["master"] = replace(world.infos["master"], login=world.role, password="canary")
    execute(grants(world.context, SOURCE).encode())
    return world


def test_the_name_of_a_table_ends_no_statement_of_the_script(world):
    name = sql.Identifier("The shop", f"x$grants$; ALTER ROLE {world.role} SUPERUSER; --")
    world.master.execute(sql.SQL("CREATE TABLE {} (id int PRIMARY KEY)").format(name))
    world.master.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(name, sql.Identifier(world.owner)))
    world.master.execute(grants(world.context, SOURCE).encode())
    assert world.master.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [world.role]).fetchone() == (False,)
    assert "$grants_$" in grants(world.context, SOURCE)


def test_a_role_with_these_rights_captures_publishes_and_cleans_up(world):
    assert len(bootstrap(world.context, SOURCE)["added"]) == 2
    world.master.execute("""INSERT INTO "The shop"."Größe" VALUES (1, 'a'); INSERT INTO "The shop".parted VALUES (2)""")
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.publish()
    world.drain()
    assert [change["action"] for change in world.log()] == ["I", "I", "C"]
    assert world.rows("zurich", "The shop.parted").total() == 1
    assert cleanup(world.context, SOURCE)


@pytest.mark.full
def test_a_role_with_these_rights_changes_over_to_the_log_and_back(world, server):
    bootstrap(world.context, SOURCE)
    # By now its event triggers can be made.
    world.master.execute(grants(world.context, SOURCE).encode())
    written = 'INSERT INTO "The shop".parted VALUES ({0}); INSERT INTO "The shop"."Größe" VALUES ({0})'
    for n, way in enumerate(("log", "triggers")):
        world.configure(lambda plain, way=way: plain["sources"][SOURCE].update(capture=way))
        world.master.execute(written.format(2 * n))
        world.master.execute(grants(world.context, SOURCE).encode())
        assert world.context.connection("master").login == world.role
        assert bootstrap(world.context, SOURCE)["changed_over"]
        world.master.execute(written.format(2 * n + 1))
        world.publish()
    assert [one["new"][0] for one in world.log() if one["action"] == "I"] == [*"00112233"]


def test_the_script_names_no_password_and_may_be_run_twice(world):
    script = grants(world.context, SOURCE)
    assert "canary" not in script
    world.master.execute(script.encode())


# What makes an owner of a table more than that, and no more; what the script says of it.
MORE = [
    ("ALTER ROLE {owner} SUPERUSER", "ALTER ROLE {owner} NOSUPERUSER", "superuser"),
    ("ALTER ROLE {owner} CREATEROLE", "ALTER ROLE {owner} NOCREATEROLE", "CREATEROLE"),
    ("ALTER ROLE {owner} BYPASSRLS", "ALTER ROLE {owner} NOBYPASSRLS", "BYPASSRLS"),
    ("ALTER ROLE {owner} REPLICATION", "ALTER ROLE {owner} NOREPLICATION", "REPLICATION"),
    (
        "GRANT pg_execute_server_program TO {owner}",
        "REVOKE pg_execute_server_program FROM {owner}",
        "pg_execute_server_program",
    ),
    ("CREATE ROLE {other} SUPERUSER; GRANT {other} TO {owner}", "DROP ROLE {other}", "superuser"),
]


@pytest.mark.full
def test_an_owner_with_more_than_rights_on_tables_is_not_granted(world, server):
    names = {"owner": sql.Identifier(world.owner), "role": sql.Identifier(world.role)}
    names |= {"other": sql.Identifier(f"other {world.owner}")}
    world.master.execute(sql.SQL("REVOKE {owner} FROM {role}").format(**names))
    script = grants(world.context, SOURCE).encode()
    for more, less, said in MORE:
        world.master.execute(sql.SQL(more).format(**names))
        with pytest.raises(psycopg.errors.RaiseException, match=said) as caught:
            world.master.execute(script)
        world.master.execute(sql.SQL(f"ROLLBACK; {less}").format(**names))
        diag = caught.value.diag
        assert '"The shop"."Größe"' in diag.message_primary
        assert "OWNER TO" in diag.message_hint
    world.master.execute(sql.SQL("ALTER ROLE {owner} SUPERUSER").format(**names))
    with pytest.raises(psycopg.errors.RaiseException) as caught:
        world.master.execute(script)
    world.master.execute("ROLLBACK")
    world.master.execute(caught.value.diag.message_hint.partition("again: ")[2].encode())
    world.master.execute(script)
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with server.connect(world.context.connections["master"]) as weak:
        weak.execute('TRUNCATE "The shop"."Größe", "The shop".parted')
        with refused:
            weak.execute(sql.SQL("SET ROLE {owner}").format(**names))


def test_a_role_that_may_do_what_its_owners_may_anyway_gets_its_rights(world):
    names = {"owner": sql.Identifier(world.owner), "role": sql.Identifier(world.role)}
    world.master.execute(sql.SQL("ALTER ROLE {owner} BYPASSRLS; ALTER ROLE {role} BYPASSRLS").format(**names))
    world.master.execute(grants(world.context, SOURCE).encode())


@pytest.mark.full
def test_check_remarks_on_a_role_that_can_become_a_superuser(world):
    bootstrap(world.context, SOURCE)
    can = f'the role can become a superuser, by SET ROLE: REVOKE "{world.owner}" FROM'
    for more in ("NOSUPERUSER", "SUPERUSER"):
        world.master.execute(sql.SQL("ALTER ROLE {} " + more).format(sql.Identifier(world.owner)))
        (told,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        assert (can in told) == (more == "SUPERUSER")


def test_event_triggers_that_a_superuser_makes_for_the_role_see_its_ddl(world):
    bootstrap(world.context, SOURCE)
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.master.execute(grants(world.context, SOURCE).encode())
    world.master.execute(grants(world.context, SOURCE).encode())
    (told,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert "DDL is seen as it happens" in told
    actions = "SELECT string_agg(left(db_action, 1), '' ORDER BY repl_key) FROM sluice.repl_queue"
    world.master.execute(
        sql.SQL('GRANT USAGE, CREATE ON SCHEMA "The shop" TO {0}; SET ROLE {0}').format(sql.Identifier(world.owner))
    )
    world.master.execute("""CREATE TABLE "The shop".later (id int); INSERT INTO "The shop".later VALUES (1);
        ALTER TABLE "The shop".parted ADD day date; INSERT INTO "The shop".parted VALUES (2, '2013-01-02');
        DROP TABLE "The shop".part; RESET ROLE""")
    assert world.master.execute(actions).fetchone() == ("NIAID",)
    world.publish()
    assert (bootstrap(world.context, SOURCE)["added"], world.status("zurich")) == ([], Status.NORMAL)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.master.execute(
            sql.SQL("SET ROLE {}; ALTER FUNCTION sluice.repl_altered() SECURITY INVOKER").format(
                sql.Identifier(world.role)
            )
        )
    with pytest.raises(SluiceError, match=rf"SLC-033: .*sluice.repl_altered.*{world.role} may not drop") as caught:
        cleanup(world.context, SOURCE)
    assert world.status("zurich") is Status.NORMAL
    world.master.execute(f"RESET ROLE; {caught.value.hint.rpartition(': ')[2]}".encode())
    world.master.execute("""ALTER TABLE "The shop".later RENAME TO latest""")
    world.publish()
    world.master.execute("""ALTER TABLE "The shop".latest ADD day date; SET datestyle = 'SQL, DMY';
        INSERT INTO "The shop".latest VALUES (2, '2013-01-02')""")
    world.publish()
    assert [change["new"] for change in world.log() if change["action"] == "I"][-1] == ["2", "2013-01-02"]
    assert cleanup(world.context, SOURCE)


# What is odd about a role that has the name which the keeper of the functions is to have.
KEEPERS = [
    ("CREATE ROLE {keeper}; GRANT {keeper} TO {owner}", "is a member of it"),
    ("CREATE ROLE {keeper} LOGIN", "more than a role without a login"),
    ("CREATE ROLE {keeper} CREATEROLE", "more than a role without a login"),
    ("CREATE ROLE {keeper}; GRANT {owner} TO {keeper}", "it is a member of"),
]


@pytest.mark.full
def test_a_role_that_somebody_else_could_use_owns_no_function_of_ours(world):
    bootstrap(world.context, SOURCE)
    names = {"keeper": sql.Identifier(f"{world.role}_ddl"), "owner": sql.Identifier(world.owner)}
    script = grants(world.context, SOURCE).encode()
    for made, said in KEEPERS:
        world.master.execute(sql.SQL(made).format(**names))
        with pytest.raises(psycopg.errors.RaiseException, match=said):
            world.master.execute(script)
        world.master.execute(sql.SQL("ROLLBACK; DROP ROLE {keeper}").format(**names))
    assert world.master.execute("SELECT count(*) FROM pg_event_trigger").fetchone() == (0,)


def test_event_triggers_of_another_version_are_told_until_a_superuser_makes_them_again(world):
    bootstrap(world.context, SOURCE)
    script = grants(world.context, SOURCE)
    world.master.execute(script.encode())
    world.master.execute(
        "CREATE OR REPLACE FUNCTION sluice.repl_dropper() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'"
    )

    def told():
        (found,) = [one.text for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        return found, as_table(statuses(world.context))

    for said in told():
        assert "its event triggers are those of another version of Sluice" in said
        assert f"./sluice grants {SOURCE}" in said
    world.master.execute(script.encode())
    for said in told():
        assert "event triggers" not in said


# The right that is taken away; what the error says.
RIGHTS = [
    ("CREATE ON SCHEMA sluice", "permission denied for schema"),
    ("USAGE ON SCHEMA sluice", "permission denied for schema"),
    ("CONNECT ON DATABASE {database}", "permission denied for database"),
    ("{owner}", "permission denied"),
]


def test_a_right_that_is_missing_is_told(world):
    names = {"role": sql.Identifier(world.role), "owner": sql.Identifier(world.owner)}
    names["database"] = sql.Identifier(world.infos["master"].database)
    for right, fact in RIGHTS:
        world.master.execute(sql.SQL(f"REVOKE {right} FROM {{role}}").format(**names))
        with pytest.raises(SluiceError, match=f"SLC-033.*{fact}") as caught:
            bootstrap(world.context, SOURCE)
        world.master.execute(sql.SQL(f"GRANT {right} TO {{role}}").format(**names))
        assert "./sluice grants" in caught.value.hint
    assert world.master.execute("SELECT to_regclass('sluice.repl_queue')").fetchone() == (None,)


# The right that is lost while all is at work; what changes meanwhile; whether the application's writes go on. They do
# not where nothing could be recorded any more: what is refused is not lost (R9).
LOST = {
    "to the queue": ("ALL ON sluice.repl_queue", "", False),
    "membership in the owner": ("{owner}", 'ALTER TABLE "The shop".parted ADD n int', True),
}


@pytest.mark.full
@pytest.mark.parametrize(("right", "change", "writes"), LOST.values(), ids=LOST)
def test_a_right_that_is_lost_later_stops_publishing_and_all_goes_on_when_it_is_back(
    world, server, right, change, writes
):
    bootstrap(world.context, SOURCE)
    world.master.execute('INSERT INTO "The shop".parted VALUES (2)')
    names = {"role": sql.Identifier(world.role), "owner": sql.Identifier(world.owner)}
    world.master.execute(sql.SQL(f"REVOKE {right} FROM {{role}}").format(**names))
    world.master.execute(change.encode())
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with server.connect(world.admin) as fresh, nullcontext() if writes else refused:
        fresh.execute('INSERT INTO "The shop".parted VALUES (3)')
    with pytest.raises(SluiceError, match=r"SLC-033: .*permission denied") as caught:
        world.publish()
    assert not isinstance(caught.value, TransientError)
    assert "./sluice grants" in caught.value.hint
    world.master.execute(sql.SQL(f"GRANT {right} TO {{role}}").format(**names))
    world.master.execute('INSERT INTO "The shop".parted VALUES (4)')
    world.publish()
    rows = [change["new"][0] for change in world.log() if change["action"] == "I"]
    assert rows == ["2", "3", "4"] if writes else rows == ["2", "4"]


@pytest.mark.parametrize("world", ["log"], indirect=True)
def test_a_role_that_is_no_superuser_reads_the_log_once_event_triggers_are_made_for_it(world):
    role, owner = sql.Identifier(world.role), sql.Identifier(world.owner)
    world.master.execute(sql.SQL("ALTER ROLE {} NOREPLICATION").format(role))
    with pytest.raises(ConfigError, match=r"SLC-400.*lacks REPLICATION"):
        bootstrap(world.context, SOURCE)
    world.master.execute(grants(world.context, SOURCE).encode())
    bootstrap(world.context, SOURCE)
    for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
        replications.record(world.context.store, world.pair("zurich"), event)
    world.master.execute("""INSERT INTO "The shop"."Größe" VALUES (1, 'a')""")
    with pytest.raises(ConfigError, match="SLC-400: no event triggers of this version"):
        world.publish()
    (told,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert (told.good, "./sluice grants" in told.text) == (False, True)
    assert world.status("zurich") is Status.NORMAL
    script = grants(world.context, SOURCE)
    world.master.execute(script.encode())
    world.master.execute(sql.SQL('GRANT USAGE, CREATE ON SCHEMA "The shop" TO {0}; SET ROLE {0}').format(owner))
    world.master.execute("""CREATE TABLE "The shop".later (id int); INSERT INTO "The shop".later VALUES (1);
        ALTER TABLE "The shop".parted ADD day date; INSERT INTO "The shop".parted VALUES (2, '2013-01-02');
        TRUNCATE "The shop"."Größe"; RESET ROLE""")
    world.let_leases_expire()
    world.catch_up()
    assert [change["action"] for change in world.log()] == ["I", "N", "I", "A", "I", "T"]
    assert world.differences() == {}
    (told,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert (told.good, "DDL is seen as it happens" in told.text) == (True, True)
    world.master.execute(f'DROP OWNED BY "{world.role}_ddl" CASCADE')
    assert any(one.startswith("SLOT") for one in cleanup(world.context, SOURCE))
