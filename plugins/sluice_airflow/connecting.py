"""Stores Airflow connections in its database. Run as `python -m sluice_airflow.connecting`.

Reads [{"conn_id": ..., "conn_type": ..., "password": ..., ...}] from standard input, so that no password is ever in a
command line or a file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def put(session: Any, connections: Sequence[Mapping[str, Any]]) -> None:
    """Add connections, each instead of another one of its id."""
    from airflow.models import Connection
    from sqlalchemy import delete

    session.execute(delete(Connection).where(Connection.conn_id.in_([each["conn_id"] for each in connections])))
    session.add_all([Connection(**each) for each in connections])


def main() -> None:
    """Store what standard input holds."""
    from airflow.utils.session import create_session

    connections = json.load(sys.stdin)
    with create_session() as session:
        put(session, connections)


if __name__ == "__main__":
    main()
