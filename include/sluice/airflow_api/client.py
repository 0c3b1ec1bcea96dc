"""Airflow's REST API, as any client uses it: tasks of Airflow 3 have no other way to its metadata."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

from sluice import loopback
from sluice.connections import ConnectionInfo
from sluice.log import event

TIMEOUT_S = 10.0
# So many ids are tried for a run, if runs of others have those before.
_MOST_IDS = 100
# Airflow cuts larger pages, see its `maximum_page_limit`.
_PAGE = 100


class Redirected(OSError):
    """Airflow's address answers that another one is to be asked. The login, or a person's token, goes to none but the
    address that people wrote.
    """


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> NoReturn:
        fp.close()
        asked, other = urlsplit(req.full_url), urlsplit(newurl)
        raise Redirected(
            f"{asked.scheme}://{asked.netloc} sends callers on to {other.scheme}://{other.netloc} (HTTP {code}), "
            "where the login is not sent"
        )


def dag_run(run: str, conf: Mapping[str, object]) -> dict[str, object]:
    """The body of a request for a DAG run with this id."""
    return {"dag_run_id": run, "logical_date": None, "conf": dict(conf)}


def detail(error: urllib.error.HTTPError) -> str:
    """The reason that Airflow gives for a refused call."""
    try:
        text = json.load(error)["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {text if isinstance(text, str) else json.dumps(text)}"


class AirflowApi:
    """One client with one login. A call raises OSError if Airflow does not answer, or refuses; `Redirected`, which is
    one, if its address is another one.

    Args:
        token: somebody's, in place of that login: Airflow's rights are theirs, and its event log names them.
    """

    def __init__(self, info: ConnectionInfo, token: str = "") -> None:
        # Airflow's form calls it Schema, which for a database is its name.
        scheme = str(info.extra.get("schema") or info.database or "http")
        host = info.host if "://" in info.host else f"{scheme}://{info.host}"
        self.base = f"{host}:{info.port}" if info.port else host
        self._login = {"username": info.login, "password": info.password}
        self._token, self._theirs = token, bool(token)

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        """The answer's JSON; logs in first, and again when the token has expired."""
        if not self._token:
            self._token = self._send("/auth/token", "POST", self._login)["access_token"]
        try:
            return self._send(path, method, body)
        except urllib.error.HTTPError as error:
            if error.code != 401 or self._theirs:
                raise
        self._token = self._send("/auth/token", "POST", self._login)["access_token"]
        return self._send(path, method, body)

    def every(self, path: str, entries: str) -> list[Any]:
        """All entries of a list, page by page.

        Args:
            entries: the list's name in an answer.
        """
        rows: list[Any] = []
        while True:
            answer = self.ask(f"{path}{'&' if '?' in path else '?'}limit={_PAGE}&offset={len(rows)}")
            rows += answer[entries]
            if not answer[entries] or len(rows) >= answer.get("total_entries", 0):
                return rows

    def trigger(self, dag: str, run: str, conf: Mapping[str, object]) -> str:
        """Ask for a DAG run, once, however often this is called; its id.

        Anybody who may trigger the DAG can have begun a run of this id. Then ours gets the id with a number behind it.

        Args:
            run: the id that it should have.
        """
        path = f"/api/v2/dags/{dag}/dagRuns"
        for number in range(1, _MOST_IDS + 1):
            name = run if number == 1 else f"{run}__{number}"
            try:
                self.ask(path, "POST", dag_run(name, conf))
                return name
            except urllib.error.HTTPError as error:
                if error.code != 409:
                    raise
            existing = self.ask(f"{path}/{quote(name, safe='')}")
            by = existing["triggering_user_name"]
            if by == self._user() and (existing["conf"] or {}) == json.loads(json.dumps(dict(conf))):
                return name
            event("another run has this id", run=f"{dag}/{name}", triggered_by=by)
        raise OSError(f"{_MOST_IDS} runs that others triggered have ids like {run}")

    def _user(self) -> str:
        """The user of this login, by the name that Airflow keeps beside a run."""
        return str(self.ask("/ui/auth/me")["username"])

    def _send(self, path: str, method: str, body: object) -> Any:
        request = urllib.request.Request(
            f"{self.base}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )
        try:
            with loopback.opener(_Stays).open(request, timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read() or "null")
        except http.client.HTTPException as error:
            # It broke off in the middle of an answer.
            raise OSError(f"{type(error).__name__}: {error}") from None
