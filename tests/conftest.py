"""What tests of several rings share: one PostgreSQL server for the session, fresh databases on it, a Spark session."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from support.older import cluster
from support.places import reserve_port, server_directory
from support.spreading import put_long_files_first, take_cases_out_of_full
from support.templates import Templates

from sluice import shell
from sluice.connections import KEY_FILE_ENV, ConnectionInfo, new_key_file
from sluice.runtime import ports
from sluice.runtime.postgres import Cluster
from sluice.store.engine import Store

# On a busy machine everything is slow; that is no fault of a test.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Commands are worded as in a deployment of its own, however the tests were started.
os.environ.pop(shell.CLI_ENV, None)

# A process that is killed loses what it had not written; only a machine loses what it had not flushed. And nobody
# guesses the passwords of servers that live for minutes: a login takes one round of hashing, not thousands.
QUICK = "fsync = off\nfull_page_writes = off\nwal_level = logical\nmax_replication_slots = 60\n"
QUICK += "scram_iterations = 1"

# What modules make at their import lives until the end. Looking for garbage among it takes a seventh of the time of
# this process: `pytest_collection_finish` takes it out of the search.
gc.disable()

_numbers = count(1)


class Server:
    """A real PostgreSQL server of this test session."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.templates = Templates(self)
        self._session: psycopg.Connection[tuple[Any, ...]] | None = None

    def start(self, settings: str = "") -> None:
        """Start it, with more settings. It comes back on the port that it had: clients look for it there."""
        if not self.cluster.service():
            assert ports.is_free(self._port), f"port {self._port} of a server of tests is taken"
        self.cluster.start(f"{QUICK}\n{settings}", self._port)
        assert self.cluster.port == self._port

    def create_database(self, *, superuser: bool = True, template: str = "template1") -> ConnectionInfo:
        """A fresh, empty database with an owner of its own."""
        name = f"t{next(_numbers)}"
        password = f"secret-{name}"
        verifier = self._admin.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
        right = sql.SQL("SUPERUSER" if superuser else "NOSUPERUSER")
        role = sql.Identifier(name)
        self._admin.execute(sql.SQL("CREATE ROLE {} LOGIN {} PASSWORD {}").format(role, right, verifier))
        # Clients find the DbResources beside the tables of the application.
        self._admin.execute(sql.SQL("ALTER ROLE {} SET search_path = public, repl, two").format(role))
        # Files are copied as they are: without flushing that is cheaper than logging each of their pages.
        copy = sql.SQL("CREATE DATABASE {0} OWNER {0} TEMPLATE {1} STRATEGY file_copy")
        self._admin.execute(copy.format(role, sql.Identifier(template)))
        self._admin.execute(sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(role))
        return ConnectionInfo("postgres", "127.0.0.1", self.cluster.port, name, name, password)

    def create_store(self) -> ConnectionInfo:
        """A control store, with its tables and nothing in them."""
        return self.create_database(template=self._store)

    def copy_database(self, of: ConnectionInfo) -> ConnectionInfo:
        """A database with an owner of its own, to whom all belongs that belongs to the other one's owner in that."""
        # What is reassigned in the copy includes the databases of that role, which is to be the copy alone.
        self._admin.execute(sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(sql.Identifier(of.database)))
        made = self.create_database(template=of.database)
        reassign = sql.SQL("REASSIGN OWNED BY {} TO {}")
        with self.cluster.admin(made.database) as admin:
            admin.execute(reassign.format(sql.Identifier(of.login), sql.Identifier(made.login)))
        return made

    def drop_databases(self, infos: Iterable[ConnectionInfo]) -> None:
        """Drop those of them that are on this server. What is left would be vacuumed, and written to the disk."""
        for info in infos:
            if info.port == self.cluster.port:
                self._admin.execute(
                    sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(info.database))
                )

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

    @cached_property
    def _port(self) -> int:
        return reserve_port()

    @property
    def _admin(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A session of the superuser, used again while it lives: some servers are restarted under it."""
        try:
            if self._session:
                self._session.execute("SELECT")
        except psycopg.OperationalError:
            self._session = None
        self._session = self._session or self.cluster.admin()
        return self._session

    @cached_property
    def _store(self) -> str:
        """A control store as it is made, to be copied: its migrations have tests of their own."""
        made = self.create_database()
        store = Store(made)
        store.migrate()
        store.close()
        return made.database


class FailuresAtOnce:
    """Tells of a failure when it happens, briefly: who waits may wait for an hour yet, or stop before the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if report.failed and terminal:
            said = "\n".join(report.longreprtext.splitlines()[-15:])
            terminal.write_line(f"\n{report.when} of {report.nodeid} failed\n{said}")


def pytest_configure(config: pytest.Config) -> None:
    """Failures are told by the process that others report to."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A process that ends in a test fails that test, and no other."""
    from support.spreading import OnceEach

    return OnceEach(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Choose by marks; where processes share the files, the longest come first."""
    excepted = take_cases_out_of_full(items)
    if not any("::" in argument for argument in config.args):
        assert not excepted, f"marks `full` except cases that are none: {excepted}"
    yield
    if "PYTEST_XDIST_WORKER" in os.environ:
        put_long_files_first(items)


def pytest_collection_finish() -> None:
    """From here on garbage is looked for, among what tests make."""
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    gc.enable()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server; its data goes with the session."""
    with server_directory(tmp_path_factory.mktemp("server")) as directory:
        made = Server(cluster(directory))
        made.start()
        yield made
        made.cluster.remove()


@pytest.fixture(autouse=True)
def level_of_the_log() -> Iterator[None]:
    """A job that runs in this process sets it for the whole process."""
    root = logging.getLogger()
    before = root.level
    yield
    root.setLevel(before)


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
    from support.short_jvm import SHORT_LIVED

    from sluice.paths import PROJECT
    from sluice.runtime.java import java_home

    place = tmp_path_factory.mktemp("spark")
    java = java_home(place / "java")
    os.environ["JAVA_HOME"] = str(java)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT / "include"), os.environ.get("PYTHONPATH")]))
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", SHORT_LIVED)
        .config("spark.sql.warehouse.dir", str(place / "warehouse"))
        .config("spark.local.dir", str(place / "local"))
        .getOrCreate()
    )
    yield session
    session.stop()
