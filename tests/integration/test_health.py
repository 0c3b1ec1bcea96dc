"""The findings of `./sluice check` as pages have them: looked for in the background, a few at a time, and kept."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest
from support.waiting import until
from support.world import SOURCE

from sluice.monitor.check import Look
from sluice.monitor.health import Health, HealthState
from sluice.store import audit_trail

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def looking(build):
    """A world, and its health; nobody waits long for a server."""
    return build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "geneva")), Health(2.0)


def ended(found: Health):
    """The report once the round that is under way has ended."""
    until(lambda: not found.report().under_way, seconds=60)
    return found.report()


def alone_slow(found: Health):
    """The report once there is but one thing that has not answered."""
    report = found.report()
    return report if list(states(report).values()).count(HealthState.SLOW) == 1 else None


def states(report) -> dict[str, HealthState]:
    return {one.subject: one.state for one in report.looked}


def test_a_server_that_hangs_keeps_nothing_else_from_being_looked_at(looking):
    world, found = looking
    with socket.create_server(("127.0.0.1", 0)) as hole:
        geneva, port = world.infos["geneva"], hole.getsockname()[1]
        patient = {**geneva.extra, "connect_timeout": 600}
        world.infos["geneva"] = replace(geneva, host="127.0.0.1", port=port, extra=patient)
        world.configure(lambda settings: None)
        found.look(world.context)
        first = found.report()
        assert (first.under_way, first.ended, set(states(first).values())) == (True, None, {HealthState.UNSEEN})
        assert not found.again(world.context)
        ended(found)
        # Others may be slow for a moment, too.
        report = until(lambda: alone_slow(found), seconds=60)
        assert states(report)["slave geneva"] is HealthState.SLOW
        assert states(report)["slave zurich"] is states(report)[f"source {SOURCE}"] is HealthState.WELL
        # Nobody has an Airflow or a Spark here, and what is wrong comes first, with what to do.
        assert [(one.state, bool(one.hint)) for one in report.looked[:2]] == [(HealthState.WRONG, True)] * 2
        # It is asked once until it answers.
        assert found.again(world.context)
        assert states(ended(found))["slave geneva"] is HealthState.SLOW
    until(lambda: states(found.report())["slave geneva"] is HealthState.WRONG, seconds=60)


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
    assert (told.state, told.fact) == (HealthState.WELL, "is in no replication, and was not looked at")


def test_the_trail_grows_by_one_entry_a_minute_of_a_person_who_looks_again_and_again(looking):
    world, _ = looking
    store, control = world.context.store, world.reader("control")
    for who in ("eva", "eva", "bob", "eva"):
        audit_trail.note_rarely(store, "check", who)
    kept = "SELECT actor FROM audit WHERE event = 'check' ORDER BY id"
    assert control.execute(kept).fetchall() == [("eva",), ("bob",)]
    control.execute("UPDATE audit SET at = at - interval '61 seconds'")
    audit_trail.note_rarely(store, "check", "eva")
    assert control.execute(kept).fetchall() == [("eva",), ("bob",), ("eva",)]


def test_refusals_do_not_fill_the_trail(looking):
    world, _ = looking
    for number in range(40):
        audit_trail.refuse(world.context.store, "flights", None, "vera", f"POST /{number}")
    audit_trail.refuse(world.context.store, "flights", None, "otto", "POST /")
    kept = "SELECT actor, count(*) FROM audit WHERE event = 'refused' GROUP BY 1 ORDER BY 1"
    assert world.reader("control").execute(kept).fetchall() == [("otto", 1), ("vera", 30)]


def test_an_error_that_nobody_foresaw_is_a_finding_and_says_no_value():
    found = Look("Spark", lambda: {}["canary-password"]).look()
    assert (found.good, found.text.startswith("SLC-362: it could not be done: KeyError (")) == (False, True)
    assert "canary" not in found.text
    assert "\nHINT: " in found.text
