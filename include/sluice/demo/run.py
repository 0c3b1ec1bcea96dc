"""`./sluice demo`: a master with real data, two slaves, a writer that never rests, and the proof at the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from sluice import libpq
from sluice.config import configuration, configuration_text
from sluice.context import Context
from sluice.demo import by_files
from sluice.demo.master import SOURCE, install, load
from sluice.demo.writer import DemoWriter
from sluice.errors import ConfigError, SluiceError
from sluice.model.names import TableName
from sluice.monitor import status
from sluice.monitor.status import ReplicationStatus
from sluice.outside_text import say
from sluice.runtime.handle import Runtime
from sluice.runtime.postgres import Cluster
from sluice.runtime.terminal import Progress
from sluice.runtime.up import down, up
from sluice.state.replication import Status

WRITE_ON_S = 8.0
# Statements to try in the master after the demo.
CHANGE = "UPDATE airlines SET name = 'Sluice Air' WHERE carrier = 'AA'"
CATCH_UP_S = 180.0


@dataclass(frozen=True)
class DemoResult:
    """The result of the demo."""

    rows: list[ReplicationStatus]

    @property
    def is_proved(self) -> bool:
        """Whether every slave is NORMAL and was found equal, value by value."""
        return all(row.status == Status.NORMAL and row.compared and row.different == 0 for row in self.rows)


def run(*, once: bool, files: bool = False) -> int:
    """Run the demo; with `once` stop everything at the end. The exit code: 0 if it proved what it should.

    Args:
        files: the initial data is stored in files and carried to the slaves.
    """
    progress = Progress()
    _expect_own_configuration()
    # Whatever was started in this home before.
    os.environ[configuration_text.CONFIG_ENV] = str(configuration_text.path().resolve())
    try:
        runtime = up(progress, lambda cluster: _load(cluster, progress))
        outcome = _show(runtime, progress, files=files)
        say(status.as_table(outcome.rows))
        if not once:
            slaves = [row.slave for row in outcome.rows]
            looks = [f'See it on {slave}: {runtime.psql(slave)} -c "{_look(slave)}"' for slave in slaves]
            say(
                f"\nAirflow: {runtime.ui_url}   login {runtime.login}   password {runtime.password}\n"
                f'Change something: {runtime.psql("master")} -c "{CHANGE}"\n'
                + "\n".join(looks)
                + "\nEverything stays up: ./sluice status, ./sluice check, ./sluice down"
            )
    except KeyboardInterrupt:
        if not once:
            say("\nWhat was started stays up: ./sluice down stops it; ./sluice demo goes on.", file=sys.stderr)
        raise
    finally:
        if once:
            down(progress)
    return 0 if outcome.is_proved else 1


def _look(slave: str) -> str:
    table = configuration.load().slave(slave).mapper.table(TableName("public", "airlines"))
    return f"SELECT name FROM {table} WHERE carrier = 'AA'"


def _expect_own_configuration() -> None:
    """See that the configuration has the demo's source. Raises ConfigError SLC-253."""
    if SOURCE not in configuration.load().sources:
        raise ConfigError(
            253,
            f"the demo needs its own configuration, and {configuration_text.CONFIG_ENV} names "
            f"{configuration_text.path()}",
            f"type: unset {configuration_text.CONFIG_ENV}; then ./sluice down and ./sluice demo. Nothing was changed",
        )


def _show(runtime: Runtime, progress: Progress, *, files: bool) -> DemoResult:
    context = Context(configuration.load(), runtime.connections())
    slaves = context.config.slaves_of(SOURCE)
    dags = context.dags()
    title = f"installing on the master; a superuser runs what `./sluice grants {SOURCE}` prints"
    with progress.step(title), _master(runtime) as session:
        install(context, session)
    with progress.step("waiting for the DAGs"):
        names = [("initial_update",), ("receive_initial_files",), ("verify",), ("publish", SOURCE)]
        for names_of_dag in [*names, *(("drain", SOURCE, slave) for slave in slaves)]:
            dags.let_run(*names_of_dag)
    writer = DemoWriter(lambda: _master(runtime))
    writer.start()
    try:
        conf: dict[str, object] = {"source": SOURCE, "slaves": slaves}
        if files:
            by_files.fill(context, dags, SOURCE, slaves, progress)
        else:
            with progress.step("filling both slaves while the master changes") as step:
                # Airflow goes on with the run of a demo that was killed.
                run = dags.trigger("initial_update", {**conf, "force": True})
                dags.wait("initial_update", run, step.update, by_files.PATIENCE_S)
        with progress.step("changing the master further, drains following"):
            time.sleep(WRITE_ON_S)
    finally:
        writer.stop()
    counts = writer.counts()
    progress.note(f"the writer committed {counts.committed:,} transactions and rolled {counts.rolled_back:,} back")
    with progress.step("letting the drains catch up") as step:
        _catch_up(context, runtime, step.update)
    with progress.step("verifying value by value at one point of the stream") as step:
        dags.wait("verify", dags.trigger("verify", conf), step.update, by_files.PATIENCE_S)
    return DemoResult(status.statuses(context))


def _master(runtime: Runtime) -> psycopg.Connection[tuple[Any, ...]]:
    return libpq.connect(runtime.admin_dsn("master"))


def _load(cluster: Cluster, progress: Progress) -> None:
    """Before any DAG can run: a source without its tables stops publishing."""
    title = "loading 336,776 flights and their airports, planes, weather into the master"
    with progress.step(title), cluster.admin("master") as session:
        load(session)


def _catch_up(context: Context, runtime: Runtime, report: Callable[[str], None]) -> None:
    deadline = time.monotonic() + CATCH_UP_S
    resources = context.resources(SOURCE)
    counted = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(resources.schema, resources.name("queue")))
    with _master(runtime) as session:
        while True:
            (queued,) = session.execute(counted).fetchone() or (0,)
            behind = sum(row.holdback for row in status.statuses(context))
            report(f"{queued} in ITEMS, {behind} held back")
            if not queued and not behind:
                return
            if time.monotonic() > deadline:
                raise SluiceError(931, f"the slaves did not catch up within {CATCH_UP_S:.0f} s", "see ./sluice status")
            time.sleep(0.5)
