"""DAGs as a person uses them, over Airflow's REST API: switched, triggered with choices of their form, waited for."""

from __future__ import annotations

import json
import re
import time
import urllib.error
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sluice import shell
from sluice.airflow_api.client import AirflowApi, Redirected, detail
from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError
from sluice.model.names import INITIAL_UPDATE
from sluice.outside_text import from_note

_LOOK_S = 0.5
# So long a run that is waited for may not be asked about: an Airflow that is busy does not answer for a while.
_SILENT_S = 120.0
_OURS = re.compile(r"SLC-\d{3}: .*")


_DOING = {"GET": "to show", "POST": "a run of", "PATCH": "to change"}


@dataclass(frozen=True)
class RunStanding:
    """The standing of a run: its state, the states of its tasks, and its note."""

    state: str
    tasks: str
    note: str

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self.state in ("success", "failed")


class Dags:
    """The DAGs of one deployment.

    Args:
        api: the connection of Airflow's REST API.
        token: of the person who does it; without one, the login of that connection.
    """

    def __init__(self, config: Config, api: ConnectionInfo, token: str = "") -> None:
        self._config = config
        self._api = AirflowApi(api, token)

    def switch(self, *names: str, paused: bool) -> str:
        """Pause or unpause a DAG; its id."""
        dag = self._config.dag_id(*names)
        self._ask(dag, "", "PATCH", {"is_paused": paused})
        return dag

    def let_run(self, *names: str, patience_s: float = 60.0) -> None:
        """Unpause a DAG, once Airflow has read its file. Raises SluiceError SLC-003, it has not in time."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                self.switch(*names, paused=False)
                return
            except SluiceError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_LOOK_S)

    def conf(self, name: str, words: Sequence[str]) -> dict[str, object]:
        """Choices of a DAG's form, each written as `NAME=VALUE`.

        Raises:
            SluiceError: SLC-003, Airflow knows no such DAG; SLC-914, a word is no choice of its form.
        """
        dag = self._config.dag_id(name)
        params: Mapping[str, Any] = self._ask(dag, "/details")["params"]
        return dict(_choice(name, params, word) for word in words)

    def trigger(self, name: str, conf: Mapping[str, object]) -> str:
        """Start a run; its id.

        Raises:
            SluiceError: SLC-003, Airflow knows no such DAG; SLC-919, it is paused; SLC-915, Airflow refuses.
        """
        dag = self._config.dag_id(name)
        details = self._ask(dag, "/details")
        if details["is_paused"]:
            raise SluiceError(
                919,
                f"{dag} is paused: its runs would wait",
                f"nothing was changed; type: {shell.unpause_dags(self._find_paused(name, dag, conf))}",
            )
        body = {"logical_date": None, "conf": dict(conf)}
        return str(self._ask(dag, "/dagRuns", "POST", body, _choices(name, details["params"]))["dag_run_id"])

    def wait(self, name: str, run: str, report: Callable[[str], None], patience_s: float = float("inf")) -> str:
        """Wait for a run's end, telling its tasks' states; its note.

        Raises:
            SluiceError: SLC-952, it failed, with its note, or did not end in time; SLC-916, Airflow has not answered
                for two minutes.
        """
        deadline = time.monotonic() + patience_s
        answered = time.monotonic()
        dag = self._config.dag_id(name)
        while True:
            try:
                standing = self.look(dag, run)
            except TransientError:
                if time.monotonic() > answered + _SILENT_S:
                    raise
                time.sleep(_LOOK_S)
                continue
            answered = time.monotonic()
            report(standing.tasks)
            if standing.state == "success":
                return standing.note
            if standing.has_ended or time.monotonic() > deadline:
                raise SluiceError(
                    952,
                    "\n".join(filter(None, [f"the run {run} of {dag} is {standing.state}", standing.note])),
                    "the log of its task in the Airflow UI has more. When the cause is fixed, trigger it again",
                )
            time.sleep(_LOOK_S)

    def look(self, dag: str, run: str) -> RunStanding:
        """A run, by the id of its DAG. Raises SluiceError SLC-916, Airflow does not answer; SLC-915, it refuses."""
        path = f"/dagRuns/{quote(run, safe='')}"
        answer = self._ask(dag, path)
        tasks = self._ask(dag, f"{path}/taskInstances")["task_instances"]
        begun = [task for task in tasks if task["state"] not in (None, "skipped", "upstream_failed")]
        text = ", ".join(f"{task['task_id']} {task['state']}" for task in begun)
        return RunStanding(str(answer["state"]), text, from_note(str(answer["note"] or "")))

    def _ask(
        self, dag: str, path: str = "", method: str = "GET", body: object = None, hint: str = "nothing was changed"
    ) -> Any:
        try:
            return self._api.ask(f"/api/v2/dags/{quote(dag)}{path}", method, body)
        except urllib.error.HTTPError as error:
            if error.code == 404 and not path.startswith("/dagRuns/"):
                raise self._unknown(dag) from None
            if error.code >= 500:
                raise self._silent(error) from None
            # What follows an empty line is the text of a schema.
            why = f"{error}{detail(error)}".partition("\n\n")[0]
            raise SluiceError(915, f"Airflow refused {_DOING[method]} {dag}: {why}", hint) from None
        except Redirected as error:
            raise elsewhere(error, self._config.airflow_api) from None
        except (OSError, ValueError, KeyError) as error:
            raise self._silent(error) from None

    def _find_paused(self, name: str, dag: str, conf: Mapping[str, object]) -> list[str]:
        """The DAG, which is paused, and those beside it that have to run before a slave follows its master."""
        source, slaves = conf.get("source"), conf.get("slaves")
        if name != INITIAL_UPDATE or source not in self._config.sources or not isinstance(slaves, list):
            return [dag]
        needed = map(self._config.dag_id, self._config.needed_dags(str(source), slaves))
        with suppress(OSError, KeyError, ValueError):
            known = {entry["dag_id"]: entry for entry in self._api.every("/api/v2/dags?tags=sluice", "dags")}
            return [name for name in needed if name in known and known[name]["is_paused"]] or [dag]
        return [dag]

    def _silent(self, error: Exception) -> TransientError:
        return TransientError(
            916,
            f"Airflow's REST API does not answer: {error}",
            f"runs that began go on; start Airflow (embedded: ./sluice up), or fix its connection: "
            f"{shell.connect(self._config.airflow_api)}",
        )

    def _unknown(self, dag: str) -> SluiceError:
        names: list[str] = []
        why = ""
        # Not every login may ask for these.
        with suppress(OSError, KeyError, ValueError):
            known = self._api.every("/api/v2/dags?tags=sluice", "dags")
            names = sorted(dag_entry["dag_id"].removeprefix(self._config.dag_prefix) for dag_entry in known)
        with suppress(OSError, KeyError, ValueError, IndexError):
            (broken,) = self._api.ask("/api/v2/importErrors?limit=1")["import_errors"]
            ours = _OURS.findall(broken["stack_trace"])
            reason = ours[-1] if ours else broken["stack_trace"].strip().splitlines()[-1]
            why = f". A DAG file cannot be read: {reason}"
        return SluiceError(
            3,
            f"Airflow knows no DAG {dag}{why}",
            f"name one of these: {', '.join(names) or 'it knows none of ours yet'}; it takes Airflow up to a minute to "
            "read what was added to the configuration",
        )


def elsewhere(error: Redirected, conn_id: str) -> SluiceError:
    """The error of people and checks for an address that is not Airflow's."""
    return SluiceError(
        915,
        str(error),
        f"nothing was changed. If that is Airflow's address, write it into the connection: {shell.connect(conn_id)}; "
        "else find out who answers there",
    )


def _choices(dag: str, params: Mapping[str, Any]) -> str:
    """The parameters of a DAG's form, as a HINT."""
    typed = f"nothing was changed; type {shell.sluice('trigger', dag)} NAME=VALUE ..., with these names: "
    named = ", ".join(f"{name}{_values_hint(param['schema'])}" for name, param in params.items())
    return f"{typed}{named}. A list is written as one,other"


def _values_hint(schema: Mapping[str, Any]) -> str:
    values = schema.get("enum") or schema.get("examples") or schema.get("items", {}).get("enum") or ()
    return f" ({', '.join(str(value) for value in values if value is not None)})" if values else ""


def _choice(dag: str, params: Mapping[str, Any], word: str) -> tuple[str, object]:
    name, equals, value = word.partition("=")
    if equals and name in params:
        kinds = params[name]["schema"].get("type", "string")
        if "array" in kinds and not value.startswith("["):
            return name, [part for part in value.split(",") if part]
        if "string" in kinds:
            return name, value
        with suppress(ValueError, RecursionError):
            return name, json.loads(value)
    raise SluiceError(914, f"{word[:200]!r} is no choice of {dag}", _choices(dag, params))
