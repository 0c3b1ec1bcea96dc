"""Databases that are masters and slaves of each other; all replications are published and drained by turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.updating import load_here
from support.world import AT_ONCE, Rows, job_environment, rows_of

from sluice.config.configuration import Config
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.context import Context
from sluice.drain.run import drain
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import inhibit
from sluice.initial_update.release import release
from sluice.model.names import Pair
from sluice.publish.run import publish
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter

_ROUNDS = 8


class Several:
    """Databases with the same empty tables, of which some feed others; all replications are NORMAL.

    Args:
        arrows: which database feeds which, and the settings of that replication.
        superuser: whether the roles may do anything.
        source: more settings of each source.
    """

    def __init__(
        self,
        server: Any,
        path: Path,
        ddl: str,
        arrows: Mapping[tuple[str, str], Mapping[str, Any]],
        tables: Sequence[str] = ("public.t",),
        *,
        superuser: bool = True,
        source: Mapping[str, Any] = {},
    ) -> None:
        self._server, self.path = server, path
        self.pairs = [Pair(*arrow) for arrow in arrows]
        self.names = sorted({name for arrow in arrows for name in arrow})
        self.infos: dict[str, ConnectionInfo] = {
            name: server.create_database(superuser=superuser) for name in self.names
        }
        self.infos["control"] = server.create_store()
        at_once = dict(AT_ONCE)
        watched = {"tables": {name: {} for name in tables}, "schedule": at_once, **source}
        self.masters = list(dict.fromkeys(first for first, _ in arrows))
        path.mkdir(parents=True, exist_ok=True)
        self.settings: dict[str, Any] = {
            "change_log": str(path / "log"),
            "control": "control",
            "sources": {name: {"connection": name, **watched} for name in self.masters},
            "slaves": {name: {"connection": name} for _, name in arrows},
            "replications": [
                {"source": first, "slave": other, "schedule": at_once, **more}
                for (first, other), more in arrows.items()
            ],
        }
        self.context = Context(Config.model_validate(self.settings), self.infos)
        self._sessions: dict[tuple[str, str], psycopg.Connection[Any]] = {}
        for name in self.names:
            self.at(name).execute(ddl.encode())
        for name in self.masters:
            publish(self.context, name, once=True)
        for pair in self.pairs:
            for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
                replications.record(self.context.store, pair, event)

    def configure(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Go on with a changed configuration."""
        change(self.settings)
        self.context.store.close()
        self.context = Context(Config.model_validate(self.settings), self.infos)

    def environment(self) -> dict[str, str]:
        """What a job of this world finds in its environment."""
        return job_environment(self.path, self.settings, self.infos)

    def close(self) -> None:
        """End every session."""
        for session in self._sessions.values():
            session.close()
        self.context.store.close()

    def at(self, name: str, which: str = "") -> psycopg.Connection[Any]:
        """A session of an ordinary client of one of the databases, autocommit; another one for each `which`."""
        key = name, which
        if key not in self._sessions:
            self._sessions[key] = self._server.connect(self.infos[name])
        return self._sessions[key]

    def publish(self, name: str) -> int:
        """Publish what is queued at one; how many changes."""
        return int(publish(self.context, name, once=True)["changes"])  # type: ignore[call-overload]

    def drain(self, first: str, other: str) -> int:
        """Deliver what is published; how many changes."""
        return int(drain(self.context, Pair(first, other), once=True)["changes"])  # type: ignore[call-overload]

    def until_quiet(self) -> list[int]:
        """Publish and drain everything, until a whole round finds nothing; how many changes each round published."""
        published = []
        for _ in range(_ROUNDS):
            published.append(sum(self.publish(name) for name in self.masters))
            delivered = sum(self.drain(pair.source, pair.slave) for pair in self.pairs)
            if not (published[-1] or delivered):
                return published
        raise AssertionError(f"the same changes go round and round: {published}")

    def update(self, first: str, other: str) -> None:
        """An initial update, without its verification."""
        inhibit(self.context, first, [other])
        dump(self.context, first, [other], load_here)
        release(self.context, first, [other])
        replications.record(self.context.store, Pair(first, other), ReplicationEvent.VERIFIED)

    def queued(self, name: str) -> list[str]:
        """The actions that wait in ITEMS."""
        query = "SELECT left(db_action, 1) FROM repl_queue ORDER BY repl_key"
        return [action for (action,) in self.at(name).execute(query)]

    def rows(self, name: str, table: str = "public.t") -> Rows:
        """The rows of a table as texts, counted."""
        return rows_of(self.at(name), table)


def harm(world: Several, name: str, *statements: str) -> None:
    """Execute what no source of a database captures, as a drain into it does."""
    (pair,) = (one for one in world.pairs if one.slave == name)
    session = world.at(name, "harm")
    with session.transaction():
        own = LoopFilter(session, world.context.unheard(pair))
        for statement in statements:
            session.execute(statement.encode())
        own.remove()


@pytest.fixture
def several(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Several]]:
    """Makes such worlds: ``several(ddl, {("east", "west"): {}})``."""
    made: list[Several] = []

    def one(ddl: str, arrows: Mapping[tuple[str, str], Mapping[str, Any]], *more: Any, **named: Any) -> Several:
        made.append(Several(server, tmp_path / f"several{len(made)}", ddl, arrows, *more, **named))
        monkeypatch.setenv(SEALED_ENV, seal(made[-1].infos))
        return made[-1]

    yield one
    for world in made:
        world.close()
        server.drop_databases(world.infos.values())
