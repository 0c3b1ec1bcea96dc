"""A session has the settings that it was begun with, or nothing is read or written in it (R7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.pooler import pooler
from support.proxy import line

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]


def test_a_pooler_that_drops_settings_is_refused(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    for name in ("master", "zurich"):
        direct = world.infos[name]
        with line(direct) as pooler:
            world.infos[name] = replace(direct, port=pooler.port)
            world.configure(lambda settings: None)
            pooler.forgetful = True
            with pytest.raises(SluiceError, match=r"SLC-310: a session at .* row_security is on, not off") as refused:
                world.publish() if name == "master" else world.drain()
            assert "pooler" in refused.value.hint
            assert direct.password not in str(refused.value)
            pooler.forgetful = False
            world.catch_up()
        assert world.differences() == {}, name
        world.infos[name] = direct
        world.configure(lambda settings: None)
        world.let_leases_expire()


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
