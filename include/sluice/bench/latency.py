"""`bench latency`: from a commit on the master until the slaves show it, through Airflow."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping

from psycopg import sql

from sluice.bench.report import BenchReport
from sluice.context import Context
from sluice.demo.by_files import PATIENCE_S
from sluice.demo.master import SOURCE, install, load
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.runtime.handle import Runtime
from sluice.runtime.terminal import Progress, ProgressStep
from sluice.runtime.up import down, find_running, up
from sluice.state.replication import Status
from sluice.store import replications
from sluice.vendors.postgresql.session import Connection

TRIES = 20
_MARKED = TableName("public", "airlines")
_CARRIER = "9E"
_LOOK_S = 0.02
_PATIENCE_S = 120.0


def measure(scale: float, progress: Progress) -> BenchReport:
    """20 commits at random moments of at least a minute; what was not running before is stopped after."""
    tries = max(3, round(TRIES * scale))
    was_up = find_running() is not None
    try:
        runtime = up(progress)
        context = runtime.context()
        slaves = context.config.slaves_of(SOURCE)
        _replicate(runtime, context, slaves, progress)
        with progress.step(f"{tries} commits, until {' and '.join(slaves)} show them") as step:
            waits = _waits(runtime, context, slaves, tries, step)
    finally:
        if not was_up:
            down(progress)
    schedule = context.config.source(SOURCE).schedule
    return BenchReport(
        "latency",
        {
            "tries": tries,
            "slaves": len(slaves),
            "every_s": schedule.every_s,
            "run_for_s": schedule.run_for_s,
            "poll_s": schedule.poll_s,
        },
        {
            "p50_s": statistics.median(waits),
            "p95_s": statistics.quantiles(waits, n=20, method="inclusive")[-1],
            "max_s": max(waits),
        },
    )


def _replicate(runtime: Runtime, context: Context, slaves: list[str], progress: Progress) -> None:
    """The demo's data on the master and on every slave, and the DAGs at work."""
    dags = context.dags()
    with progress.step("loading the master"), runtime.connect("master") as session:
        load(session)
    with progress.step("installing on the master"), runtime.connect("master") as session:
        install(context, session)
    with progress.step("waiting for the DAGs"):
        names = [("initial_update",), ("verify",), ("publish", SOURCE), *(("drain", SOURCE, slave) for slave in slaves)]
        for names_of_dag in names:
            dags.let_run(*names_of_dag)
    statuses = {slave: replications.get(context.store, Pair(SOURCE, slave)).status for slave in slaves}
    empty = [slave for slave, status in statuses.items() if status is not Status.NORMAL]
    if empty:
        with progress.step(f"filling {' and '.join(empty)}") as step:
            conf: dict[str, object] = {"source": SOURCE, "slaves": empty}
            dags.wait("initial_update", dags.trigger("initial_update", conf), step.update, PATIENCE_S)


def _waits(runtime: Runtime, context: Context, slaves: list[str], tries: int, step: ProgressStep) -> list[float]:
    """For every commit and slave, the seconds until it showed there."""
    dice = random.Random(2013)
    sessions: dict[tuple[str, TableName], Connection] = {}
    waits: list[float] = []
    with runtime.connect("master") as master:
        (name,) = master.execute("SELECT name FROM public.airlines WHERE carrier = %s", [_CARRIER]).fetchone() or ("",)
        for slave in slaves:
            settings = context.config.slave(slave)
            sessions[slave, settings.mapper.table(_MARKED)] = runtime.connect(
                context.connection(settings.connection).database
            )
        try:
            for number in range(tries):
                # At any moment of a run's minute, not always as soon as the last change is through.
                time.sleep(dice.uniform(1.0, 5.0))
                waits += _until_shown(master, sessions, f"{name}, try {number}")
                step.update(f"{number + 1} of {tries}, the last took {waits[-1]:.1f} s")
        finally:
            master.execute("UPDATE public.airlines SET name = %s WHERE carrier = %s", [name, _CARRIER])
            for session in sessions.values():
                session.close()
    return waits


def _until_shown(master: Connection, slaves: Mapping[tuple[str, TableName], Connection], name: str) -> list[float]:
    master.execute("UPDATE public.airlines SET name = %s WHERE carrier = %s", [name, _CARRIER])
    committed = time.perf_counter()
    waiting = dict(slaves)
    waits = []
    while waiting:
        for (slave, table), session in list(waiting.items()):
            shown = sql.SQL("SELECT name = %s FROM {} WHERE carrier = %s")
            row = session.execute(shown.format(sql.Identifier(table.schema, table.table)), [name, _CARRIER]).fetchone()
            if row and row[0]:
                waits.append(time.perf_counter() - committed)
                del waiting[slave, table]
        if time.perf_counter() - committed > _PATIENCE_S:
            raise SluiceError(947, f"a change did not arrive within {_PATIENCE_S:.0f} s", "see ./sluice status")
        time.sleep(_LOOK_S)
    return waits
