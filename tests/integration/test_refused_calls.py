"""Servers that refuse functions which others allow, as Aurora does those of the WAL where nothing decodes it: in these
databases a right is taken from everybody, or other functions of the same names say what Aurora says.
"""

from __future__ import annotations

import psycopg
import pytest
from support.world import SOURCE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import ConfigError, SluiceError
from sluice.monitor.check import findings
from sluice.state.replication import Status
from sluice.store import removal

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (0, 'before')"
WAL = "^pg_(current|last)_wal|^pg_walfile|^pg_wal_"
NAMED = """
    SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ %s
"""


def refuse(world, pattern):
    """Take functions of the server from everybody, in this database."""
    (functions,) = world.superuser.execute(NAMED, [pattern]).fetchone()
    world.superuser.execute(f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC")
    return functions


# The server calls those of its own by their numbers, whatever the catalog says: so each gets another one.
SAYING = """
DO $$
DECLARE
    named record;
BEGIN
    SET LOCAL allow_system_table_mods = on;
    FOR named IN
        SELECT oid, proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
        FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '{pattern}'
    LOOP
        DELETE FROM pg_proc WHERE oid = named.oid;
        EXECUTE format('CREATE FUNCTION pg_catalog.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
            named.proname, named.arguments, named.result,
            'BEGIN RAISE object_not_in_prerequisite_state USING MESSAGE = ''wal_level must be set to logical''; END');
    END LOOP;
END
$$
"""


def of_source(world):
    """What `./sluice check` says of the source."""
    return next(one for one in findings(world.context) if one.subject == f"source {SOURCE}")


@pytest.fixture
def world(updating, managed):
    """A source of which nothing is captured yet; its role is the administrator, who owns the tables."""
    world = updating(DDL, ["public.*"], slaves=["zurich"], renamed={}, elsewhere={"master": managed})
    cleanup(world.context, SOURCE)
    removal.note_returned(world.context.store, SOURCE)
    world.superuser = managed.cluster.admin(world.infos["master"].database)
    assert managed.run(world.infos["master"], grants(world.context, SOURCE)) == ""
    yield world
    world.superuser.close()


@pytest.mark.full(but=["server-as Aurora"])
@pytest.mark.parametrize("says", [False, True], ids=["revoked", "as Aurora"])
def test_by_triggers_no_function_of_the_wal_is_needed(world, says):
    if says:
        world.superuser.execute(SAYING.format(pattern=WAL))
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            world.reader("master").execute("SELECT pg_walfile_name(pg_current_wal_lsn())")
    else:
        assert "pg_walfile_name(" in refuse(world, WAL)
    assert of_source(world).good
    bootstrap(world.context, SOURCE)
    assert of_source(world).good
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    with world.running():
        world.update()
    world.master.execute("UPDATE t SET v = 'b'; DELETE FROM t WHERE id = 0")
    assert world.verify(initial=True) == {"zurich": 0}
    world.catch_up()
    assert world.differences() == {}
    assert world.status("zurich") is Status.NORMAL
    assert world.standing().kept_log is None


@pytest.mark.parametrize("function", ["pg_control_system", "pg_export_snapshot", "pg_logical_emit_message"])
def test_before_any_trigger_is_made_what_is_needed_is_tried(world, function):
    refuse(world, function)
    found = of_source(world)
    assert not found.good
    with pytest.raises(ConfigError) as caught:
        bootstrap(world.context, SOURCE)
    grant = caught.value.hint.partition("gives them back: ")[2].partition(";")[0]
    for said in (found.text, str(caught.value)):
        assert "SLC-262" in said
        assert f"permission denied for function {function}" in said
        assert grant in said
    assert world.superuser.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)
    assert world.superuser.execute("SELECT to_regclass('repl.repl_state')").fetchone() == (None,)
    world.superuser.execute(grant)
    bootstrap(world.context, SOURCE)
    assert of_source(world).good


def test_before_any_trigger_is_made_whatever_a_server_says_is_told(world):
    world.superuser.execute(SAYING.format(pattern="^pg_logical_emit"))
    with pytest.raises(ConfigError, match=r"SLC-262: .*wal_level must be set to logical"):
        bootstrap(world.context, SOURCE)
    assert "rds.logical_replication = 1" in of_source(world).text
    assert world.superuser.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)


def test_before_a_slave_is_filled_what_drains_need_is_tried(updating, managed):
    world = updating(DDL, ["public.*"], slaves=["zurich"], renamed={}, elsewhere={"zurich": managed})
    with managed.cluster.admin(world.infos["zurich"].database) as superuser:
        world.superuser = superuser
        refuse(world, "pg_logical_emit_message")
        with pytest.raises(SluiceError, match="SLC-262"):
            world.update()
        (found,) = [one for one in findings(world.context) if "SLC-262" in one.text]
        assert "zurich" in found.subject
        superuser.execute(found.text.partition("gives them back: ")[2].partition(";")[0])
    assert all(one.good for one in findings(world.context) if "zurich" in one.subject)
