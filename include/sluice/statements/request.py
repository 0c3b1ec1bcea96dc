"""Statements that a person asks for on a page: written down first, then executed by a run in the person's name.

Airflow is told the number alone: its text and its answers are for administrators, and runs are shown to others as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from sluice.airflow_api.dags import Dags
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import STATEMENT
from sluice.model.requester import Requester
from sluice.model.statement import Statement, WantedStatement
from sluice.statements import issue
from sluice.store import statement_board, statement_results

_ANOTHER = "nothing was changed on any node; to have it executed, ask for it again"


def request(context: Context, dags: Dags, source: str, wanted: WantedStatement, who: str) -> tuple[int, str]:
    """Write a statement down and begin its run; its number, and the run as `dag/run`.

    Raises:
        SluiceError: SLC-100, SLC-101 or SLC-103, it is refused; what `Dags.trigger` raises. Nothing will be executed.
    """
    issue.expect_understood(context, source, wanted)
    slaves = issue.slaves_of(context, source)
    number = statement_results.begin(context.store, source, slaves, wanted, who, begun=False)
    try:
        run = dags.trigger(STATEMENT, {"source": source, "statement": number})
    except SluiceError as error:
        statement_board.withdraw(context.store, number, who, f"Airflow began no run for it: {error.fact}")
        raise
    begun = f"{context.config.dag_id(STATEMENT)}/{run}"
    statement_board.entrust(context.store, number, begun)
    return number, begun


def carry_out(context: Context, source: str, number: int, people: Sequence[Requester]) -> tuple[Statement, bool]:
    """Execute a statement that was asked for, once; return it, and whether a publisher is wanted at once.
    See `issue.issue`.

    Args:
        people: who triggered the run.

    Raises:
        SluiceError: SLC-363, it is not for this run to execute, and was not executed by it.
    """
    entry = statement_board.find(context.store, source, number)
    if entry is None:
        raise issue.unknown(source, number)
    kept, _ = entry
    if strangers := [person.user for person in people if person.user != kept.actor]:
        raise _foreign(number, f"{kept.actor} asked for it, and {', '.join(strangers)} triggered this run")
    if not statement_board.take_up(context.store, number):
        raise _foreign(number, "another run, or an earlier try of this one, began it before, or somebody withdrew it")
    try:
        issue.expect_understood(context, source, kept.wanted)
    except SluiceError as error:
        # The configuration is another one than when it was asked for.
        statement_results.record_refusal(context.store, number, error.fact)
        raise
    return issue.execute(context, source, number, kept.wanted), kept.wanted.hurried


def withdraw(context: Context, source: str, number: int, who: str) -> None:
    """Keep a statement from being executed, as long as its run has not begun it.

    Raises:
        SluiceError: SLC-003, there is none; SLC-363, it was begun, or is ended.
    """
    if statement_board.find(context.store, source, number) is None:
        raise issue.unknown(source, number)
    if not statement_board.withdraw(context.store, number, who, f"{who} withdrew it; it was executed nowhere"):
        raise SluiceError(
            363,
            f"statement {number} was begun, or is ended, and cannot be withdrawn",
            "nothing was changed. To end one that is at work on the master, mark its run in Airflow as failed",
        )


def _foreign(number: int, why: str) -> SluiceError:
    return SluiceError(363, f"this run does not execute statement {number}: {why}", _ANOTHER)
