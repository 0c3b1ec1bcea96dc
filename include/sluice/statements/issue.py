"""Issues a broadcast statement on a master."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from sluice import shell
from sluice.context import Context
from sluice.errors import RolledBack, SluiceError, TransientError, UnknownName
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.statement import Statement, TransactionOutcome, TransactionRef, WantedStatement
from sluice.store import statement_results
from sluice.store.statement_results import NodeAnswer, StatementStatus

# So long the master may take to come back before the question is left open.
PATIENCE_S = 30.0
_LOOK_S = 0.5


def issue(
    context: Context,
    source: str,
    text: str,
    *,
    schema: str = "public",
    varying: bool = False,
    max_entries: int | None = None,
    hurried: bool = False,
) -> Statement:
    """Execute a statement on the master, and send it to every slave that executes statements.

    Args:
        schema: where names without a schema are looked up, on every node.
        varying: execute it although it may do something else on another node.
        max_entries: rows of an answer that are kept, if these are fewer than the configuration allows.
        hurried: ask for a publisher at once.

    Returns:
        the statement with its number and the master's answer.

    Raises:
        SluiceError: SLC-100 to SLC-103, SLC-914, SLC-577, SLC-578, it is refused, SLC-105, it failed; nothing was
            changed on any node. SLC-110, it was executed or not, by a master whose place another has taken.
        TransientError: SLC-108, it was rolled back by something that passes; SLC-109, it is not known yet whether it
            was executed.
    """
    rows = expect_bounded(context, source, max_entries)
    wanted = WantedStatement(text, schema, varying, rows, hurried)
    expect_understood(context, source, wanted)
    context.store.migrate()
    number = statement_results.begin(context.store, source, slaves_of(context, source), wanted)
    done = execute(context, source, number, wanted)
    if hurried:
        hurry(context, source)
    return done


def hurry(context: Context, source: str) -> None:
    """Ask for a publisher after a statement; one that cannot be asked for now comes by its schedule."""
    with suppress(SluiceError):
        context.ask_publisher(source)


def expect_bounded(context: Context, source: str, max_entries: int | None) -> int:
    """The number of rows that are kept of an answer. Raises SluiceError SLC-914, more are wanted than may be."""
    most = context.config.source(source).statement_max_rows
    if max_entries is not None and not 0 <= max_entries <= most:
        raise SluiceError(
            914,
            f"{max_entries} rows of an answer are wanted, and of {source} it may be 0 to {most}",
            "nothing was changed; ask for fewer, or change `statement_max_rows` of the source in the configuration",
        )
    return most if max_entries is None else max_entries


def expect_understood(context: Context, source: str, wanted: WantedStatement) -> None:
    """Check by the text alone that master and slaves can take a statement.

    Raises:
        SluiceError: SLC-100, SLC-101 or SLC-103, it is refused.
    """
    text = Statement(0, wanted.sql, wanted.schema, reads=False, max_rows=wanted.max_rows)
    context.source(source).capture.understands(wanted.sql)
    for slave in slaves_of(context, source):
        context.slave(Pair(source, slave)).understands(text)


def execute(context: Context, source: str, number: int, wanted: WantedStatement) -> Statement:
    """Execute a statement that is in the control store on the master. See `issue`."""
    attempt = _Attempt(context, source, number)
    try:
        sent = Statement(number, wanted.sql, wanted.schema, reads=False, max_rows=wanted.max_rows)
        # A node that is no PostgreSQL executes no text that a person wrote.
        portable = any(context.slave(Pair(source, slave)).portable_alone for slave in slaves_of(context, source))
        context.source(source).capture.issue(sent, attempt.commits, varying=wanted.varying, portable=portable)
    except SluiceError as error:
        attempt.record_failure(error)
    done = attempt.record_commit()
    event("statement", source=source, id=number, reads=done.reads)
    return done


class _Attempt:
    """One statement on the master: what is known of its commit."""

    def __init__(self, context: Context, source: str, number: int) -> None:
        self._context = context
        self._source = source
        self._number = number
        self._done: Statement | None = None
        self._traced = TransactionRef(number)

    def commits(self, done: Statement, traced: TransactionRef) -> None:
        """Record that the commit comes next; until here an error rolls back for certain."""
        statement_results.record_execution(self._context.store, done, traced)
        self._done, self._traced = done, traced

    def record_commit(self) -> Statement:
        """The statement, recorded as executed. Raises TransientError SLC-109 if the control store is lost."""
        assert self._done is not None
        try:
            statement_results.record_commit(self._context.store, self._number)
        except TransientError as error:
            raise open_error(self._source, self._number, error.fact) from error
        return self._done

    def record_failure(self, error: SluiceError) -> None:
        """Record that the master has not executed it, and raise the error; or return if it was committed."""
        if self._done is None and not isinstance(error, TransientError):
            statement_results.record_refusal(self._context.store, self._number, error.fact)
            raise error
        fate = TransactionOutcome.ROLLED_BACK if self._done is None else self._find_outcome(error)
        # Without the control store it is the next one who asks that settles it.
        with suppress(TransientError):
            statement_results.resolve(self._context.store, self._number, fate, error.fact)
        if fate is TransactionOutcome.ROLLED_BACK:
            raise (
                error if isinstance(error, RolledBack) else statement_results.rollback_error(self._number, error.fact)
            ) from error
        if fate is TransactionOutcome.UNKNOWN:
            raise SluiceError(
                110,
                f"nobody can tell whether statement {self._number} was executed: while it was committed, another "
                f"master took the place of {self._source}",
                "look at the master's data before you issue it again; see A restored source in the runbook",
            ) from error

    def _find_outcome(self, error: SluiceError) -> TransactionOutcome:
        """Find the outcome of a commit that was sent. Wait while the master does not answer."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                fate = self._context.source(self._source).capture.fate(self._traced, end=True)
            except SluiceError:
                fate = TransactionOutcome.RUNNING
            if fate is not TransactionOutcome.RUNNING:
                return fate
            if time.monotonic() >= end:
                raise open_error(self._source, self._number, error.fact) from error
            time.sleep(_LOOK_S)


