"""Where replications stand, as `./sluice status` shows it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import pytest
from support.pages import DIFFERENT, compared

from sluice.cli.parser import main
from sluice.connections import SEALED_ENV, seal
from sluice.monitor.status import as_json, as_table, statuses
from sluice.state.replication import ReplicationEvent
from sluice.store import leases, replications

pytestmark = [pytest.mark.postgres]


@pytest.mark.full(but=["SIGTERM"])
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_the_status_is_shown_again_and_again_as_it_is_then_until_a_signal_ends_it(updating, ending):
    world = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    command = [sys.executable, "-m", "sluice.cli", "status", "--every", "0.1"]
    environment = {**os.environ, **world.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}

    def heeds() -> None:
        # Who runs tests in the background of a shell has them ignore it.
        signal.signal(ending, signal.SIG_DFL)

    how = {"stdout": subprocess.PIPE, "text": True, "preexec_fn": heeds}
    with subprocess.Popen(command, env=environment, **how) as shown:

        def until(status: str) -> None:
            if not any(status in line for line in islice(shown.stdout, 2000)):
                pytest.fail(f"{status} was not shown")

        until("NORMAL")
        replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK, "for a test")
        until("INCONSISTENT")
        shown.send_signal(ending)
        assert shown.wait(120) == 128 + ending


# The comparisons, the oldest first: rows that differ, and the scope; the words of the status, and whether all is well.
RANGES = {"within": [[["1"], ["9"]], [["20"], None]]}
COMPARED = {
    "all rows": ([(0, {})], "1,425", "", True),
    "some rows": ([(0, {}), (0, {"percent": 5})], "1,425 (a sample of 5 % of the keys)", "", True),
    "some rows after others": ([(2, RANGES), (0, RANGES)], "1,425 (4 ranges of keys)", "", True),
    "changed rows": (
        [(0, {}), (0, {"only": {"keys": 9, "since": "41/8"}})],
        "1,425 (rows changed since 41/8)",
        "",
        True,
    ),
    "some that differ": (
        [(0, {}), (2, RANGES)],
        "1,425 (4 ranges of keys)",
        "2 rows are known to differ from the master's, in public.t (2).",
        False,
    ),
    "some of which none differs": (
        [(3, {}), (0, {"percent": 5}), (0, RANGES)],
        "1,425 (4 ranges of keys)",
        "3 rows are known to differ from the master's, in public.t (3)",
        False,
    ),
    "some of others": (
        [(2, RANGES), (0, {"within": [[["50"], None]]})],
        "1,425 (2 ranges of keys)",
        "2 rows are known to differ",
        False,
    ),
    "all again": ([(3, {}), (0, RANGES), (0, {})], "1,425", "", True),
}


def test_the_scope_of_the_last_comparison_is_said_and_what_it_says_nothing_of(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    for comparisons, shown, why, well in COMPARED.values():
        world.session("control").execute("DELETE FROM comparison; DELETE FROM differing")
        for report, (different, body) in enumerate(comparisons, 1):
            compared(world, report=report, rows=DIFFERENT[:0], more=different, **body)
        (row,) = statuses(world.context)
        assert (row.well, row.why.partition("\n")[0].startswith(why), bool(row.why)) == (well, True, bool(why))
        assert f" {shown}  " in as_table([row])


def test_changes_that_wait_for_the_next_run_of_a_drain_are_said_to(build, airflow):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()

    def said() -> str:
        (one,) = statuses(world.context)
        return one.resting

    starts = datetime(2026, 1, 1, 0, 1, tzinfo=UTC).astimezone()
    at = f"at {starts:%Y-%m-%d %H:%M:%S %Z}"
    waits = "1 transaction waits for the next run of its drain"
    assert said() == f"{waits}: it starts {at}"
    world.configure(lambda to: to["replications"][0].update(schedule={"run_for_s": 1}))
    assert said() == f"{waits}: the publisher asks for one; {at} it starts anyhow"
    assert said() in as_table(statuses(world.context))
    with leases.hold_lease(world.context.store, f"drain {world.pair('zurich')}"):
        assert said() == "", "a drain is at work"
    airflow.pause("eva")
    assert said() == "", "its gate is shut, which is said instead"
    airflow.paused = False
    world.drain()
    assert said() == ""


def test_a_slave_whose_source_is_not_published_is_not_well(build, airflow):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    (slave,) = statuses(world.context)
    assert slave.well
    airflow.pause("eva")
    assert not statuses(world.context)[0].well


def test_a_slave_that_does_not_answer_is_named_with_its_server_and_no_password(build, restartable):
    world = build(
        "CREATE TABLE t (id int PRIMARY KEY)",
        ["public.t"],
        slaves=("zurich", "geneva"),
        elsewhere={"zurich": restartable},
    )
    assert [(one.answers, one.well) for one in statuses(world.context)] == [(True, True)] * 2
    restartable.stop("fast")
    try:
        found = statuses(world.context)
    finally:
        restartable.start()
    there = world.infos["zurich"]
    assert [(one.answers, one.well, bool(one.why)) for one in found] == [(False, False, True), (True, True, False)]
    begins, _, hint = found[0].why.partition("\n")
    assert f"it does not answer: connecting to {there.host}:{there.port}/{there.database}: " in begins
    assert "The change log keeps everything for it" in begins
    assert hint.startswith("HINT: start the database")
    for said in (as_table(found), as_json(found)):
        assert f"{there.host}:{there.port}" in said
        assert there.password not in said


def test_the_report_of_a_problem_is_whole_and_has_no_password_also_where_nothing_answers(updating, monkeypatch, capsys):
    world = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK, "for a test")
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    secrets = {one.password for one in world.infos.values()}
    titles = ["Versions", "Configuration", "Check", "Status", "Last events"]

    def report() -> dict[str, str]:
        assert main(["doctor"]) == 0
        text = capsys.readouterr().out
        assert not [one for one in secrets if one and one in text]
        parts = dict(re.findall(r"^## ([^\n]*)\n\n```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
        assert list(parts) == titles
        return parts

    parts = report()
    assert "apache-airflow 3" in parts["Versions"]
    assert "public.t" in parts["Configuration"]
    assert "ok   control store" in parts["Check"]
    assert "INCONSISTENT" in parts["Status"]
    assert "for a test" in parts["Last events"]
    gone = {name: replace(one, port=1) for name, one in world.infos.items()}
    monkeypatch.setenv(SEALED_ENV, seal(gone))
    parts = report()
    assert "FAIL control store" in parts["Check"]
    assert "SLC-060" in parts["Status"]
