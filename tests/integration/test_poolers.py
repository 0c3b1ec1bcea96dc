"""PgBouncer in front of a master or a slave: it works where a client keeps its session, and is refused elsewhere."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from sluice.errors import SluiceError, TransientError
from sluice.monitor import check
from sluice.vendors.gaussdb.session import connect as connect_to_gaussdb
from sluice.vendors.postgresql.session import connect, restore

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text, at timestamptz)"
# How poolers are set that take no `options`, and that drop it.
REFUSING, DROPPING = {}, {"ignore_startup_parameters": "options"}


@pytest.mark.parametrize("settings", [REFUSING, DROPPING], ids=["refuses", "drops"])
@pytest.mark.parametrize("more", [{}, {"server_round_robin": "1"}, {"default_pool_size": "1"}])
def test_a_pooler_of_transactions_is_refused_before_anything_is_set(server, bouncer, settings, more):
    info = server.create_database()
    between = bouncer(info, pool_mode="transaction", **settings, **more)
    with pytest.raises(SluiceError, match=r"SLC-690: .* gives each transaction to another session") as refused:
        connect(between.before(info), "test")
    assert not isinstance(refused.value, TransientError)
    assert "./sluice connect" in refused.value.hint
    assert "pool_mode = session" in refused.value.hint
    assert between.settings_of_others(info) == {}


def test_a_pooler_of_transactions_is_refused_while_others_use_it(server, bouncer):
    info = server.create_database()
    between = bouncer(info, pool_mode="transaction")
    others = [between.session(info) for _ in range(4)]
    # Their transactions hold processes, and come and go.
    with others[0].transaction(), others[1].transaction():
        others[0].execute("SELECT")
        others[1].execute("SELECT")
        with pytest.raises(SluiceError, match="SLC-690"):
            connect(between.before(info), "test")
    assert between.settings_of_others(info) == {}
    for other in others:
        other.close()


@pytest.mark.parametrize("settings", [REFUSING, DROPPING], ids=["refuses", "drops"])
def test_a_session_has_its_settings_and_leaves_none(server, bouncer, settings):
    info = server.create_database()
    between = bouncer(info, pool_mode="session", **settings)
    for _ in range(2):
        with closing(connect(between.before(info), "test", autocommit=True, lock_wait="7s")) as session:
            session.execute("SET lock_timeout = 0; SET search_path = public")
            restore(session)
            look = "SELECT current_setting('lock_timeout'), current_setting('search_path'), pg_backend_pid()"
            assert session.execute(look).fetchone()[:2] == ("7s", "pg_catalog, pg_temp")
            assert between.settings_of_others(info) == {}
    assert between.settings_of_others(info) == {}


def test_a_pooler_that_resets_no_session_is_refused(server, bouncer):
    info = server.create_database()
    between = bouncer(info, pool_mode="session", server_reset_query="")
    with pytest.raises(SluiceError, match=r"SLC-690: .* as its last client left it"):
        connect(between.before(info), "test")
    assert between.settings_of_others(info).keys() <= {"sluice.session"}


def test_a_pool_of_one_session_is_too_small(server, bouncer):
    info = server.create_database()
    between = bouncer(info, pool_mode="session", default_pool_size="1", query_wait_timeout="1")
    with pytest.raises(TransientError, match=r"SLC-658: .* gives no second session") as refused:
        connect(between.before(info), "test")
    assert "default_pool_size" in refused.value.hint


@pytest.mark.parametrize("name", ["master", "zurich"])
def test_check_refuses_a_pooler_of_transactions(build, bouncer, name):
    world = build(DDL, ["public.t"])
    direct = world.infos[name]
    between = bouncer(direct, pool_mode="transaction")
    world.infos[name] = between.before(direct)
    world.configure(lambda settings: None)
    (finding,) = [each for each in check.check_connection(world.context, name) if not each.good]
    assert finding.text.startswith("SLC-690")
    assert between.settings_of_others(direct) == {}


@pytest.mark.full(but=["log"])
@pytest.mark.parametrize("capture", ["triggers", "log"])
def test_changes_and_an_initial_update_go_over_poolers_of_sessions(updating, bouncer, capture):
    world = updating(DDL, ["public.t"], {}, slaves=("zurich",), source={"capture": capture})
    between = bouncer(*world.infos.values(), pool_mode="session", default_pool_size="40")
    for name in ("control", "master", "zurich"):
        world.infos[name] = between.before(world.infos[name])
    world.configure(lambda settings: None)
    world.master.execute("INSERT INTO t SELECT n, n, now() FROM generate_series(1, 1000) AS n")
    world.update()
    for number in range(3):
        world.master.execute(f"UPDATE t SET v = v || 'b' WHERE id % 3 = {number}")
        world.master.execute(f"DELETE FROM t WHERE id = {number + 1}; INSERT INTO t VALUES ({number + 2000}, NULL)")
        world.publish()
        world.drain()
    assert world.verify() == {"zurich": 0}
    assert world.rows("zurich", "public.t").total() == 1000


def test_the_control_store_may_be_behind_a_pooler_of_transactions(build, bouncer):
    world = build(DDL, ["public.t"])
    between = bouncer(world.infos["control"], pool_mode="transaction")
    world.infos["control"] = between.before(world.infos["control"])
    world.configure(lambda settings: None)
    for number in range(8):
        world.master.execute(f"INSERT INTO t VALUES ({number}, 'a')")
        world.publish()
        world.drain()
    assert world.differences() == {}


def test_sessions_of_gaussdb_are_refused_behind_a_pooler(server, bouncer):
    info = server.create_database()
    with pytest.raises(SluiceError, match="SLC-690") as refused:
        connect_to_gaussdb(bouncer(info, pool_mode="session").before(info), "test")
    assert "pool_mode" not in refused.value.hint


def test_a_login_that_a_pooler_refuses_is_not_tried_for_ever(server, bouncer):
    info = server.create_database()
    between = bouncer(info, pool_mode="session")
    with pytest.raises(SluiceError, match="SLC-031"):
        connect(replace(between.before(info), password="wrong"), "test")