def open_error(source: str, number: int, why: str) -> TransientError:
    """The error of a statement that the master may have executed."""
    shown = shell.sluice("statement", source, "--show", number)
    return TransientError(
        109,
        f"it is not known yet whether statement {number} was executed: {why}",
        f"do not issue it again before you have seen `{shown}`: it finds out as soon as the master and the "
        "control store answer",
    )


def resolve(context: Context, source: str) -> None:
    """Find the outcome of statements whose issuers were lost, or lost the master, during the commit."""
    if open_ := statement_results.unresolved_statements(context.store, source):
        database = context.source(source)
        for traced in open_:
            fate = database.capture.fate(traced)
            statement_results.resolve(context.store, traced.id, fate)
            event("statement settled", source=source, id=traced.id, fate=fate)


def show(context: Context, source: str, number: int, patience_s: float) -> Sequence[NodeAnswer]:
    """The answers of all nodes to a statement that was issued before, the master first.

    Raises:
        SluiceError: SLC-003, there is no such statement of this source.
    """
    context.config.source(source)
    if statement_results.find_issued(context.store, source, number) is None:
        raise unknown(source, number)
    resolve(context, source)
    return await_answers(context, number, patience_s)


def await_answers(context: Context, number: int, patience_s: float) -> Sequence[NodeAnswer]:
    """The answers of all nodes, the master first; waits for them up to `patience_s` seconds."""
    end = time.monotonic() + patience_s
    while True:
        answers = statement_results.answers(context.store, number)
        if time.monotonic() >= end or all(answer.status is not StatementStatus.WAITING for answer in answers):
            return answers
        time.sleep(_LOOK_S)


def unknown(source: str, number: int) -> UnknownName:
    """The error of a number that no statement of a source has."""
    return UnknownName(
        3,
        f"there is no statement {number} of {source}",
        "give the number that was printed when it was issued; in the control store: SELECT id, sql FROM statement",
    )


def slaves_of(context: Context, source: str) -> list[str]:
    """The slaves that execute statements of a source."""
    chosen = context.config.slaves_of(source)
    return [slave for slave in chosen if context.config.replication(source, slave).statements]
