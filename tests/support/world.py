"""A small world: a control store, a source and its slaves on real servers, and the jobs run as their DAGs run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg import sql
from support.forking import ForkedJob
from support.repeating import runs_twice
from support.templates import copyable, looked_just_now

from sluice.config.configuration import Config
from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.context import Context
from sluice.crash import ENV as CRASH_ENV
from sluice.drain.drain import Drain
from sluice.drain.run import drain
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.monitor.status import ReplicationStatus, brief, statuses
from sluice.paths import HOME_ENV, PROJECT
from sluice.publish.publisher import Publisher
from sluice.publish.run import publish
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import blocked, replications
from sluice.store.leases import acquire
from sluice.vendors.postgresql.capture.log import slot
from sluice.vendors.postgresql.source_session import SourceSession

SOURCE = "flights"
# A publisher polls on while a snapshot of its is read, and each time that is work.
AT_ONCE = {"run_for_s": 0, "poll_s": 0.1}
Rows = Counter[tuple[str | None, ...]]
# What a source may be captured by.
CAPTURES = ("triggers", "log")
_WAITING = """
    SELECT FROM repl_log, pg_logical_slot_peek_binary_changes(
        slot, NULL, NULL, 'proto_version', '1', 'publication_names', '"repl.repl_rows"')
    WHERE get_byte(data, 0) = ANY (ARRAY[ascii('I'), ascii('U'), ascii('D')])
