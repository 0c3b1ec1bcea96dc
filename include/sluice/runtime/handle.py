"""A running runtime, for those who use it: addresses, logins, environments."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from sluice.config import configuration as configuration
from sluice.config import configuration_text
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.runtime import airflow, airflow_connections, environment
from sluice.runtime.databases import socket_connections
from sluice.runtime.java import java_home
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.ports import LOOPBACK
from sluice.runtime.postgres import Cluster


@dataclass(frozen=True)
class Runtime:
    """Everything of one home, up and running. Secrets are read when they are asked for, and never shown."""

    layout: RuntimePaths
    cluster: Cluster
    postgres_port: int
    api_port: int
    spark_port: int
    spark_pages: str
    configuration: Path

    @property
    def ui_url(self) -> str:
        """Airflow's UI, which is also the base of its REST API."""
        return airflow.address(self.api_port)

    def expect_configuration(self) -> None:
        """Go on with the configuration that the services have, unless this process was given another one.

        Raises:
            SluiceError: SLC-253, it was.
        """
        if not os.environ.get(configuration_text.CONFIG_ENV):
            os.environ[configuration_text.CONFIG_ENV] = str(self.configuration)
        elif (ours := configuration_text.path().resolve()) != self.configuration:
            raise SluiceError(
                253,
                f"Sluice runs with the configuration {self.configuration}, and {configuration_text.CONFIG_ENV} names "
                f"{ours}" + ("" if ours.exists() else ", which does not exist"),
                f"to go on with what runs: unset {configuration_text.CONFIG_ENV}; to change over, which loses nothing: "
                "./sluice down && ./sluice up",
            )

    @property
    def login(self) -> str:
        return airflow.LOGIN

    @property
    def password(self) -> str:
        return airflow.password(self.layout)

    def admin_dsn(self, database: str = "postgres") -> str:
        """A libpq connection string of PostgreSQL's superuser, over the socket."""
        return self.cluster.admin_dsn(database)

    def psql(self, database: str) -> str:
        """The command that opens a shell of a database here as its superuser."""
        return f"{self.cluster.bin / 'psql'} '{self.admin_dsn(database)}'"

    def connections(self) -> dict[str, ConnectionInfo]:
        """The configured connections as this user reaches them: databases over the socket, Airflow's REST API."""
        api = ConnectionInfo("http", LOOPBACK, self.api_port, login=self.login, password=self.password)
        return {**socket_connections(self.cluster), "sluice_airflow_api": api}

    def stored_connections(self) -> dict[str, ConnectionInfo]:
        """All connections that Airflow keeps, as its jobs get them."""
        return airflow_connections.connections(self.layout, self.cluster)

    def context(self) -> Context:
        """The configuration with these connections."""
        return Context(configuration.load(), self.connections())

    def connect(self, database: str) -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit session of PostgreSQL's superuser."""
        return self.cluster.admin(database)

    def airflow_environment(self) -> dict[str, str]:
        """The environment of a process that asks Airflow itself, as its own services do."""
        shared = environment.child_environment(self.layout, java_home(self.layout.spark / "java"))
        metadata = self.cluster.sqlalchemy_url(airflow.DATABASE)
        return airflow.environment(self.layout, shared, self.api_port, metadata)
