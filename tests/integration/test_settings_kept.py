"""A session has the settings that it was begun with, or nothing is read or written in it (R7)."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest
from sqlalchemy import text
from support.pooler import pooler
from support.proxy import line
from support.updating import compare_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.repair.run import RepairRequest, repair
from sluice.vendors.postgresql.session import connect, restore

pytestmark = [pytest.mark.postgres]


def test_a_pooler_that_drops_settings_is_given_them_again(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    for name in ("master", "zurich"):
        direct = world.infos[name]
        with line(direct) as pooler:
            world.infos[name] = replace(direct, port=pooler.port)
            world.configure(lambda settings: None)
            pooler.forgetful = True
            world.catch_up()
            look = "SELECT current_setting('row_security'), current_setting('extra_float_digits')"
            with connect(world.infos[name], "test") as session:
                for _ in range(2):
                    assert session.execute(look).fetchone() == ("off", "1")
                    restore(session)
        assert world.differences() == {}, name
        world.infos[name] = direct
        world.configure(lambda settings: None)
        world.let_leases_expire()


# What a shell has for other clients, with values by which each of them would break a session or change what it does.
OF_OTHERS = {
    "PGHOST": "nowhere.invalid",
    "PGHOSTADDR": "127.0.0.99",
    "PGSERVICE": "none",
    "PGOPTIONS": "-c default_transaction_read_only=on -c search_path=none",
    "PGCLIENTENCODING": "LATIN1",
    "PGTZ": "nowhere",
    "PGDATESTYLE": "German",
    "PGGEQO": "perhaps",
    "PGPASSWORD": "wrong",
    "PGTARGETSESSIONATTRS": "standby",
    "PGMINPROTOCOLVERSION": "none",
}


def test_variables_for_other_clients_say_nothing_and_a_file_of_passwords_does(build, monkeypatch, tmp_path):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text, at date)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'äЖ', '2024-02-01')")
    slave = world.infos["zurich"]
    passwords = tmp_path / "passwords"
    passwords.touch(0o600)
    passwords.write_text(f"*:*:{slave.database}:*:{slave.password}\n")
    world.infos["zurich"] = replace(slave, password="")
    world.configure(lambda settings: None)
    with monkeypatch.context() as shell:
        for name, value in {**OF_OTHERS, "PGPASSFILE": str(passwords)}.items():
            shell.setenv(name, value)
        with world.context.store.begin() as store:
            assert store.scalar(text("SELECT date '2024-02-01'::text")) == "2024-02-01"
        world.publish()
        world.drain()
        with pytest.raises(SluiceError, match="SLC-031"):
            connect(replace(slave, password="wrong"), "test")
        assert OF_OTHERS.items() <= os.environ.items()
    world.infos["zurich"] = slave
    assert world.differences() == {}


def test_a_role_that_the_database_sets_is_refused(build, weak, stranger):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere={"zurich": weak})
    slave = world.infos["zurich"]
    owner = stranger(world, f"GRANT {{0}} TO {{me}}; ALTER DATABASE {slave.database} OWNER TO {{0}}")
    # Code in his tables would have his rights, and could take ours by SET ROLE NONE.
    for setting in ("role", "session_authorization"):
        owner.execute(f"ALTER DATABASE {slave.database} SET {setting} = 'eve_{slave.database}'")
        with pytest.raises(
            SluiceError, match=f"SLC-666: .*{slave.database} gives every session the role eve_"
        ) as found:
            connect(slave, "test")
        owner.execute(re.search(r"ALTER DATABASE \S+ RESET \w+", found.value.hint)[0])
    with connect(slave, "test") as session:
        assert session.execute("SELECT current_user::text").fetchone() == (slave.login,)


TWICE = """
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := NEW.v || ' twice'; RETURN NEW; END $$;
CREATE TRIGGER z BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()
"""


@pytest.mark.full
@pytest.mark.parametrize("name", ["master", "zurich"])
def test_a_pooler_of_transactions_is_refused_at_once_and_one_of_sessions_is_not(build, name):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    world.reader("zurich").execute(TWICE)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    with pooler(world.infos[name]) as between:
        world.infos[name] = replace(world.infos[name], port=between.port)
        world.configure(lambda settings: None)
        between.steady = False
        with pytest.raises(SluiceError, match="SLC-373: what is set or prepared in a session at ") as refused:
            world.publish() if name == "master" else world.drain()
        assert "pool_mode = session" in refused.value.hint
        assert world.rows("zurich", "public.t").total() == 0
        between.steady = True
        world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_pooler_that_changes_sessions_later_is_refused_before_anything_acts_twice(build, mode):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    world.reader("zurich").execute(TWICE)
    with pooler(world.infos["zurich"]) as between:
        world.infos["zurich"] = replace(world.infos["zurich"], port=between.port)
        world.configure(lambda settings: None)
        drain = world.drainer()

        def deliver(times):
            for number in range(times):
                for _ in range(1 + number % 2):
                    world.master.execute("INSERT INTO t SELECT count(*), 'a' FROM t")
                world.publish()
                drain.deliver()

        deliver(1)
        between.steady = False
        # Some of its transactions are in the session that it had.
        with pytest.raises(SluiceError, match="SLC-373"):
            deliver(8)
        between.steady = True
        world.catch_up()
    assert world.differences() == {}


# What a function of a slave's table leaves in the session that writes there: what stops it, and what misleads it. It
# puts statements of its own in the place of prepared ones, and tables in the place of the catalog's.
LEAVING = """
CREATE SCHEMA his;
CREATE SEQUENCE his.ran;
DO $make$ DECLARE type text; BEGIN
    FOREACH type IN ARRAY '{int4,int8,text,oid,name,bool,tid,char}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION his.ran(%1$I, %1$I) RETURNS bool LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_catalog.nextval(''his.ran''); RETURN true; END $$', type);
        EXECUTE format('CREATE OPERATOR his.= (LEFTARG = %1$I, RIGHTARG = %1$I, FUNCTION = his.ran)', type);
    END LOOP;
