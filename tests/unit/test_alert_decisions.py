"""When people are told: once when something begins, and once when it is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from sluice.config.alerts import AlertReceiver, Alerts
from sluice.model.alert import Alert, AlertChanges, KnownAlert
from sluice.monitor.alert_decisions import RUN, body, decide, subject

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
STOPPED = Alert("flights", "zurich", "stopped by an error")
LAG = Alert("flights", "geneva", "late")
FAILED = Alert("", "", f"{RUN}verify/manual__1")


def ago(since: int, held: int, **told: bool) -> KnownAlert:
    """An alert that was seen first and last so many seconds ago."""
    return KnownAlert(NOW - timedelta(seconds=since), NOW - timedelta(seconds=held), **told)


@pytest.mark.parametrize(
    ("held", "known", "changes"),
    [
        pytest.param([], {}, {}, id="nothing"),
        pytest.param([STOPPED], {}, {"kept": [STOPPED]}, id="seen-first"),
        pytest.param([STOPPED], {STOPPED: ago(59, 59)}, {"kept": [STOPPED]}, id="not-yet-long-enough"),
        pytest.param([STOPPED], {STOPPED: ago(60, 30)}, {"begun": [STOPPED]}, id="begins"),
        pytest.param([STOPPED], {STOPPED: ago(900, 30, begun=True)}, {"kept": [STOPPED]}, id="told-once"),
        pytest.param([], {STOPPED: ago(900, 30, begun=True)}, {}, id="not-yet-long-over"),
        pytest.param([], {STOPPED: ago(900, 60, begun=True)}, {"over": [STOPPED]}, id="over"),
        pytest.param([STOPPED], {STOPPED: ago(9, 3, begun=True, unsure=True)}, {"begun": [STOPPED]}, id="begins-again"),
        pytest.param([], {STOPPED: ago(9, 3, begun=True, over=True, unsure=True)}, {"over": [STOPPED]}, id="again"),
        pytest.param([], {STOPPED: ago(90, 60, begun=True, unsure=True)}, {"over": [STOPPED]}, id="over-at-least"),
        pytest.param([], {STOPPED: ago(30, 30)}, {"gone": [STOPPED]}, id="over-before-it-was-told"),
        pytest.param(
            [STOPPED], {STOPPED: ago(900, 90, begun=True, over=True, unsure=True)}, {"begun": [STOPPED]}, id="anew"
        ),
        pytest.param([FAILED], {}, {"begun": [FAILED]}, id="a-run-at-once"),
        pytest.param([], {FAILED: ago(3600, 60, begun=True)}, {"gone": [FAILED]}, id="a-run-is-never-over"),
        pytest.param([], {FAILED: ago(9, 3, begun=True, unsure=True)}, {"begun": [FAILED]}, id="a-run-again"),
        pytest.param(
            [LAG, STOPPED],
            {LAG: ago(99, 30), STOPPED: ago(99, 30)},
            {"begun": [LAG, STOPPED]},
            id="several-in-one-message",
        ),
    ],
)
def test_people_are_told_once_at_each_end(held, known, changes):
    fields = ("begun", "over", "kept", "gone")
    assert decide(NOW, 60, held, known) == AlertChanges(*(changes.get(name, []) for name in fields))


def test_runs_that_somebody_lets_fail_hide_no_replication():
    runs = [Alert("", "", f"run verify/aaa{number}") for number in range(30)]
    begun = decide(NOW, 0, [*runs, STOPPED], {}).begun
    assert begun[0] == STOPPED
    assert str(STOPPED) in body(AlertChanges(begun, [], [], []), {}, {})


def test_a_run_is_not_told_again_after_airflow_was_away():
    known = {FAILED: ago(90, 90, begun=True)}
    assert decide(NOW, 60, [], known, blind=True).gone == []


def test_a_message_is_bounded_and_hides_nothing():
    many = [Alert("flights", f"s{number}", "unreachable") for number in range(90)]
    changes = AlertChanges(many, [STOPPED], [], [])
    text = body(changes, {STOPPED: ago(60, 0, begun=True)}, dict.fromkeys(many, f"\x1b[2J\u202e{'x' * 9000}"))
    assert len(text) <= 20_000
    assert not {"\x1b", "\u202e"} & set(text)
    assert subject(changes, "Production") == "Sluice Production: alerts: 90 began, 1 over"


def test_a_message_of_one_alert_says_it_in_its_subject():
    began, over = AlertChanges([LAG], [], [], []), AlertChanges([], [LAG], [], [])
    assert subject(began, "") == "Sluice: flights->geneva: late"
    assert subject(over, "") == "Sluice: over: flights->geneva: late"
    assert body(began, {}, {LAG: "its drain is paused\nHINT: unpause it"}).splitlines() == [
        "BEGAN flights->geneva: late",
        "  its drain is paused",
        "  HINT: unpause it",
    ]
    known = {LAG: ago(60, 0, begun=True)}
    assert "it began at 2026-01-01 11:59:00 UTC" in body(over, known, {})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("pager://x", "no way to people"),
        ("smtp://smtp_default", "to \\(required\\)"),
        ("smtp://user:pw@host?to=a@b.c", "write smtp://CONNECTION"),
        ("smtp://m?to=a@b.c&to=d@b.c", "given twice"),
        ("slack://s?channel=#ops", "write %23"),
        ("slack://slack_default?channel=ops&token=x", "slack:// takes channel"),
        ("slackwebhook://hook/T0/B0", "write slackwebhook://CONNECTION"),
    ],
)
def test_a_receiver_names_a_connection_and_no_secret(text, fault):
    with pytest.raises(ValidationError, match=fault):
        Alerts(to=text)


def test_receivers_are_one_or_several():
    mail = "smtp://m?to=a@b.c"
    assert Alerts(to=mail).receivers == {mail: AlertReceiver("smtp", "m", {"to": "a@b.c"})}
    assert len(Alerts(to=["smtp://m?to=a@b.c", "apprise://a"]).receivers) == 2
    assert AlertReceiver.parse("smtp://m?to=dba+night@b.c").options == {"to": "dba+night@b.c"}


def test_a_condition_that_needs_nobody_is_refused():
    with pytest.raises(ValidationError, match=r"conditions\.0"):
        Alerts(to="apprise://a", conditions=["well"])
