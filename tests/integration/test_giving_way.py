"""A load in blocks gives way to those who work on the master: it waits while many of them do, and says so (R10)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from support.updating import blocks_here, load_here
from support.waiting import until
from support.world import SOURCE

from sluice import throttle
from sluice.capture.grants import grants
from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.cancel import cancel
from sluice.initial_update.dump import dump
from sluice.monitor.check import findings
from sluice.monitor.status import as_table
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE a (id int PRIMARY KEY, note text);
INSERT INTO a SELECT g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
"""
WAITS = "waits: active sessions of others on the master: 2, more than 1 (`max_active`)"


@pytest.fixture
def world(updating, monkeypatch):
    """A world whose loads wait while two others are active; nobody fills geneva."""
    monkeypatch.setattr(throttle, "_REST_S", 0.2)
    made = updating(DDL, ["public.a"], source={"blocks": {"rows": 600, "max_active": 1}})
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    return made


@pytest.fixture
def begun(world):
    world.inhibit("zurich")
    assert dump(world.context, SOURCE, ["zurich"], load_here, mode="online")["failed"] == {}
    world.release("zurich")
    return world


@contextmanager
def active(world, *names):
    """Sessions that execute something on these databases of the master's server."""
    asleep = [world.session(name) for name in names]
    seen = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = ANY (%s)"
    pids = [one.info.backend_pid for one in asleep]
    with ThreadPoolExecutor(len(asleep)) as pool:
        futures = [pool.submit(one.execute, "SELECT pg_sleep(600)") for one in asleep]
        try:
            until(lambda: world.reader("zurich").execute(seen, [pids]).fetchone() == (len(pids),), "they do nothing")
            yield
        finally:
            for one in asleep:
                one.cancel_safe()
            for future in futures:
                assert isinstance(future.exception(), psycopg.errors.QueryCanceled)


def loading(pool, world, seen):
    """A load in a thread of its own, which notes when a round begins, and what is told of it then."""

    def noted(job):
        seen.append(world.standing().loading.waits)
        return blocks_here(job)

    return pool.submit(load_online, world.context, SOURCE, ["zurich"], noted)


def until_it_waits(world):
    def waits():
        now = world.standing()
        return now.loading and now.loading.waits and now

    return until(waits, "it does not wait")


@pytest.mark.full
def test_no_block_is_begun_while_more_sessions_are_active_than_may_be(begun):
    world, seen = begun, []
    with world.running("zurich"), ThreadPoolExecutor(1) as pool:
        with active(world, "master", "control"):
            load = loading(pool, world, seen)
            now = until_it_waits(world)
            time.sleep(1)
            assert seen == []
            assert WAITS in as_table([now])
        assert load.result(60)["rows"] == {"zurich": 3000}
    assert len(seen) > 2
    assert set(seen) == {None}, "it loads, and is told to wait"
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_as_many_active_sessions_as_may_be_keep_nobody_up(begun):
    with begun.running("zurich"), active(begun, "master"), ThreadPoolExecutor(1) as pool:
        assert loading(pool, begun, []).result(60)["rows"] == {"zurich": 3000}


@pytest.mark.full
def test_a_load_that_gives_way_can_be_cancelled(begun):
    seen = []
    with begun.running("zurich"), active(begun, "master", "master"), ThreadPoolExecutor(1) as pool:
        load = loading(pool, begun, seen)
        until_it_waits(begun)
        assert cancel(begun.context, SOURCE, ["zurich"]).cancelled == ["zurich"]
        assert load.result(60)["rows"] == {"zurich": 0}
    assert seen == []
    assert begun.status("zurich") is Status.INCONSISTENT


@pytest.fixture
def blind(world):
    """A role that does not see what others do."""
    database = world.infos["master"].database
    role = f"blind {database}"
    names = {"role": sql.Identifier(role), "database": sql.Identifier(database)}
    made = "CREATE ROLE {role} LOGIN PASSWORD 'canary'; GRANT CONNECT ON DATABASE {database} TO {role}"
    world.master.execute(sql.SQL(made).format(**names))
    yield replace(world.infos["master"], login=role, password="canary")
    world.master.execute(sql.SQL("DROP OWNED BY {role}; DROP ROLE {role}").format(**names))


@pytest.mark.full
def test_a_role_that_does_not_see_what_others_do_is_told_before_anything_is_changed(world, blind):
    world.context.connections["master"] = blind
    before = world.status("zurich")

    def told():
        (found,) = [one for one in findings(world.context) if one.subject == f"blocks of {SOURCE}"]
        return found

    assert not told().good
    assert "SLC-236" in told().text
    with pytest.raises(SluiceError, match="SLC-236"):
        world.inhibit("zurich", mode="online")
    assert world.status("zurich") is before
    assert "SLC-236" in throttle.Throttle(world.context, SOURCE, 1).why_not()
    script = grants(world.context, SOURCE)
    world.master.execute(script[script.index("GRANT pg_read_all_stats") :].partition(";")[0].encode())
    with active(world, "master", "control"):
        assert told().good
        assert told().text.startswith("active sessions of others: 2;")
        assert "master: 2," in throttle.Throttle(world.context, SOURCE, 1).why_not()
    assert throttle.Throttle(world.context, SOURCE, 1).why_not() == ""


@pytest.mark.full
def test_a_pace_of_comparisons_is_kept_to_by_the_role_of_the_source_beside_one_that_only_reads(world, blind):
    """The one ends initial updates, the other compares at any time."""
    world.infos["reads"] = blind

    def compare_slowly(plain):
        paced = {"verification": {"max_active": 1}, "reading_connection": "reads"}
        plain["sources"][SOURCE] = {**plain["sources"][SOURCE], **paced, "blocks": {}}

    def found():
        (told,) = [one for one in findings(world.context) if one.subject == f"pace of comparisons of {SOURCE}"]
        return told.good, "SLC-236" in told.text

    world.configure(compare_slowly)
    assert "GRANT pg_read_all_stats" in grants(world.context, SOURCE)
    assert found() == (False, True)
    own, reading = world.context.connections["master"], world.context.connections["reads"]
    world.context.connections.update(master=reading, reads=own)
    assert found() == (False, True)
    world.context.connections["master"] = own
    assert found() == (True, False)
