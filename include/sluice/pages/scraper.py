"""Prometheus as a visitor: a token of the configuration, which opens the metrics and nothing else."""

from __future__ import annotations

import hmac
import logging

from fastapi import Request

from sluice.errors import ConfigError, SluiceError
from sluice.pages.airflow import Airflow, Visitor
from sluice.storage import keys

_log = logging.getLogger(__name__)
METRICS = "/metrics"
# Known by identity: no login of a person leads to it.
SCRAPER = Visitor("prometheus", (), "", by_cookie=False)
_SHORTEST = 16


def asks_for_metrics(request: Request) -> bool:
    """Whether this is a request for the metrics, below whatever our application is mounted at."""
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return path == METRICS and request.method == "GET"


def scraper(request: Request) -> Visitor | None:
    """The visitor that brings the token of the configuration; None if this request does not.

    A token that cannot be used (SLC-243) is written into the log of the API server: strangers hear nothing.
    """
    scheme, _, brought = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    airflow: Airflow = request.app.state.airflow
    try:
        file = airflow.context().config.pages.metrics_token_file
        token = _token(file) if file else None
    except SluiceError as error:
        _log.error("Prometheus is not let in: %s", error)
        return None
    return SCRAPER if token and hmac.compare_digest(brought.strip().encode(), token) else None


def _token(file: str) -> bytes:
    try:
        token = keys.secret(file).strip()
    except OSError as error:
        raise _unusable(f"{file} cannot be read: {error.strerror}") from None
    if len(token) < _SHORTEST:
        raise _unusable(f"the token in {file} has {len(token)} characters")
    return token


def _unusable(fact: str) -> ConfigError:
    return ConfigError(
        243,
        fact,
        f"let the file of pages.metrics_token_file hold a random text of {_SHORTEST} characters or more, such as "
        "`openssl rand -hex 32` prints, that the API server alone may read",
    )
