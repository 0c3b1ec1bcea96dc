"""The findings of `./sluice check` as pages have them: looked for in the background, a few at a time, and kept."""

from __future__ import annotations

import socket
import time
from dataclasses import replace

import pytest
from support.world import SOURCE

from sluice.monitor.check import Look
from sluice.monitor.health import Health, State

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def looking(build):
    """A world, and its health; nobody waits long for a server."""
    return build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "geneva")), Health(2.0)


def ended(found: Health):
    """The report once the round that is under way has ended."""
    deadline = time.monotonic() + 60
    while (report := found.report()).under_way:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return report


def states(report) -> dict[str, State]:
    return {one.subject: one.state for one in report.looked}


def test_a_server_that_hangs_keeps_nothing_else_from_being_looked_at(looking):
    world, found = looking
    with socket.create_server(("127.0.0.1", 0)) as hole:
        world.infos["geneva"] = replace(world.infos["geneva"], host="127.0.0.1", port=hole.getsockname()[1])
        world.configure(lambda settings: None)
        found.look(world.context)
        first = found.report()
        assert (first.under_way, first.ended, set(states(first).values())) == (True, None, {State.UNSEEN})
        report = ended(found)
        assert states(report)["slave geneva"] is State.SLOW
        assert states(report)["slave zurich"] is states(report)[f"source {SOURCE}"] is State.WELL
        # Nobody has an Airflow or a Spark here, and what is wrong comes first, with what to do.
        assert [(one.state, bool(one.hint)) for one in report.looked[:2]] == [(State.WRONG, True)] * 2
        # It is asked once until it answers.
        assert found.again(world.context)
        assert not found.again(world.context)
        assert states(ended(found))["slave geneva"] is State.SLOW
    deadline = time.monotonic() + 60
    while states(found.report())["slave geneva"] is not State.WRONG:
        assert time.monotonic() < deadline


def test_another_configuration_is_looked_at_anew_and_the_same_one_is_not(looking):
    world, found = looking
    found.look(world.context)
    before = ended(found).ended
    found.look(world.context)
    assert (found.report().under_way, found.report().ended) == (False, before)
    world.configure(lambda plain: plain["replications"].pop())
    found.look(world.context)
    report = ended(found)
    (told,) = [one for one in report.looked if one.subject == "slave geneva"]
    assert (told.state, told.fact) == (State.WELL, "is in no replication, and was not looked at")


def test_an_error_that_nobody_foresaw_is_a_finding_and_says_no_value():
    found = Look("Spark", lambda: {}["canary-password"]).finding()
    assert (found.good, found.text.startswith("SLC-362: it could not be done: KeyError (")) == (False, True)
    assert "canary" not in found.text
    assert "\nHINT: " in found.text
