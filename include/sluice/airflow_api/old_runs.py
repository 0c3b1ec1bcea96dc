"""Old runs of our DAGs, the logs of their tasks, and what the services of the embedded runtime have logged."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError

from sluice.airflow_api.runs import Runs
from sluice.config.configuration import Config
from sluice.errors import TransientError
from sluice.log import event
from sluice.paths import home

# The files of Spark's event log, each of 10 MB.
_EVENT_FILES = 10
# A service that is up for months writes into one file.
_LONGEST_LOG, _KEPT_OF_IT = 50_000_000, 10_000_000


def clean_up(runs: Runs, config: Config, days: float, logs: Path | None) -> dict[str, object]:
    """Delete runs that ended so many days ago, and logs as old.

    Args:
        logs: where Airflow keeps the logs of tasks, if that is a directory here.

    Raises:
        TransientError: SLC-302, Airflow's REST API did not delete them.
    """
    before = datetime.now(UTC) - timedelta(days=days)
    try:
        done = {dag: _delete_runs(runs, dag, before) for dag in config.dags}
    except (OSError, KeyError, ValueError) as error:
        raise TransientError(
            302,
            f"old runs cannot be deleted: {error}",
            f"nothing is lost; look whether the login of the connection {config.airflow_api} may delete runs. "
            "The next run of housekeeping tries again; keep_runs_days: null in the configuration switches it off",
        ) from None
    deleted, gone = sum(count for count, _ in done.values()), 0
    for dag, (_, alive) in done.items():
        directories = (logs / f"dag_id={config.dag_id(dag)}").glob("run_id=*") if logs else ()
        gone += sum(_remove_if_old(run, before) for run in directories if run.name.partition("=")[2] not in alive)
    services = home() / "logs"
    gone += sum(_remove_if_old(day, before) for day in services.glob("dag-files/*") if not day.is_symlink())
    gone += sum(map(_cut_if_long, services.glob("*.log")))
    gone += sum(map(_remove_first, (home() / "spark" / "events").glob("*/")))
    event("cleaned up", runs=deleted, logs=gone)
    return {"runs": deleted, "logs": gone, "note": f"deleted {deleted} runs and {gone} logs older than {days:g} days"}


def _delete_runs(runs: Runs, dag: str, before: datetime) -> tuple[int, set[str]]:
    """Delete old runs of a DAG; returns their number, and the runs that have not ended."""
    try:
        return runs.delete_before(dag, before), runs.alive(dag)
    except HTTPError as error:
        if error.code != 404:
            raise
        # Airflow has not read it yet, or no longer has it.
        return 0, set()


def _remove_if_old(directory: Path, before: datetime) -> bool:
    """Remove a directory if nothing in it was written since."""
    try:
        newest = max(file.lstat().st_mtime for file in [directory, *directory.rglob("*")])
    except FileNotFoundError:
        # Somebody else removes it.
        return False
    if newest >= before.timestamp():
        return False
    shutil.rmtree(directory, ignore_errors=True)
    return True


def _remove_first(events: Path) -> int:
    """Remove all but the last files of an application's event log; their number."""
    files = sorted(events.glob("events_*"), key=lambda file: file.stat().st_mtime)[:-_EVENT_FILES]
    for file in files:
        file.unlink()
    return len(files)


def _cut_if_long(log: Path) -> bool:
    """Keep the end of a log that is very long; who writes it appends."""
    if log.stat().st_size <= _LONGEST_LOG:
        return False
    with log.open("r+b") as file:
        file.seek(-_KEPT_OF_IT, 2)
        kept = file.read()
        file.seek(0)
        file.truncate()
        file.write(kept[kept.index(b"\n") + 1 :] if b"\n" in kept else kept)
    return True
