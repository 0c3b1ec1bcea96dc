"""Issuing statements in a small world, and what its nodes answered."""

from __future__ import annotations

from typing import Any

from support.world import SOURCE, World

from sluice.model.statement import Statement
from sluice.statements.issue import await_answers, issue
from sluice.store.statement_results import StatementStatus

DDL = "CREATE TABLE t (id int PRIMARY KEY, x int, v text)"


def execute(world: World, text: str, **more: Any) -> Statement:
    """Issue one, without waiting for the slaves."""
    return issue(world.context, SOURCE, text, **more)


def standings(world: World, done: Statement) -> dict[str, tuple[StatementStatus, str]]:
    """How far it is on each node, and why; the master's node has no name."""
    return {one.slave: (one.status, one.detail) for one in await_answers(world.context, done.id, 0)}


def everywhere(world: World) -> dict[str, tuple[StatementStatus, str]]:
    """It did the same on all of them."""
    return dict.fromkeys(("", *world.slaves), (StatementStatus.OK, ""))
