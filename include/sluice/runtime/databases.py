"""The databases of the embedded runtime, their roles, and how to reach them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.connections import ConnectionInfo
from sluice.runtime import airflow
from sluice.runtime.ports import LOOPBACK
from sluice.runtime.postgres import Cluster


@dataclass(frozen=True)
class Database:
    """One database with the login role that owns it; the role is also the id of its Airflow connection.

    Attributes:
        silent: the role may keep triggers and foreign keys from acting.
    """

    name: str
    role: str
    silent: bool = False


METADATA = Database(airflow.DATABASE, airflow.DATABASE)
# None of them is a superuser, as it should be elsewhere ("Roles and rights" in configuration.md).
CONNECTED = (
    Database("sluice_control", "sluice_control"),
    Database("master", "sluice_master"),
    Database("zurich", "sluice_zurich", silent=True),
    Database("geneva", "sluice_geneva", silent=True),
)
DATABASES = (METADATA, *CONNECTED)


def tcp_connections(port: int, passwords: Mapping[str, str]) -> list[dict[str, Any]]:
    """The Airflow connections of the databases."""
    return [
        {
            "conn_id": database.role,
            "conn_type": "postgres",
            "host": LOOPBACK,
            "port": port,
            "schema": database.name,
            "login": database.role,
            "password": passwords[database.role],
        }
        for database in CONNECTED
    ]


def socket_connections(cluster: Cluster) -> dict[str, ConnectionInfo]:
    """The same over the socket, where our own user needs no password."""
    return {
        database.role: ConnectionInfo(
            conn_type="postgres",
            host=str(cluster.sockets),
            port=cluster.port,
            database=database.name,
            login=database.role,
        )
        for database in CONNECTED
    }