"""
_UNSLOTTED = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s"


def job_environment(path: Path, settings: Mapping[str, Any], infos: Mapping[str, ConnectionInfo]) -> dict[str, str]:
    """What a job finds in its environment; its configuration is written into a directory."""
    path.mkdir(exist_ok=True)
    file, whole = path / "replication.yaml", path / "replication.new"
    whole.write_text(yaml.safe_dump(settings))
    # An API server that reads the file at this moment finds all of it.
    whole.replace(file)
    return {CONFIG_ENV: str(file), HOME_ENV: str(path), SEALED_ENV: seal(dict(infos))}


class World:
    """One source and its slaves, all NORMAL, with the same empty tables everywhere.

    Args:
        server: where the databases are made.
        elsewhere: servers for some of them, by name: ``control``, ``master``, or a slave's.
        ddl: run on the master and on each slave.
        tables: what is watched, as in the configuration: names, or names with their settings.
        source: more settings of the source, as ``segments``.
        slave: more settings of each slave, as ``max_batch``.
        copied: whether a copy will do. Two copies have one identity: no test may have two.
    """

    def __init__(
        self,
        server: Any,
        path: Path,
        ddl: str,
        tables: Sequence[str] | Mapping[str, Mapping[str, Any]],
        *,
        slaves: Sequence[str] = ("zurich",),
        elsewhere: Mapping[str, Any] = {},
        source: Mapping[str, Any] = {},
        slave: Mapping[str, Any] = {},
        copied: bool = False,
    ) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.slaves = tuple(slaves)
        self._servers = {name: elsewhere.get(name, server) for name in ("control", "master", *slaves)}
        watched = tables if isinstance(tables, Mapping) else {name: {} for name in tables}
        # Tests change that of their world.
        at_once = dict(AT_ONCE)
        self.settings: dict[str, Any] = {
            "change_log": str(path / "log"),
            "control": "control",
            "sources": {SOURCE: {"connection": "master", "tables": dict(watched), "schedule": at_once, **source}},
            "slaves": {name: {"connection": name, **slave} for name in slaves},
            "replications": [{"source": SOURCE, "slave": name, "schedule": at_once} for name in slaves],
        }
        self._sessions: list[psycopg.Connection[Any]] = []
        self._readers: dict[str, psycopg.Connection[Any]] = {}
        kind = repr((ddl, {**self.settings, "change_log": ""}))
        templates = getattr(server, "templates", None)
        # A kind of world that has this test's files in its settings does not come again.
        as_copy = copied and templates and not elsewhere and copyable(ddl) and str(path.parent) not in kind
        if as_copy:
            more = {"slaves": slaves, "source": source, "slave": slave}
            self.infos = templates.copied(kind, lambda: made(server, ddl, tables, more))
        else:
            self.infos = {
                name: at.create_store() if name == "control" else at.create_database()
                for name, at in self._servers.items()
            }
        self.context = Context(Config.model_validate(self.settings), self.infos)
        self.master = self.session()
        if as_copy:
            # As one that is made has them: a test may move a database away, or its store.
            assert self.context.store.id
            looked_just_now(self.context.store)
            for name in ("master", *slaves):
                self.reader(name)
            if source.get("capture") == "log":
                self._make_slot()
        else:
            self._begin(ddl)

    def _begin(self, ddl: str) -> None:
        """Make the tables, watch those of the master, and say that the slaves are equal."""
        for name in ("master", *self.slaves):
            self.reader(name).execute(ddl.encode())
        publish(self.context, SOURCE, once=True)
        for name in self.slaves:
            for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
                replications.record(self.context.store, self.pair(name), event)

    def _make_slot(self) -> None:
        """No copy of a database has its slots."""
        schema = self.settings["sources"][SOURCE].get("schema")
        made = SourceSession(self.infos["master"], schema, "REPL_")
        slot.make(made.slot_server, made.resources, made.parts)
        made.close()

    def close(self) -> None:
        """End every session."""
        for session in self._sessions:
            session.close()
        self.context.store.close()

    def configure(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Go on with a changed configuration."""
        change(self.settings)
        self.context.store.close()
        self.context = Context(Config.model_validate(self.settings), self.infos)

    def pair(self, slave: str) -> Pair:
        """The replication to a slave."""
        return Pair(SOURCE, slave)

    def session(self, name: str = "master") -> psycopg.Connection[Any]:
        """One more session of an ordinary client, autocommit."""
        opened: psycopg.Connection[Any] = self._servers[name].connect(self.infos[name])
        self._sessions.append(opened)
        return opened

    def reader(self, name: str) -> psycopg.Connection[Any]:
        """A session to look with, used again while its server lives."""
        if name not in self._readers or self._readers[name].closed:
            self._readers[name] = self.session(name)
        return self._readers[name]

    def reconnect(self, name: str) -> None:
        """Sessions of before a restart of its server are left behind."""
        self._readers[name] = self.session(name)
        if name == "master":
            self.master = self._readers[name]

    def left_out(self, slave: str = "zurich") -> set[str]:
        """The tables of the master that the slave is not given."""
        return set(map(str, blocked.skipped_tables(self.context.store, self.pair(slave))))

    def status(self, slave: str) -> Status:
        """What the store says of a slave."""
        return replications.get(self.context.store, self.pair(slave)).status

    def standing(self, slave: str | None = None) -> ReplicationStatus:
        """What people are told of a slave, by default the first."""
        (found,) = statuses(self.context, self.pair(slave or self.slaves[0]))
        return found

    # The jobs -------------------------------------------------------------------------------------------------------

    def publish(self) -> dict[str, Any]:
        """Publish all that is queued."""
        return publish(self.context, SOURCE, once=True)

    def drain(self, slave: str | None = None, *, once: bool = True) -> dict[str, Any]:
        """Deliver all that is published to one slave, by default the first."""
        pair = self.pair(slave or self.slaves[0])
        return drain(self.context, pair, once=once, describe=partial(brief, self.context, pair))

    def catch_up(self) -> None:
        """Publish and deliver everything; where each job runs twice, its second run must find nothing to do."""
        self.let_leases_expire()
        twice = runs_twice()
        self.publish()
        assert not twice or self.publish()["changes"] == 0
        for slave in self.slaves:
            self.drain(slave)
            assert not twice or self.drain(slave)["changes"] == 0

    def publisher(self) -> Publisher:
        """A publisher of its own, under a new lease taken by force."""
        held = acquire(self.context.store, f"publish {SOURCE}", force=True)
        made = Publisher(SOURCE, self.context.source(SOURCE), self.context.manifest(SOURCE), self.context.files(), held)
        made.begin()
        return made

    def drainer(self, slave: str | None = None, size: int = 50_000) -> Drain:
        """A drain of its own, under a new lease taken by force."""
        pair = self.pair(slave or self.slaves[0])
        held = acquire(self.context.store, f"drain {pair}", force=True)
        collected = self.context.config.replication(pair.source, pair.slave).collect_limit
        made = Drain(
            self.context.slave(pair),
            self.context.manifest(SOURCE),
            self.context.files(),
            size,
            self.context.read_snapshot(SOURCE),
            collected=collected,
        )
        made.begin(held.epoch)
        return made

    def let_leases_expire(self) -> None:
        """What time does to the leases of those who died."""
        self.reader("control").execute("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'")

    def job(
        self, name: str, *arguments: str, crash_at: str = "", limit: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a Spark job's entry point in a process of its own, as the operator does; `limit` runs in it first."""
        process = self.start(name, *arguments, crash_at=crash_at, limit=limit)
        out, errors = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    def start(
        self,
        name: str,
        *arguments: str,
        crash_at: str = "",
        limit: Callable[[], None] | None = None,
        plugins: Path = PROJECT / "plugins",
    ) -> subprocess.Popen[str]:
        """Start a Spark job's entry point, which finds modules of somebody else's in `plugins`."""
        env = {**os.environ, **self.environment()}
        env |= {"PYTHONPATH": os.pathsep.join([str(PROJECT / "include"), str(plugins)]), CRASH_ENV: crash_at}
        command = [sys.executable, str(PROJECT / "spark_jobs" / f"{name}.py"), "--source", SOURCE, *arguments]
        if limit is None and plugins == PROJECT / "plugins":
            return ForkedJob(command, env)
        return subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit
        )

    def environment(self) -> dict[str, str]:
        """What a job of this world finds in its environment."""
        return job_environment(self.path, self.settings, self.infos)

    # What is where --------------------------------------------------------------------------------------------------

    def rows(self, name: str, table: str) -> Rows:
        """The rows of a table as texts, counted."""
        return rows_of(self.reader(name), table)

    def differences(self) -> dict[tuple[str, str], tuple[Rows, Rows]]:
        """Which tables of which slaves are not what the master's are: (missing, extra) rows."""
        found = {}
        there = "SELECT to_regclass(format('%%I.%%I', %s::text, %s::text)) IS NOT NULL"
        named = self.context.config.source(SOURCE).watched_tables
        for schema, table in (
            name for name in named if self.reader("master").execute(there, name).fetchone() == (True,)
        ):
            ours = self.rows("master", f"{schema}.{table}")
            for slave in self.slaves:
                theirs = self.rows(slave, f"{schema}.{table}")
                if ours != theirs:
                    found[slave, table] = (ours - theirs, theirs - ours)
        return found

    def log(self, after: int = 0) -> list[dict[str, Any]]:
        """Every change of the change log beyond an ordinal, in order."""
        files, manifest = self.context.files(), self.context.manifest(SOURCE)
        segments = manifest.ahead("nobody", Position(0, after))
        return [row for one in segments for batch in files.read(one.file, after) for row in batch.to_pylist()]

    def queued(self) -> set[int]:
        """The committed keys of ITEMS; by log, the places of changes in the slot."""
        if self.context.config.source(SOURCE).capture == "log":
            return set(range(len(self.master.execute(_WAITING).fetchall())))
        return {key for (key,) in self.master.execute("SELECT repl_key FROM repl_queue")}

    def position(self, slave: str | None = None) -> Position:
        """Where a slave says that it is."""
        name = slave or self.slaves[0]
        row = self.reader(name).execute("SELECT segment, ordinal FROM sluice_position").fetchone()
        return Position(*row) if row else Position(0, 0)


