"""The private PostgreSQL of one bench: in a temporary directory, gone when the bench is over."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from psycopg import sql
from psycopg.conninfo import make_conninfo

from sluice import libpq
from sluice.config.configuration import Config
from sluice.connections import KEY_FILE_ENV, SEALED_ENV, ConnectionInfo, new_key_file, seal
from sluice.context import Context
from sluice.model.names import Pair
from sluice.runtime.postgres import PREFERRED_PORT, Cluster
from sluice.runtime.terminal import Progress
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.postgresql.session import Connection

SOURCE = "bench"
# The ways of capturing.
TRIGGERS, LOG = "triggers", "log"
# What a server of each needs; any is faster without what it does not need.
SETTINGS = {TRIGGERS: "wal_level = replica\n", LOG: "wal_level = logical\n"}
_CONTENTS = "SELECT {}, count(*), sum(hashtextextended(t::text, 0)::numeric) FROM {} AS t"
# Not where a demo's begins to look: both may start now.
_PORT = PREFERRED_PORT + 60


class BenchServer:
    """A running server, and the databases made in it."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self.cluster = cluster
        self.directory = directory
        self._password = secrets.token_urlsafe(18)

    def database(self, name: str) -> ConnectionInfo:
        """A database, made if it is missing, with a superuser of its own."""
        role = f"bench_{name}"
        self.cluster.create_database(name, role, self._password, superuser=True)
        return ConnectionInfo("postgres", "127.0.0.1", self.cluster.port, name, role, self._password)

    def copy(self, info: ConnectionInfo, name: str) -> ConnectionInfo:
        """Another database with the same tables and rows."""
        with self.cluster.admin() as session:
            session.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(info.database))
            )
        return self.database(name)

    def drop(self, name: str) -> None:
        """Drop a database, and end its sessions."""
        with self.cluster.admin() as session:
            session.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def connect(self, info: ConnectionInfo) -> Connection:
        """An autocommit session."""
        return libpq.connect(self.conninfo(info))

    def hold_the_same(self, infos: Iterable[ConnectionInfo], tables: Iterable[str]) -> bool:
        """Whether databases have the same rows in these tables of the schema public, in whichever order."""
        query = sql.SQL(" UNION ALL ").join(
            sql.SQL(_CONTENTS).format(sql.Literal(name), sql.Identifier(name)) for name in tables
        )
        contents = set()
        for info in infos:
            with self.connect(info) as session:
                contents.add(frozenset(session.execute(query).fetchall()))
        return len(contents) == 1

    def conninfo(self, info: ConnectionInfo) -> str:
        """The address of a database, for another server."""
        return make_conninfo(
            host=info.host, port=info.port, dbname=info.database, user=info.login, password=info.password
        )

    def environment(self, info: ConnectionInfo) -> dict[str, str]:
        """The environment in which libpq's programs find a database, without a password on their command line."""
        return {
            "PGHOST": info.host,
            "PGPORT": str(info.port),
            "PGDATABASE": info.database,
            "PGUSER": info.login,
            "PGPASSWORD": info.password,
        }

    def context(
        self,
        tables: Mapping[str, object],
        slaves: Mapping[str, ConnectionInfo],
        replications: Mapping[str, Mapping[str, object]] = {},
        settings: Mapping[str, Any] = {},
        **source: object,
    ) -> Context:
        """A configuration of one source, the database `master`, and these slaves; its store is made.

        Args:
            replications: settings of the replication to a slave.
            settings: those of a slave.
            source: more settings of the source.
        """
        connections = {"sluice_control": self.database("control"), "master": self.database("master"), **slaves}
        files = {"initial_files": {"location": str(self.directory / "initial_files")}}
        config = Config.model_validate(
            {
                "change_log": str(self.directory / "changelog"),
                "sources": {SOURCE: {"connection": "master", "tables": dict(tables), **files, **source}},
                "slaves": {name: {"connection": name, **files, **settings.get(name, {})} for name in slaves},
                "replications": [{"source": SOURCE, "slave": name, **replications.get(name, {})} for name in slaves],
            }
        )
        context = Context(config, connections)
        context.store.migrate()
        return context

    def hand_over(self, context: Context) -> None:
        """Put its connections, sealed, into our environment, where jobs and tasks look for them."""
        key = self.directory / "seal.key"
        if not key.exists():
            new_key_file(key)
        os.environ[KEY_FILE_ENV] = str(key)
        os.environ[SEALED_ENV] = seal(context.connections)


def receive(context: Context) -> None:
    """All slaves hold the master's data already: go straight to NORMAL."""
    for slave in context.config.slaves_of(SOURCE):
        for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
            replications.record(context.store, Pair(SOURCE, slave), event)


@contextmanager
def private_server(progress: Progress, settings: str = "") -> Iterator[BenchServer]:
    """A server of our own for the time of the block; commits are durable, as everywhere else.

    Args:
        settings: lines for postgresql.conf.
    """
    directory = Path(tempfile.mkdtemp(prefix="sluice-bench-"))
    cluster = Cluster(directory / "postgres")
    try:
        with progress.step("starting a private PostgreSQL"):
            cluster.start(settings, port=_PORT)
        yield BenchServer(cluster, directory)
    finally:
        with progress.step("removing it"):
            cluster.remove()
            shutil.rmtree(directory, ignore_errors=True)
