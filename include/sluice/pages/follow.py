"""The run that a person began on a page, which the page follows until it is left."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from sluice.errors import SluiceError
from sluice.model.names import INITIAL_UPDATE
from sluice.monitor import run_progress
from sluice.pages.entry import airflow, visitor


@dataclass(frozen=True)
class FollowedRun:
    """A run in Airflow: its state and the states of its tasks; its note, or why Airflow does not tell.

    Attributes:
        figures: the rows that it loads or compares now, as a shell that waits for it shows them.
    """

    dag: str
    run: str
    state: str
    tasks: str = ""
    note: str = ""
    figures: str = ""


def followed_run(request: Request, name: str) -> FollowedRun | None:
    """The run of an initial update, as this person may see it; None if none is named.

    Args:
        name: as `dag/run`.
    """
    context = airflow(request).context()
    dag, _, run = name.partition("/")
    if not run or dag != context.config.dag_id(INITIAL_UPDATE):
        return None
    try:
        standing = context.dags(visitor(request).token).look(dag, run)
    except SluiceError as error:
        return FollowedRun(dag, run, "unknown", note=f"{error.message}\nHINT: {error.hint}")
    figures = "" if standing.has_ended else run_progress.describe(context, name)
    return FollowedRun(dag, run, standing.state, standing.tasks, standing.note, figures)
