"""The progress of comparisons that are under way: it stands beside the point of each, and goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from sqlalchemy import func, select

from sluice.model.names import Pair
from sluice.model.progress import ComparisonProgress
from sluice.store import watched_tables
from sluice.store.engine import Store
from sluice.store.tables import initial_update, point, replication

_RUN = "run"


def report(store: Store, number: int, run: str, progress: ComparisonProgress) -> None:
    """Record the progress of the comparison at a point.

    Args:
        run: the run that compares, as `dag/run`.
    """
    with store.begin() as connection:
        values = {"progress": {_RUN: run, **asdict(progress)}}
        connection.execute(point.update().where(point.c.id == number).values(values))


def of_run(store: Store, run: str) -> ComparisonProgress | None:
    """The progress of a run's comparison; None if it compares nothing now."""
    wanted = select(point.c.progress).where(
        point.c.progress[_RUN].astext == run, point.c.deadline > func.clock_timestamp()
    )
    with store.begin() as connection:
        values = connection.execute(wanted.order_by(point.c.id.desc()).limit(1)).scalar()
    return ComparisonProgress.from_values(values) if values else None


def expected_rows(store: Store, pair: Pair) -> Mapping[str, int]:
    """The rows that each table of a master had when it was compared last, or else when the slave was filled."""
    its = select(replication.c.update_id).where(replication.c.source == pair.source, replication.c.slave == pair.slave)
    with store.begin() as connection:
        loaded = connection.execute(select(initial_update.c.by_table).where(initial_update.c.id.in_(its))).scalar()
    return {table["table"]: table["rows"] for table in loaded or ()} | watched_tables.row_counts(store, pair.source)
