"""A statement whose session is lost: what became of it on the master is found out, and told for good."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support.issuing import DDL, everywhere, execute, standings
from support.proxy import line
from support.world import SOURCE

from sluice.cli.parser import main
from sluice.errors import SluiceError, TransientError
from sluice.model.statement import WantedStatement
from sluice.store import statement_results
from sluice.store.statement_results import StatementStatus

pytestmark = [pytest.mark.postgres]

UPDATE = "UPDATE t SET x = x + 1"


@pytest.fixture
def world(build):
    made = build(DDL, ["public.t"], slaves=("zurich", "geneva"))
    made.master.execute("INSERT INTO t SELECT g, g, 'v' FROM generate_series(1, 5) AS g")
    return made


@pytest.fixture
def cut(world):
    """The line to the master, which can be cut."""
    with line(world.infos["master"]) as made:
        world.infos["master"] = replace(world.infos["master"], port=made.port)
        world.configure(lambda plain: None)
        yield made


def newest(world) -> dict[str, StatementStatus]:
    """How far the statement that was issued last is on each node."""
    rows = world.reader("control").execute(
        "SELECT slave, status FROM answer WHERE statement = (SELECT max(id) FROM statement)"
    )
    return {slave: StatementStatus(status) for slave, status in rows.fetchall()}


def number(world) -> int:
    return world.reader("control").execute("SELECT max(id) FROM statement").fetchone()[0]


def test_what_ends_before_its_commit_is_rolled_back_for_good(world):
    before = world.rows("master", "public.t")
    with ThreadPoolExecutor(1) as pool:
        issued = pool.submit(execute, world, "UPDATE t SET x = 0 WHERE pg_sleep(60) IS NOT NULL", varying=True)
        ask = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'sluice statement%' AND query LIKE 'UPDATE%'"
        )
        while not world.master.execute(ask).fetchall():
            time.sleep(0.05)
        with pytest.raises(TransientError, match=r"SLC-108: statement \d+ was rolled back on the master") as caught:
            issued.result(30)
    assert "issue it again" in caught.value.hint
    assert newest(world) == {"": StatementStatus.FAILED}
    (master,) = statement_results.answers(world.context.store, number(world))
    assert master.detail.startswith("rolled back")
    assert world.rows("master", "public.t") == before
    world.catch_up()
    assert world.differences() == {}


def test_a_session_that_is_lost_after_its_commit_has_executed_the_statement(world, cut):
    cut.cut_at, cut.delivered = b"COMMIT", True
    done = execute(world, UPDATE)
    assert done.answer.count == 5
    world.catch_up()
    assert standings(world, done) == everywhere(world)
    assert world.differences() == {}


def test_a_session_that_is_lost_before_its_commit_has_not_and_holds_nobody_up(world, cut):
    cut.cut_at, cut.delivered = b"COMMIT", False
    before = world.rows("master", "public.t")
    with pytest.raises(TransientError, match=r"SLC-108"):
        execute(world, UPDATE)
    assert newest(world) == {"": StatementStatus.FAILED}
    world.session().execute("SET lock_timeout = '20s'; LOCK TABLE t")
    assert world.rows("master", "public.t") == before


@pytest.mark.parametrize(
    ("delivered", "master", "asked_by"),
    [(True, StatementStatus.OK, "the publisher"), (False, StatementStatus.FAILED, "the command")],
)
def test_what_cannot_be_found_out_at_once_is_found_out_later(
    world, cut, delivered, master, asked_by, monkeypatch, capsys
):
    monkeypatch.setattr("sluice.statements.issue.PATIENCE_S", 0.0)
    monkeypatch.setattr("sluice.cli.commands._context", lambda: world.context)
    cut.cut_at, cut.delivered, cut.then_down = b"COMMIT", delivered, True
    with pytest.raises(SluiceError, match=r"SLC-109: .*statement \d+") as caught:
        execute(world, UPDATE)
    cut.down = False
    assert f"./sluice statement {SOURCE} --show {number(world)}" in caught.value.hint
    assert newest(world)[""] is StatementStatus.WAITING
    if not delivered:
        world.master.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE 'sluice statem%'"
        )
    if asked_by == "the publisher":
        world.publish()
    else:
        main(["statement", SOURCE, "--show", str(number(world)), "--wait", "0"])
        assert f"flights (master)  {master}" in capsys.readouterr().out
    assert newest(world)[""] is master
    assert set(newest(world)) == ({"", "zurich", "geneva"} if delivered else {""})
    assert statement_results.answers(world.context.store, number(world))[0].answer.count == (5 if delivered else 0)


@pytest.mark.full
def test_a_process_that_died_before_the_commit_leaves_no_question_open(world):
    left = statement_results.begin(world.context.store, SOURCE, ["zurich", "geneva"], WantedStatement(UPDATE))
    world.publish()
    assert newest(world) == {"": StatementStatus.FAILED}
    assert number(world) == left


@pytest.mark.full
def test_a_slave_that_executed_it_tells_that_the_master_has(world):
    done = execute(world, UPDATE)
    control = world.reader("control")
    control.execute("UPDATE answer SET status = 'WAITING', body = NULL WHERE slave = ''")
    world.publish()
    control.execute("UPDATE answer SET status = 'WAITING', body = NULL WHERE slave = ''")
    world.drain("zurich")
    assert statement_results.answers(world.context.store, done.id)[0].answer == done.answer
    assert newest(world)[""] is StatementStatus.OK


def test_a_master_that_was_replaced_meanwhile_cannot_tell(world):
    done = execute(world, UPDATE)
    control = world.reader("control")
    control.execute("UPDATE answer SET status = 'WAITING'")
    control.execute("UPDATE statement SET incarnation = 'another'")
    world.publish()
    assert set(newest(world).values()) == {StatementStatus.FAILED}
    assert "look at its data" in statement_results.answers(world.context.store, done.id)[0].detail


def test_a_number_that_no_statement_bears_is_refused(world, monkeypatch, capsys):
    monkeypatch.setattr("sluice.cli.commands._context", lambda: world.context)
    assert main(["statement", SOURCE, "--show", "77"]) == 1
    assert "SLC-003" in capsys.readouterr().err
