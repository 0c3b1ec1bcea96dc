"""One demo for all tests of this ring, with its Airflow, and a person in a browser who is logged in there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from support.browser import logged_in
from support.launcher import sluice
from support.places import reserve_port

from sluice import paths
from sluice.airflow_api.client import AirflowApi
from sluice.config import configuration_text
from sluice.runtime import airflow, spark_connect
from sluice.runtime.handle import Runtime
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.state import RuntimeState
from sluice.runtime.up import find_running


def asking(file: Path) -> Path:
    """The configuration of the demo, but that Geneva asks about an ALTER."""
    before = "- {source: flights, slave: geneva}"
    text = (paths.PROJECT / "include" / "config" / "replication.yaml").read_text()
    assert before in text
    file.write_text(text.replace(before, "- {source: flights, slave: geneva, alters: ask}"))
    return file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever a module is called, nothing asks for the demo once a test has ended it."""
    items.sort(key=lambda item: item.get_closest_marker("ends_the_demo") is not None)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    # As if it had run before on these: a demo of somebody else may get the usual ones at the same moment.
    state = RuntimeState(RuntimePaths(home))
    for name in ("postgres", airflow.API_SERVER, spark_connect.NAME, spark_connect.PAGES):
        state.set_port(name, reserve_port())
    patch = pytest.MonkeyPatch()
    patch.setenv("SLUICE_HOME", str(home))
    patch.setenv(configuration_text.CONFIG_ENV, str(asking(home / "replication.yaml")))
    yield home
    sluice("down")
    patch.undo()


@pytest.fixture(scope="session")
def shown(home: Path, request: pytest.FixtureRequest) -> subprocess.CompletedProcess[str]:
    """The demo, which stays up; with tests marked `full` its initial data is carried in files, which takes longer."""
    every = any(item.get_closest_marker("full") for item in request.session.items)
    return sluice("demo", *(["--files"] if every else []))


@pytest.fixture(scope="session")
def runtime(shown: subprocess.CompletedProcess[str]) -> Runtime:
    assert shown.returncode == 0, shown.stdout + shown.stderr
    found = find_running()
    assert found is not None
    return found


@pytest.fixture(scope="session")
def api(runtime: Runtime) -> AirflowApi:
    return AirflowApi(runtime.connections()["sluice_airflow_api"])


@pytest.fixture(scope="session")
def page(runtime: Runtime) -> Iterator[Page]:
    with logged_in(runtime.ui_url, runtime.login, runtime.password) as page:
        yield page
