"""Airflow connections -> one sealed text that a job can be given.

Inside a task connections are looked up through Airflow's Task SDK (`seal_connections`); a command line outside of
a task asks Airflow's secrets backends and metadata database: `python -m sluice_airflow.sealing ID ...`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from airflow.sdk import BaseHook
from airflow.sdk.log import mask_secret

from sluice import shell
from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo, seal
from sluice.errors import ConfigError
from sluice_airflow.airflow_versions import AirflowNotFoundException
from sluice_airflow.metadata import expect_database

# They look at, or set, the pause switch of a drain's DAG, or runs that are at work, or have DAGs run.
JOBS_THAT_ASK_AIRFLOW = frozenset(
    {"alerts", "allow", "blocks", "cancel", "drain", "dump", "housekeeping", "inhibit", "publish", "release", "repair"}
    | {"statement", "verify"}
)
# They look at every source and every slave.
JOBS_OF_EVERYTHING = frozenset({"alerts"})
# They are told of no slave, and ask each one that executes statements whether it can.
JOBS_OF_ALL_SLAVES = frozenset({"statement"})
# They use the connections of roles that may only read, where there are some.
JOBS_THAT_ONLY_READ = frozenset({"verify"})
# They also look at what a slave gives its master, and what others give both, by the connections of these replications.
JOBS_IN_BOTH_DIRECTIONS = frozenset({"repair"})

# DAGs run from the moment that the configuration names them, and people add connections afterwards.
MISSING = 14


def needed_connections(config: Config, job: str, source: str | None, slaves: Iterable[str] = ()) -> list[str]:
    """The ids of all connections that a job on these databases opens.

    Args:
        source: None if the job is for none.

    Raises:
        ConfigError: a name is not configured.
    """
    ids = [config.control, *(config.source(source).connections if source else [])]
    if source and job in JOBS_OF_ALL_SLAVES:
        slaves = [name for name in config.slaves_of(source) if config.replication(source, name).statements]
    if job in JOBS_OF_EVERYTHING:
        slaves = config.slaves
        ids += [conn_id for entry in config.sources.values() for conn_id in entry.connections]
    slaves = list(slaves)
    ids += [conn_id for name in slaves for conn_id in config.slave(name).connections]
    if job in JOBS_THAT_ONLY_READ:
        read = [*([config.source(source)] if source else []), *map(config.slave, slaves)]
        ids += [side.reading_connection for side in read if side.reading_connection]
    if source and job in JOBS_IN_BOTH_DIRECTIONS:
        for replication in (replication for name in slaves for replication in config.perhaps_opposite(source, name)):
            ids += [*config.source(replication.source).connections, config.slave(replication.slave).connection]
    if job in JOBS_THAT_ASK_AIRFLOW:
        ids.append(config.airflow_api)
    return list(dict.fromkeys(ids))


def info(connection: Any) -> ConnectionInfo:
    """An Airflow connection in our own words."""
    return ConnectionInfo(
        conn_type=connection.conn_type or "",
        host=connection.host or "",
        port=connection.port,
        database=connection.schema or "",
        login=connection.login or "",
        password=connection.password or "",
        extra=connection.extra_dejson,
    )


def get_connection(conn_id: str) -> Any:
    """A connection, as a task gets it. Raises ConfigError SLC-014, there is none of that id."""
    try:
        return BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        raise ConfigError(
            MISSING,
            f"there is no Airflow connection {conn_id!r}",
            f"type: {shell.connect(conn_id)}, or add it in Airflow (Admin, Connections); then it goes on by itself",
        ) from None


def find_connection(conn_id: str) -> Any:
    """A connection, as a task gets it; None if there is none of that id."""
    with suppress(AirflowNotFoundException):
        return BaseHook.get_connection(conn_id)
    return None


def seal_connections(ids: Iterable[str], get: Callable[[str], Any] = get_connection) -> str:
    """Look the connections up and seal them into one text; one that `get` has nothing for is left out.

    Raises:
        ConfigError: there is no connection of that id, says `get`; the sealing key cannot be read.
    """
    text = seal({conn_id: info(connection) for conn_id in ids if (connection := get(conn_id))})
    # Sealed is not secret, but a log is read by more people than the key file.
    mask_secret(text)
    return text


def main(argv: list[str] | None = None) -> None:
    """Print the sealed text of the connections named on the command line."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("ids", nargs="+", metavar="ID", help="id of an Airflow connection")
    ids = arguments.parse_args(argv).ids
    # Airflow logs to stdout: from here on that is stderr, so that stdout is the sealed text and nothing else.
    stdout = os.dup(1)
    os.dup2(2, 1)
    # The Task SDK looks into the metadata database only on behalf of a running task.
    from airflow.exceptions import AirflowNotFoundException
    from airflow.models import Connection

    def find(conn_id: str) -> Connection | None:
        """Who asks at a shell wants to hear of all that is missing, not of the first."""
        with suppress(AirflowNotFoundException):
            return Connection.get_connection_from_secrets(conn_id)
        # Is it missing, or was an error of the database passed over?
        expect_database()
        return None

    text = seal_connections(ids, find)
    os.write(stdout, f"{text}\n".encode())


if __name__ == "__main__":
    main()