def made(server: Any, ddl: str, tables: Any, more: Mapping[str, Any]) -> Mapping[str, ConnectionInfo]:
    """The databases of a world in which nothing has happened yet, and that nobody uses."""
    with tempfile.TemporaryDirectory() as directory:
        world = World(server, Path(directory) / "world", ddl, tables, **more)
        assert not world.log()
        world.close()
        if world.context.config.source(SOURCE).capture == "log":
            with server.cluster.admin() as admin:
                admin.execute(_UNSLOTTED, [world.infos["master"].database])
    return world.infos


def rows_of(session: psycopg.Connection[Any], table: str) -> Rows:
    """The rows of a table as texts, counted."""
    query = sql.SQL("SELECT to_json(t)::text FROM {} AS t").format(_identifier(table))
    return Counter(session.execute(query).fetchall())


def result(job: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The result line of a job that ended well."""
    assert job.returncode == 0, job.stderr
    found: dict[str, Any] = json.loads(job.stdout.splitlines()[-1])
    return found


@pytest.fixture
def build(server: Any, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds, each with databases of its own; ends their sessions afterwards."""
    made: list[World] = []

    def one(ddl: str, tables: Any, **more: Any) -> World:
        made.append(World(server, tmp_path / f"world{len(made)}", ddl, tables, copied=not made, **more))
        return made[-1]

    yield one
    for world in made:
        world.close()
        server.drop_databases(world.infos.values())


def _identifier(name: str) -> sql.Identifier:
    schema, _, table = name.partition(".")
    return sql.Identifier(schema, table)
