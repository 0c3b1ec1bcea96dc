"""What tests of several rings share: one PostgreSQL server for the session, fresh databases on it, a Spark session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sluice.connections import KEY_FILE_ENV, ConnectionInfo, new_key_file
from sluice.runtime.postgres import Cluster

_numbers = count(1)


class Server:
    """A real PostgreSQL server of this test session."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def create_database(self, *, superuser: bool = True) -> ConnectionInfo:
        """A fresh, empty database with an owner of its own."""
        name = f"t{next(_numbers)}"
        self.cluster.create_database(name, name, f"secret-{name}", superuser=superuser)
        return ConnectionInfo("postgres", "127.0.0.1", self.cluster.port, name, name, f"secret-{name}")

    def connect(self, info: ConnectionInfo) -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit session of an ordinary client."""
        return psycopg.connect(
            host=info.host,
            port=info.port,
            dbname=info.database,
            user=info.login,
            password=info.password,
            autocommit=True,
        )


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server; its data goes with the session."""
    cluster = Cluster(tmp_path_factory.mktemp("server"))
    # A process that is killed loses what it had not written; only a machine loses what it had not flushed.
    cluster.start("fsync = off")
    yield Server(cluster)
    cluster.remove()


@pytest.fixture(scope="session", autouse=True)
def seal_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key that this session's connections are sealed with."""
    path = tmp_path_factory.mktemp("key") / "seal.key"
    new_key_file(path)
    os.environ[KEY_FILE_ENV] = str(path)
    return path


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, seal_key: Path) -> Iterator[Any]:
    """A Spark session in this process; its Python workers find the package and the key."""
    from pyspark.sql import SparkSession

    from sluice.config import PROJECT
    from sluice.runtime.java import java_home

    place = tmp_path_factory.mktemp("spark")
    os.environ["JAVA_HOME"] = str(java_home(place / "java"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT / "include"), os.environ.get("PYTHONPATH")]))
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(place / "warehouse"))
        .config("spark.local.dir", str(place / "local"))
        .getOrCreate()
    )
    yield session
    session.stop()
