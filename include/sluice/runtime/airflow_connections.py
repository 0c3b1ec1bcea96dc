"""The connections that the embedded Airflow keeps, read from its database: to import Airflow takes seconds."""

from __future__ import annotations

import configparser
import json

from cryptography.fernet import Fernet

from sluice.connections import ConnectionInfo
from sluice.runtime import airflow
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.postgres import Cluster

# airflow.models.Connection; the version of Airflow is pinned.
_STORED = """
SELECT conn_id, conn_type, host, port, schema, login, password, is_encrypted, extra, is_extra_encrypted FROM connection
"""


def connections(layout: RuntimePaths, cluster: Cluster) -> dict[str, ConnectionInfo]:
    """All of them, by id."""
    settings = configparser.ConfigParser(interpolation=None)
    settings.read_string(layout.airflow_settings.read_text())
    box = Fernet(settings["core"]["fernet_key"])

    def decrypt(text: str | None, encrypted: bool | None) -> str:
        return box.decrypt(text.encode()).decode() if text and encrypted else text or ""

    with cluster.admin(airflow.DATABASE) as session:
        return {
            conn_id: ConnectionInfo(
                conn_type=conn_type or "",
                host=host or "",
                port=port,
                database=schema or "",
                login=login or "",
                password=decrypt(password, sealed),
                extra=json.loads(decrypt(extra, extra_sealed) or "{}"),
            )
            for conn_id, conn_type, host, port, schema, login, password, sealed, extra, extra_sealed in session.execute(
                _STORED
            ).fetchall()
        }