END $make$;
CREATE FUNCTION his.leaves(t) RETURNS bool LANGUAGE plpgsql AS $$ DECLARE one text; given text; BEGIN
    FOREACH one IN ARRAY '{pg_class,pg_trigger,pg_namespace,pg_constraint,pg_index,pg_rewrite}'::text[] LOOP
        EXECUTE pg_catalog.format('CREATE TEMP TABLE IF NOT EXISTS %1$I AS SELECT * FROM pg_catalog.%1$I LIMIT 0', one);
    END LOOP;
    FOR one, given IN
        SELECT name, pg_catalog.array_to_string(parameter_types, ',') FROM pg_catalog.pg_prepared_statements
    LOOP
        EXECUTE pg_catalog.format('DEALLOCATE %I', one);
        EXECUTE pg_catalog.format('PREPARE %I%s AS SELECT 1', one, '(' || NULLIF(given, '') || ')');
    END LOOP;
    PERFORM pg_catalog.set_config(name, value, false) FROM (VALUES
        ('default_transaction_read_only', 'on'), ('array_nulls', 'off'), ('intervalstyle', 'sql_standard'),
        ('lock_timeout', '1'), ('row_security', 'on'), ('sluice.purge', 'on'), ('transform_null_equals', 'on'),
        ('search_path', 'his, pg_catalog')) AS left_behind (name, value);
    RETURN true;
END $$;
ALTER TABLE t ADD CHECK (his.leaves(t))
"""
# The same by functions of the server.
SETTING = """
CREATE SCHEMA his;
CREATE SEQUENCE his.ran;
ALTER TABLE t ADD CHECK (set_config('default_transaction_read_only', 'on', false)
    || set_config('lock_timeout', '1', false) || set_config('search_path', 'his', false) > '')
"""
DDL = "CREATE TABLE t (id int PRIMARY KEY, v text, i interval, a text[])"


@pytest.mark.full(but=["batch-leaving0"])
@pytest.mark.parametrize(("mode", "leaving"), [("batch", LEAVING), ("one_to_one", LEAVING), ("one_to_one", SETTING)])
def test_what_code_of_a_slave_leaves_in_a_session_is_gone_before_its_next_statement(updating, mode, leaving):
    world = updating(DDL, ["public.t"], {}, slaves=("zurich",))
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    slave = world.reader("zurich")
    slave.execute(DDL + ";" + leaving)
    world.master.execute("INSERT INTO t SELECT n, n, '-1 days 02:00', '{NULL}' FROM generate_series(1, 9) AS n")
    world.update()
    drain = world.drainer()
    for number in range(10, 13):
        world.master.execute(f"INSERT INTO t VALUES ({number}, 'a', '-1 days 02:00', '{{NULL}}')")
        world.master.execute(f"UPDATE t SET v = v || 'b' WHERE id < 4; DELETE FROM t WHERE id = {number - 5}")
        world.master.execute("UPDATE t SET id = id + 100 WHERE id = 9")
        world.master.execute(f"ALTER TABLE t ADD c{number} int DEFAULT 1")
        world.publish()
        drain.deliver()
    world.let_leases_expire()
    assert world.verify(initial=True) == {"zurich": 0}
    slave.execute("SET search_path = pg_catalog; DELETE FROM public.t WHERE id = 1")
    with world.running():
        repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, patience_s=60)
    assert world.verify() == {"zurich": 0}
    assert slave.execute("SELECT is_called FROM his.ran").fetchone() == (False,)
