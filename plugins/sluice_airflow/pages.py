"""The plugin: Sluice's pages in Airflow's navigation, and the application behind them in its API server.

Airflow imports this in every process; the application is made when the first request for it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

if TYPE_CHECKING:
    from fastapi import FastAPI

PREFIX = "/sluice"


class Application:
    """The ASGI application, made when it is needed."""

    def __init__(self) -> None:
        self._made: FastAPI | None = None
        self._lock = Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # What it imports takes a second or two, in which others are served.
        made = self._made or await asyncio.to_thread(self._make)
        await made(scope, receive, send)

    def _make(self) -> FastAPI:
        with self._lock:
            if self._made is None:
                from sluice.pages.app import application
                from sluice_airflow.api_server import ApiServer

                self._made = application(ApiServer())
            return self._made


def _view() -> Mapping[str, Any]:
    root = urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/")
    return {
        "name": "Replications",
        "href": f"{root}{PREFIX}/",
        "destination": "nav",
        "category": "browse",
        "url_route": "replications",
    }


class SluicePlugin(AirflowPlugin):
    """The plugin, which Airflow finds by its entry point."""

    name = "sluice"
    fastapi_apps: Sequence[Any] = [{"app": Application(), "url_prefix": PREFIX, "name": "Sluice"}]
    external_views: Sequence[Any] = [_view()]
