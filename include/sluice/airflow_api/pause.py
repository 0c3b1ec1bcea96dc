"""Airflow's pause switch of a drain DAG, which is the standby by ADMIN; read and set over Airflow's REST API."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from sluice.airflow_api.client import AirflowApi
from sluice.errors import TransientError
from sluice.model.pause_event import pause_state

SECONDS_BETWEEN_LOOKS = 2.0


@dataclass(frozen=True)
class Pause:
    """A paused DAG; `actor` is empty if the event log does not have it."""

    actor: str


def paused_dags(api: AirflowApi) -> set[str]:
    """The DAGs of ours that are paused. Raises OSError, KeyError or ValueError without an answer of Airflow."""
    return {dag["dag_id"] for dag in api.every("/api/v2/dags?tags=sluice&paused=true", "dags")}


class PauseSwitch:
    """Looks at one DAG's pause bit, at most every two seconds. Without an answer the gate stays as it was.

    Args:
        unpause: the command by which a person unpauses it.
    """

    def __init__(self, api: AirflowApi | None, dag: str, unpause: str) -> None:
        self._api = api
        self._dag = dag
        self._unpause = unpause
        self._looked = float("-inf")
        self._seen: Pause | None = None
        self._answered = api is None

    @property
    def answers(self) -> bool:
        """Whether Airflow answered the last request for the pause bit."""
        return self._answered

    def is_unpaused(self) -> bool:
        """Whether the DAG is known not to be paused; without an answer nothing is known."""
        return self.find_pause() is None and self._answered

    def find_pause(self) -> Pause | None:
        """The person who paused the DAG; None if it is not paused."""
        if self._api and time.monotonic() - self._looked >= SECONDS_BETWEEN_LOOKS:
            self._answered = False
            with suppress(OSError, KeyError, ValueError):
                is_paused = self._api.ask(self._path)["is_paused"]
                self._answered = True
                if not is_paused:
                    self._seen = None
                elif self._seen is None:
                    self._seen = Pause(self._who(paused=True))
            # It may have taken long not to be answered.
            self._looked = time.monotonic()
        return self._seen

    def unpaused_by(self) -> str:
        """The person who unpaused the DAG; empty if the event log does not have it."""
        return self._who(paused=False) if self._api else ""

    def pause(self) -> None:
        """Pause the DAG, so that its page shows the standby; without an answer the hold in the store says it alone."""
        if self._api:
            with suppress(OSError, ValueError):
                self._api.ask(self._path, "PATCH", {"is_paused": True})

    def unpause(self) -> None:
        """Let the DAG run again. Raises TransientError SLC-302 if Airflow does not say that it did."""
        if self._api is None:
            return
        try:
            self._api.ask(self._path, "PATCH", {"is_paused": False})
        except (OSError, ValueError) as error:
            raise TransientError(
                302,
                f"Airflow did not unpause the DAG {self._dag}: {error}",
                f"the data is in; type: {self._unpause}; the run tries again by itself",
            ) from None
        self._looked = float("-inf")

    @property
    def _path(self) -> str:
        return f"/api/v2/dags/{quote(self._dag)}"

    def _who(self, *, paused: bool) -> str:
        assert self._api is not None
        query = urlencode({"dag_id": self._dag, "event": "patch_dag", "order_by": "-when", "limit": 1})
        with suppress(OSError, KeyError, IndexError, ValueError):
            (last,) = self._api.ask(f"/api/v2/eventLogs?{query}")["event_logs"]
            return str(last["owner"] or "") if pause_state(last["extra"]) is paused else ""
        return ""
