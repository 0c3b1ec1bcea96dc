"""Runs that Airflow is to be asked for: kept in the transaction that wants them, until Airflow has answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.names import Pair
from sluice.store.engine import Store
from sluice.store.tables import for_pair, pending_run


@dataclass(frozen=True)
class PendingRun:
    """A run that is wanted.

    Attributes:
        dag: the name of its DAG, without the prefix of the configuration.
        run: its id, which says what asks for it: the same request gets one run, however often it is sent.
        conf: its params.
    """

    dag: str
    run: str
    conf: Mapping[str, object]


def put(connection: Connection, pair: Pair, wanted: PendingRun) -> None:
    """Keep a run that a replication wants."""
    values = {"dag": wanted.dag, "run": wanted.run, "conf": dict(wanted.conf)}
    row = insert(pending_run).values(source=pair.source, slave=pair.slave, **values)
    connection.execute(row.on_conflict_do_nothing())


def withdraw(connection: Connection, pair: Pair, dag: str, run: str | None = None) -> None:
    """Forget a run of a DAG that is no longer wanted; all of the replication if none is named."""
    gone = pending_run.delete().where(for_pair(pending_run, pair), pending_run.c.dag == dag)
    connection.execute(gone if run is None else gone.where(pending_run.c.run == run))


def unsent_runs(store: Store, pair: Pair) -> list[PendingRun]:
    """The runs of a replication that Airflow has not been asked for."""
    with store.begin() as connection:
        rows = connection.execute(select(pending_run).where(for_pair(pending_run, pair)).order_by(pending_run.c.run))
        return [PendingRun(row.dag, row.run, row.conf) for row in rows]


def mark_sent(store: Store, pair: Pair, done: PendingRun) -> None:
    """Forget a run that Airflow has."""
    with store.begin() as connection:
        withdraw(connection, pair, done.dag, done.run)
