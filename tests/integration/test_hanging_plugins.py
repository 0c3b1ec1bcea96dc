"""A plugin that does not come to an end stops its slave's drain in time and with its code, and costs no row (R8)."""

from __future__ import annotations

import re
import time

import pytest

from sluice.state.dispatcher import Hold
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text)"
PATIENCE_S = 5
PLUGIN = """
import os, re, time
from sluice import extensions
from sluice.apply.transform.plugin import RowByRow

extensions.PATIENCE_S, extensions.MORE_S = {patience}, {more}


class Hangs(RowByRow):
    def row(self, row):
        if row["note"] == "hang" and not os.path.exists({fixed!r}):
            open({begun!r}, "w").close()
            {hangs}
        return row
"""


@pytest.fixture
def hanging(build, airflow, tmp_path):
    """A world whose plugin hangs at the fourth of six transactions, until ``fixed`` is there."""

    def one(hangs, more=30, patience=PATIENCE_S):
        plugins = tmp_path / "plugins"
        plugins.mkdir()
        fixed, begun = tmp_path / "fixed", tmp_path / "begun"
        paths = {"fixed": str(fixed), "begun": str(begun)}
        (plugins / "hanging.py").write_text(PLUGIN.format(patience=patience, more=more, hangs=hangs, **paths))
        world = build(DDL, ["public.t"], slave={"tables": {"public.t": {"plugin": "hanging:Hangs"}}, "max_batch": 1})
        world.infos[world.context.config.airflow_api] = airflow.info()
        world.plugins, world.fixed, world.begun = plugins, fixed, begun
        for number in range(1, 7):
            world.master.execute("INSERT INTO t VALUES (%s, %s)", [number, "hang" if number == 4 else "a"])
        world.publish()
        return world

    return one


def ended(world):
    """A drain that has ended, and what it said."""
    job = world.start("drain", "--slave", "zurich", "--once", plugins=world.plugins)
    _, said = job.communicate(timeout=240)
    return job, said


def goes_on(world):
    job, said = ended(world)
    assert job.returncode == 0, said
    assert world.differences() == {}
    assert world.standing().tolerated == 0, "something came twice"


@pytest.mark.full
def test_a_drain_stops_in_front_of_what_a_plugin_does_not_end_with_and_goes_on_once_it_is_mended(hanging, airflow):
    world = hanging("while True: pass")
    job, said = ended(world)
    assert job.returncode == 3, said
    assert "SLC-162: the plugin hanging:Hangs failed on 1 rows of public.t: TimeoutError: no answer for 5 s" in said
    assert "HINT: the slave waits in front of them and nothing is lost" in said
    assert "SLC-162" in replications.holds(world.context.store, world.pair("zurich"))[Hold.EXCEPTION].reason
    assert airflow.paused
    assert world.rows("zurich", "public.t").total() == world.position().ordinal == 3
    world.fixed.touch()
    airflow.paused = False
    goes_on(world)


@pytest.mark.full
def test_a_process_that_a_plugin_keeps_from_all_else_is_ended_and_says_where_it_was(hanging):
    world = hanging("re.match('(a+)+$', 'a' * 64 + 'b')", more=1)
    job, said = ended(world)
    assert job.returncode == 1, said
    assert "Timeout" in said
    assert re.search(r'hanging.py", line \d+ in row', said)
    # What was being delivered when it began is in as a whole, or not at all.
    assert world.rows("zurich", "public.t").total() == world.position().ordinal <= 3
    world.fixed.touch()
    # It could not give its lease back.
    world.let_leases_expire()
    goes_on(world)


@pytest.mark.full
def test_a_drain_that_is_asked_to_end_does_not_wait_for_a_plugin(hanging):
    world = hanging("time.sleep(3600)", patience=3600)
    job = world.start("drain", "--slave", "zurich", "--once", plugins=world.plugins)
    while not (world.begun.exists() and world.position().ordinal == 3):
        assert job.poll() is None
        time.sleep(0.05)
    job.terminate()
    try:
        _, said = job.communicate(timeout=120)
    finally:
        job.kill()
    assert job.returncode == 143, said
    assert replications.holds(world.context.store, world.pair("zurich")) == {}
    assert world.rows("zurich", "public.t").total() == world.position().ordinal == 3
    world.fixed.touch()
    # At once: it has given its lease back.
    goes_on(world)
