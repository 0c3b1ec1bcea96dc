"""The parts of comparisons that are not over: the cut of each table, and the outcomes of parts that were compared.

They belong to a run. A part of a table is a range of its keys, or all of it. Several tries of a run may write here at
once, if one goes on that its orchestrator has given up. So a cut has a token, and an outcome is for one cut alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.store.engine import Store
from sluice.store.tables import compared_part, for_pair

# An outcome that is older counts no more: the part is compared again.
DAYS = 7
_COUNT = "of"


@dataclass(frozen=True)
class PartOutcome:
    """The difference of a part, as text, and where both sides were compared."""

    difference: str
    position: Position
    at: datetime


@dataclass(frozen=True)
class TablePlan:
    """The cut of a table.

    Attributes:
        token: another one for each cut.
        shape: a text that is another one when the comparison is of other rows, or of other values of them.
        parts: all of them, in order.
        outcomes: of the parts that were compared, by their numbers.
    """

    token: str
    shape: str
    parts: Sequence[Mapping[str, Any]]
    outcomes: Mapping[int, PartOutcome]


def plans(store: Store, run: str, pair: Pair) -> dict[str, TablePlan]:
    """The whole cuts that earlier tries of a run have made, by the names of tables."""
    young = compared_part.c.at > func.clock_timestamp() - timedelta(days=DAYS)
    # An outcome that does not count need not be read.
    outcome = case((young, compared_part.c.found)).label("found")
    columns = [
        getattr(compared_part.c, name) for name in ("table", "plan", "shape", "body", "segment", "ordinal", "at")
    ]
    wanted = select(*columns, outcome).where(compared_part.c.run == run, for_pair(compared_part, pair))
    with store.begin() as connection:
        rows = connection.execute(wanted.order_by(compared_part.c.table, compared_part.c.number)).all()
    tables: dict[str, list[Any]] = {}
    for row in rows:
        tables.setdefault(row.table, []).append(row)
    return {table: _plan(some) for table, some in tables.items() if _whole(some)}


def _whole(rows: Sequence[Any]) -> bool:
    """Whether these are all parts of one cut: two tries may have cut a table at the same time."""
    return len({row.plan for row in rows}) == 1 and len(rows) == rows[0].body[_COUNT]


def _plan(rows: Sequence[Any]) -> TablePlan:
    outcomes = {
        number: PartOutcome(row.found, Position(row.segment, row.ordinal), row.at)
        for number, row in enumerate(rows)
        if row.found is not None
    }
    return TablePlan(rows[0].plan, rows[0].shape, [row.body for row in rows], outcomes)


def plan(store: Store, run: str, pair: Pair, table: str, shape: str, parts: Sequence[Mapping[str, Any]]) -> str:
    """Write down how a table was cut, in place of earlier cuts; the token of that."""
    token = token_hex(16)
    named = {"run": run, "source": pair.source, "slave": pair.slave, "table": table, "plan": token, "shape": shape}
    rows = [{**named, "number": number, "body": {**part, _COUNT: len(parts)}} for number, part in enumerate(parts)]
    with store.begin() as connection:
        connection.execute(compared_part.delete().where(*_is_of(run, pair), compared_part.c.table == table))
        connection.execute(insert(compared_part).on_conflict_do_nothing(), rows)
    return token


def keep(
    store: Store, run: str, pair: Pair, table: str, token: str, number: int, at: Position, difference: str
) -> None:
    """Keep the difference of a part, if this run's cut is still valid and the part has no outcome yet."""
    which = (compared_part.c.table == table, compared_part.c.number == number, compared_part.c.plan == token)
    values = {"found": difference, "segment": at.segment, "ordinal": at.ordinal, "at": func.clock_timestamp()}
    old = compared_part.c.found.is_(None) | (compared_part.c.at <= func.clock_timestamp() - timedelta(days=DAYS))
    with store.begin() as connection:
        connection.execute(compared_part.update().where(*_is_of(run, pair), *which, old).values(values))


def forget(store: Store, run: str, pair: Pair) -> None:
    """Delete the parts of a slave: its comparison is over, or has to begin anew."""
    with store.begin() as connection:
        connection.execute(compared_part.delete().where(*_is_of(run, pair)))


def trim(store: Store) -> None:
    """Delete parts of abandoned runs."""
    old = func.max(compared_part.c.at) <= func.clock_timestamp() - timedelta(days=DAYS)
    with store.begin() as connection:
        abandoned = select(compared_part.c.run).group_by(compared_part.c.run).having(old)
        connection.execute(compared_part.delete().where(compared_part.c.run.in_(abandoned)))


def _is_of(run: str, pair: Pair) -> Sequence[Any]:
    return compared_part.c.run == run, for_pair(compared_part, pair)
