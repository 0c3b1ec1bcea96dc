"""Statements as pages and REST show them: what each node answered, and its difference from the master's answer.

Text and answers hold values, so that administrators alone see them; others see how far a statement is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sluice.context import Context
from sluice.model.statement import Row, WantedStatement, missing_rows
from sluice.statements import issue
from sluice.store import statement_board
from sluice.store.statement_board import StatementRecord
from sluice.store.statement_results import NodeAnswer, StatementStatus


@dataclass(frozen=True)
class NodeStatus:
    """A node's part in a statement.

    Attributes:
        slave: None is the master.
        detail: why it failed, or was not compared in full.
        rows: the first rows of its answer; `more` says whether there were others.
        lacks, extra: rows of the master's answer that are not in its own, and the other way round.
    """

    slave: str | None
    status: StatementStatus
    detail: str = ""
    at: datetime | None = None
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    more: bool = False
    changed: int = 0
    lacks: Sequence[Row] = ()
    extra: Sequence[Row] = ()


@dataclass(frozen=True)
class StatementStatusReport:
    """A statement.

    Attributes:
        wanted: its text, and how it is executed; None for who may not see it.
        begun: whether the master has begun it; a run that waits in Airflow may still be withdrawn.
        run: the run that is to execute it, as `dag/run`; empty if it was issued at a shell.
    """

    id: int
    source: str
    actor: str
    at: datetime
    begun: bool
    run: str
    wanted: WantedStatement | None
    nodes: Sequence[NodeStatus] = field(default_factory=tuple)

    @property
    def master(self) -> NodeStatus:
        """The master's part."""
        return self.nodes[0]

    @property
    def slaves(self) -> Sequence[NodeStatus]:
        """The slaves' parts; none if the master did not execute it."""
        return self.nodes[1:]


@dataclass(frozen=True)
class StatementPage:
    """Statements of a source, the newest first.

    Attributes:
        older: the number before which the next page begins; None if this page is the last one.
    """

    statements: Sequence[StatementStatusReport]
    older: int | None


def list_statements(context: Context, source: str, before: int | None, *, values: bool) -> StatementPage:
    """The newest statements of a source, without answers. Raises UnknownName SLC-003.

    Args:
        values: whether the texts may be seen.
    """
    context.config.source(source)
    statements, older = statement_board.page(context.store, source, before)
    reports = []
    for statement in statements:
        nodes = [NodeStatus(slave or None, status) for slave, status in statement.status.items()]
        reports.append(_report(statement, nodes, values))
    return StatementPage(reports, older)


def read_statement(context: Context, source: str, number: int, *, values: bool) -> StatementStatusReport:
    """A statement with the answers of all nodes. Raises UnknownName SLC-003."""
    context.config.source(source)
    statement = statement_board.find(context.store, source, number)
    if statement is None:
        raise issue.unknown(source, number)
    kept, (master, *slaves) = statement
    nodes = [_node(master, master, values), *(_node(answer, master, values) for answer in slaves)]
    return _report(kept, nodes, values)


def _report(kept: StatementRecord, nodes: Sequence[NodeStatus], values: bool) -> StatementStatusReport:
    wanted = kept.wanted if values else None
    return StatementStatusReport(kept.id, kept.source, kept.actor, kept.at, kept.begun, kept.run, wanted, nodes)


def _node(node: NodeAnswer, master: NodeAnswer, values: bool) -> NodeStatus:
    waits = node.status is StatementStatus.WAITING
    at = None if waits else node.at
    if waits or not values:
        return NodeStatus(node.slave or None, node.status, node.detail if values else "", at)
    mine, theirs = node.answer, master.answer
    alike = mine.columns == theirs.columns
    return NodeStatus(
        node.slave or None,
        node.status,
        node.detail,
        at,
        mine.columns,
        mine.rows,
        mine.more,
        mine.count,
        missing_rows(mine.rows, theirs.rows) if alike else (),
        missing_rows(theirs.rows, mine.rows) if alike else (),
    )
