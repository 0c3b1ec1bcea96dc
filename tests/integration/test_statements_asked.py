"""Statements that a person asks for: written down first, executed once by a run of theirs, withdrawn, or ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.issuing import DDL
from support.waiting import until
from support.world import SOURCE, result

from sluice.errors import SluiceError
from sluice.model.requester import REQUESTERS_ENV, Requester, to_text
from sluice.model.statement import WantedStatement, missing_rows
from sluice.monitor import statement_status
from sluice.statements import issue
from sluice.statements.request import carry_out, withdraw
from sluice.store import statement_results
from sluice.store.statement_results import StatementStatus

pytestmark = [pytest.mark.postgres]
ADA = [Requester("ada", ["admin"])]


@pytest.fixture
def world(build):
    made = build(DDL, ["public.t"], slaves=("zurich", "geneva"))
    made.master.execute("INSERT INTO t SELECT g, g, 'v' FROM generate_series(1, 3) AS g")
    return made


def asked(world, text: str, **more) -> int:
    """What a page writes down before it begins a run."""
    wanted = WantedStatement(text, **more)
    return statement_results.begin(world.context.store, SOURCE, world.slaves, wanted, "ada", begun=False)


def shown(world, number: int, *, values: bool = True):
    return statement_status.read_statement(world.context, SOURCE, number, values=values)


def test_it_is_executed_once_however_many_runs_there_are(world):
    number = asked(world, "UPDATE t SET x = x + 1")
    # A publisher that begins meanwhile takes it for no lost one.
    world.publish()
    assert (shown(world, number).begun, shown(world, number).master.status) == (False, StatementStatus.WAITING)
    with pytest.raises(SluiceError, match=r"SLC-363: .* eva triggered this run"):
        carry_out(world.context, SOURCE, number, [Requester("eva", ["op"])])

    def attempt(_: int) -> int:
        try:
            carry_out(world.context, SOURCE, number, ADA)
        except SluiceError as error:
            return error.code
        return 0

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(4))) == [0, 363, 363, 363]
    world.catch_up()
    assert world.differences() == {}
    assert world.master.execute("SELECT sum(x) FROM t").fetchone() == (9,)
    assert [one.status for one in shown(world, number).nodes] == [StatementStatus.OK] * 3
    with pytest.raises(SluiceError, match=r"SLC-363: .*cannot be withdrawn"):
        withdraw(world.context, SOURCE, number, "ada")
    (told,) = world.reader("control").execute("SELECT actor FROM audit WHERE event = 'statement'").fetchall()
    assert told == ("ada",)


def test_one_that_is_withdrawn_is_executed_by_no_run(world):
    number = asked(world, "UPDATE t SET x = 0")
    withdraw(world.context, SOURCE, number, "eva")
    with pytest.raises(SluiceError, match="SLC-363: this run does not execute statement"):
        carry_out(world.context, SOURCE, number, ADA)
    found = shown(world, number)
    assert (found.master.status, found.master.detail, found.slaves) == (
        StatementStatus.FAILED,
        "eva withdrew it; it was executed nowhere",
        [],
    )
    with pytest.raises(SluiceError, match=r"SLC-003: .*there is no statement"):
        withdraw(world.context, SOURCE, 2**40, "eva")


@pytest.mark.full
def test_the_difference_of_an_answer_is_shown_to_those_who_may_see_values(world, monkeypatch):
    world.catch_up()
    world.session("geneva").execute("UPDATE t SET v = NULL WHERE id = 2")
    number = asked(world, "SELECT id, v FROM t ORDER BY id", max_rows=2)
    monkeypatch.setenv(REQUESTERS_ENV, to_text(ADA))
    assert (
        result(world.job("statement", f"--statement={number}"))["note"]
        == f"statement {number} was executed on {SOURCE}; its slaves follow"
    )
    world.catch_up()
    master, geneva, zurich = shown(world, number).nodes
    assert (master.rows, master.more) == ((("1", "v"), ("2", "v")), True)
    assert (geneva.status, geneva.lacks, geneva.extra) == (StatementStatus.FAILED, (("2", "v"),), (("2", None),))
    assert (zurich.status, zurich.lacks, zurich.extra) == (StatementStatus.OK, (), ())
    hidden = shown(world, number, values=False)
    assert (hidden.wanted, {one.rows for one in hidden.nodes}, {one.detail for one in hidden.nodes}) == (
        None,
        {()},
        {""},
    )
    assert [one.status for one in hidden.nodes] == [one.status for one in shown(world, number).nodes]


def test_rows_are_lacking_as_often_as_they_are_missing():
    twice, once = [("1", None), ("1", None), ("2", "b")], [("1", None), ("3", "c")]
    assert sorted(missing_rows(once, twice)) == [("1", None), ("2", "b")]
    assert missing_rows(twice, once) == (("3", "c"),)


@pytest.mark.full
def test_a_statement_that_does_not_end_is_ended_with_its_run(world):
    number = asked(world, "UPDATE t SET x = 0 WHERE pg_sleep(3600) IS NOT NULL", varying=True)
    job = world.start("statement", f"--statement={number}")
    active = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND state = 'active'"

    def at_work() -> bool:
        return world.master.execute(active, [f"sluice statement {number}"]).fetchone() != (0,)

    until(at_work, seconds=60)
    assert (shown(world, number).begun, shown(world, number).master.status) == (True, StatementStatus.WAITING)
    job.kill()
    job.wait()
    until(lambda: not at_work(), seconds=60)
    world.publish()
    assert shown(world, number).master.detail.startswith("rolled back, nothing of it happened")
    assert world.master.execute("SELECT sum(x) FROM t").fetchone() == (6,)


def test_more_rows_than_the_configuration_allows_are_refused(world):
    with pytest.raises(SluiceError, match="SLC-914: 11 rows of an answer are wanted, and of flights it may be 0 to 10"):
        issue.issue(world.context, SOURCE, "SELECT 1", max_entries=11)
    assert issue.issue(world.context, SOURCE, "SELECT id FROM t ORDER BY id", max_entries=1).answer.rows == (("1",),)
