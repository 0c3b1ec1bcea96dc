"""DAG runs over Airflow's REST API: asked for, annotated, and those at work on an initial update found and ended."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from sluice.airflow_api.client import AirflowApi
from sluice.log import event
from sluice.model.names import RECEIVE_INITIAL_FILES, Pair
from sluice.outside_text import from_note, in_note

_QUEUED = "queued"
_AT_WORK = (_QUEUED, "running")
_ENDED = ("success", "failed")
_AT_ONCE = 100
# Airflow takes no longer note.
_NOTE_CHARS = 1_000


class Runs:
    """DAG runs in Airflow. Without Airflow there are none.

    Args:
        dag_id: the id of a DAG by its name, such as `sluice.config.configuration.Config.dag_id`.
    """

    def __init__(self, api: AirflowApi | None, dag_id: Callable[..., str]) -> None:
        self._api = api
        self._dag_id = dag_id

    def ask_for(self, dag: str, run: str, conf: Mapping[str, object]) -> str | None:
        """Ask for a run, once, however often this is called; its id. None if Airflow does not answer, to try again
        later.
        """
        if self._api is None:
            return None
        try:
            return self._api.trigger(self._dag_id(dag), run, conf)
        except (OSError, ValueError, KeyError) as error:
            event("not asked for", run=f"{self._dag_id(dag)}/{run}", why=error)
            return None

    def next_run(self, *names: str) -> datetime | None:
        """When the next run of a DAG starts by time; None if Airflow does not tell."""
        if self._api is None:
            return None
        try:
            dag = self._api.ask(f"/api/v2/dags/{self._dag_id(*names)}")
            return datetime.fromisoformat(dag["next_dagrun_run_after"])
        except (OSError, KeyError, TypeError, ValueError):
            return None

    def at_work(self, pair: Pair, begun_by: str) -> list[str] | None:
        """The runs at work on an update of a slave, each as `dag/run`; None if Airflow does not tell.

        Args:
            begun_by: the run that asked for the update, as the store has it.
        """
        if self._api is None or "/" not in begun_by:
            return None
        try:
            return [*([begun_by] if self._works(begun_by) else []), *self._receive_runs(pair)]
        except (OSError, KeyError, ValueError):
            return None

    def end(self, run: str) -> str:
        """Mark a run as failed, which ends its tasks. Returns why that did not go, or nothing."""
        try:
            assert self._api is not None, "who knows a run has Airflow"
            self._api.ask(_path(run), "PATCH", {"state": "failed"})
        except (OSError, ValueError) as error:
            return str(error)
        return ""

    def note(self, run: str, text: str) -> None:
        """Write the note of a run, which Airflow shows beside it; without Airflow there is none.

        Args:
            run: as `dag/run`.
        """
        if self._api is None or "/" not in run:
            return
        with suppress(OSError, KeyError, ValueError):
            self._api.ask(f"{_path(run)}?update_mask=note", "PATCH", {"note": _shorten(text)})

    def alive(self, dag: str) -> set[str]:
        """The ids of a DAG's runs that have not ended. Raises OSError, Airflow does not answer."""
        assert self._api is not None, "who cleans up has Airflow"
        query = urlencode({"state": _AT_WORK}, doseq=True)
        running = self._api.every(f"/api/v2/dags/{quote(self._dag_id(dag))}/dagRuns?{query}", "dag_runs")
        return {str(run["dag_run_id"]) for run in running}

    def failed_since(self, moment: datetime, dags: Sequence[str]) -> dict[str, str] | None:
        """The runs of these DAGs that failed since, as `dag/run`, each with its note, which people can edit. None if
        Airflow does not tell.
        """
        if self._api is None:
            return None
        query = urlencode({"state": "failed", "end_date_gte": moment.isoformat(), "order_by": "-end_date"})
        try:
            # Each by itself: Airflow tells of so many at a time, and other DAGs may fail often.
            return {
                f"{run['dag_id']}/{run['dag_run_id']}": from_note(run.get("note") or "")
                for dag in dags
                for run in self._list(dag, query)
            }
        except (OSError, KeyError, ValueError):
            return None

    def delete_before(self, dag: str, moment: datetime) -> int:
        """Delete the runs of a DAG that ended before a moment; how many there were.

        Raises:
            OSError: Airflow does not answer, or refuses; HTTPError 404: it does not know the DAG.
        """
        assert self._api is not None, "who cleans up has Airflow"
        path = f"/api/v2/dags/{quote(self._dag_id(dag))}/dagRuns"
        query = urlencode({"state": _ENDED, "end_date_lt": moment.isoformat(), "limit": _AT_ONCE}, doseq=True)
        count = 0
        while ids := [run["dag_run_id"] for run in self._api.ask(f"{path}?{query}")["dag_runs"]]:
            count += self._delete(self._dag_id(dag), path, ids)
        return count

    def _delete(self, dag_id: str, path: str, ids: Sequence[str]) -> int:
        assert self._api is not None
        try:
            done = self._api.ask(path, "PATCH", {"actions": [{"action": "delete", "entities": ids}]})["delete"]
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.METHOD_NOT_ALLOWED:
                raise
            # Airflow before 3.3 deletes one run at a time.
            for run_id in ids:
                self._api.ask(_path(f"{dag_id}/{run_id}"), "DELETE")
            return len(ids)
        if not done["success"]:
            raise OSError(f"Airflow deletes no run of {dag_id}: {done['errors']}")
        return len(done["success"])

    def drop_queued(self, dag: str) -> None:
        """Delete the runs of a paused DAG that have not begun: they would hide how its last run ended."""
        if self._api is None:
            return
        query = urlencode({"state": _QUEUED})
        dag_id = self._dag_id(dag)
        with suppress(OSError, KeyError, ValueError):
            for run in self._api.every(f"/api/v2/dags/{quote(dag_id)}/dagRuns?{query}", "dag_runs"):
                self._api.ask(_path(f"{dag_id}/{run['dag_run_id']}"), "DELETE")

    def _list(self, dag: str, query: str) -> list[Any]:
        assert self._api is not None
        try:
            return self._api.every(f"/api/v2/dags/{quote(self._dag_id(dag))}/dagRuns?{query}", "dag_runs")
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            # Airflow does not have the DAG yet.
            return []

    def _works(self, run: str) -> bool:
        assert self._api is not None
        try:
            return self._api.ask(_path(run))["state"] in _AT_WORK
        except urllib.error.HTTPError as error:
            if error.code == 404:
                # Somebody deleted it.
                return False
            raise

    def _receive_runs(self, pair: Pair) -> list[str]:
        """Runs that wait for files of a slave, or load them."""
        assert self._api is not None
        query = urlencode({"state": _AT_WORK}, doseq=True)
        dag = self._dag_id(RECEIVE_INITIAL_FILES)
        running = self._api.every(f"/api/v2/dags/{dag}/dagRuns?{query}", "dag_runs")
        return [f"{dag}/{run['dag_run_id']}" for run in running if _is_for(pair, run["conf"] or {})]


def _is_for(pair: Pair, conf: Mapping[str, object]) -> bool:
    # What was not chosen in the form is not told, and may be this source.
    return conf.get("slave") == pair.slave and conf.get("source", pair.source) == pair.source


def _shorten(text: str) -> str:
    """A text as a note that Airflow takes, with what it says last: what to type."""
    note = in_note(text)
    if len(note) <= _NOTE_CHARS:
        return note
    fact, _, hint = text.rpartition("\nHINT: ")
    end = f" ...\nHINT: {hint}" if fact and len(in_note(hint)) < _NOTE_CHARS // 2 else " ..."
    kept = _NOTE_CHARS
    while len(note := in_note(f"{text[:kept]}{end}")) > _NOTE_CHARS:
        # A letter becomes ten at most, and no mark is cut in two.
        kept -= max(1, (len(note) - _NOTE_CHARS) // 10)
    return note


def _path(run: str) -> str:
    dag, _, name = run.partition("/")
    return f"/api/v2/dags/{quote(dag)}/dagRuns/{quote(name, safe='')}"
