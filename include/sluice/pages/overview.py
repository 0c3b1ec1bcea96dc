"""The replications as pages and REST show them: one query of the store, one of Airflow, and the last look outside."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from sluice.airflow_api.pause import Pause
from sluice.context import Context
from sluice.model.names import Pair
from sluice.model.row_difference import without_keys
from sluice.monitor.reach import Reach
from sluice.monitor.status import Beside, ReplicationStatus, brief_status, explain
from sluice.pages.airflow import Airflow
from sluice.pages.charts import Sparks, sparks
from sluice.state.condition import ReplicationCondition
from sluice.store.replication_overview import ReplicationOverview, overviews

_KEPT_S = 30.0


class Sort(StrEnum):
    """The columns by which the list can be sorted, within a source."""

    NAME = "name"
    HOLDBACK = "holdback"
    COUNTER = "counter"
    STATUS = "status"
    DISPATCHER = "dispatcher"
    CONNECTION = "connection"


def _urgency(row: ReplicationStatus) -> int:
    return list(ReplicationCondition).index(row.condition)


_KEYS = {
    Sort.HOLDBACK: lambda row: row.holdback,
    Sort.COUNTER: lambda row: tuple(map(int, row.position.split("/"))),
    Sort.STATUS: lambda row: (_urgency(row), row.status),
    Sort.DISPATCHER: lambda row: row.dispatcher,
    Sort.CONNECTION: lambda row: row.answers,
}


@dataclass(frozen=True)
class View:
    """The rows of the list that are shown, and their order."""

    text: str = ""
    status: str = ""
    sort: Sort | None = None
    down: bool = False

    def group(
        self, rows: Sequence[ReplicationStatus], names: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, list[ReplicationStatus]]:
        """The rows to show, by source. Without a column to sort by, what needs attention comes first.

        Args:
            names: what sources and slaves are called, if not by their own names.
        """
        text = self.text.strip().lower()
        chosen = [row for row in rows if text in _names(row, names) and (not self.status or self._has_status(row))]
        if self.sort is Sort.NAME:
            chosen.sort(key=lambda row: names.get(row.slave, row.slave).lower(), reverse=self.down)
        elif self.sort:
            chosen.sort(key=_KEYS[self.sort], reverse=self.down)
        else:
            chosen.sort(key=_urgency)
        by_source: dict[str, list[ReplicationStatus]] = {}
        for name in dict.fromkeys(row.source for row in (rows if self.sort else chosen)):
            if mine := [row for row in chosen if row.source == name]:
                by_source[name] = mine
        return by_source

    def _has_status(self, row: ReplicationStatus) -> bool:
        return not row.well if self.status == "attention" else self.status in (row.status, row.condition)


def _names(row: ReplicationStatus, names: Mapping[str, str]) -> str:
    """Everything by which a person may look for a replication."""
    shown = (names.get(row.source, ""), names.get(row.slave, ""))
    return "\n".join((f"{row.source}->{row.slave}", *shown)).lower()


class LastHour:
    """The last hour of each replication, as lines. They are read with the status, now and then: a minute is
    their smallest step.
    """

    def __init__(self) -> None:
        self._read = float("-inf")
        self.sparks: Mapping[Pair, Sparks | None] = {}

    def is_old(self, pairs: Sequence[Pair]) -> bool:
        """Whether it is time to read them again."""
        return time.monotonic() - self._read > _KEPT_S or self.sparks.keys() != set(pairs)

    def keep(self, by_pair: Mapping[Pair, ReplicationOverview]) -> None:
        """Draw what was read."""
        now = time.time()
        self.sparks = {pair: sparks(seen.recent, now) for pair, seen in by_pair.items()}
        self._read = time.monotonic()


def list_replications(airflow: Airflow, reach: Reach, hour: LastHour | None = None) -> list[ReplicationStatus]:
    """Every configured replication, in the file's order.

    Args:
        hour: is brought up to date with the same query, if it is old.
    """
    context = airflow.context()
    reach.look(context)
    pairs = [Pair(replication.source, replication.slave) for replication in context.config.replications]
    paused = airflow.paused_dags([_drain(context, pair) for pair in pairs])
    old = hour if hour and hour.is_old(pairs) else None
    overviews_by_pair = overviews(context.store, pairs, recent=old is not None)
    if old:
        old.keep(overviews_by_pair)
    return [brief_status(context, overviews_by_pair[pair], _beside(context, pair, paused, reach)) for pair in pairs]


def find_replication(airflow: Airflow, reach: Reach, pair: Pair, *, keys: bool = True) -> ReplicationStatus:
    """One replication with its reasons. Raises ConfigError SLC-003, there is no such one.

    Args:
        keys: whether keys of rows may be seen, which a comparison found different.
    """
    context = airflow.context()
    context.config.replication(pair.source, pair.slave)
    reach.look(context)
    paused = airflow.paused_dags([_drain(context, pair)])
    (overview,) = overviews(context.store, [pair], by_table=True).values()
    status = explain(context, overview, _beside(context, pair, paused, reach))
    return status if keys else replace(status, why=without_keys(status.why))


def _drain(context: Context, pair: Pair) -> str:
    return context.config.dag_id("drain", pair.source, pair.slave)


def _beside(context: Context, pair: Pair, paused: Mapping[str, str], reach: Reach) -> Beside:
    by = paused.get(_drain(context, pair))
    return Beside(None if by is None else Pause(by), reach.absent(pair), reach.source(pair.source))
