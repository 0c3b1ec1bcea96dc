"""A world whose slaves are still empty: what an initial update and a verification need beyond the small world."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.world import SOURCE, Rows, World

from sluice.changelog import points
from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.blocks.task import load_block
from sluice.initial_update.chunks.task import load_chunks
from sluice.initial_update.dump import dump
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.initial_update.release import release
from sluice.paths import HOME_ENV
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded, LoadJob, SlaveLoaded
from sluice.vendors.registry import vendor
from sluice.verify.difference import Difference
from sluice.verify.rounds import CompareAll
from sluice.verify.run import VerifyRequest, verify

Load = Callable[[LoadJob], list[SlaveLoaded]]
SLAVES = ("zurich", "geneva")
# A publisher or a drain in the background that found nothing to do begins again so late: each run opens its sessions
# anew, and with nothing to do that is all that it costs.
_IDLE_S = 0.6
# One that found something, too: under constant writes a run more finds what the next one would have found.
_PAUSE_S = 0.2


def points_void_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let slaves stand for seconds, and not for a minute, where a comparison or a load was killed.

    All processes that ask for points, or make them, have to be told so."""
    monkeypatch.setattr(points, "SECONDS", 12)
    monkeypatch.setattr(points, "_KEEP_UP_S", 2.0)


def load_here(job: LoadJob) -> list[SlaveLoaded]:
    """Every chunk, one after the other, in this process: what a Spark task does, without Spark."""
    return load_chunks(job)


def blocks_here(job: BlockJob) -> list[BlockLoaded]:
    """Every block of a round, each in a thread of its own."""
    with ThreadPoolExecutor(len(job.ranges)) as pool:
        return list(pool.map(lambda number: load_block(job, number), range(len(job.ranges))))


def compare_here(jobs: list[Comparison]) -> list[Difference | SluiceError]:
    """Every comparison in this process."""

    def compared(job: Comparison) -> Difference | SluiceError:
        try:
            return vendor(job.replica.vendor).compare_table(job)
        except SluiceError as error:
            return error

    return [compared(job) for job in jobs]


class UpdatingWorld(World):
    """Slaves without a table, of which geneva renames schemas."""

    def __init__(
        self,
        server: Any,
        path: Path,
        ddl: str,
        tables: Sequence[str],
        renamed: Mapping[str, str],
        slaves: Sequence[str] = SLAVES,
        **more: Any,
    ) -> None:
        path.mkdir()
        super().__init__(server, path, ddl, tables, slaves=slaves, **more)
        for slave in self.slaves:
            self.reader(slave).execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        if renamed:
            self.configure(lambda settings: settings["slaves"]["geneva"].update(schemas=dict(renamed)))
        self.renamed = {"geneva": renamed}

    def rows(self, name: str, table: str) -> Rows:
        schema, _, relative = table.partition(".")
        return super().rows(name, f"{self.renamed.get(name, {}).get(schema, schema)}.{relative}")

    def inhibit(self, *slaves: str, **how: Any) -> dict[str, Any]:
        return inhibit(self.context, SOURCE, slaves or self.slaves, InhibitRequest(**how))

    def dump(self, *slaves: str, load: Load = load_here, **how: Any) -> dict[str, Any]:
        return dump(self.context, SOURCE, slaves or self.slaves, load, **how)

    def release(self, *slaves: str) -> dict[str, Any]:
        return release(self.context, SOURCE, slaves or self.slaves)

    def update(self, *slaves: str, load: Load = load_here) -> None:
        """Inhibit, dump, release: the slaves are in TRANSITION then."""
        self.inhibit(*slaves)
        self.dump(*slaves, load=load)
        self.release(*slaves)

    def end_update(self, *slaves: str) -> None:
        """Let an update end as a comparison does that finds nothing, where what comes after it is tested."""
        self.catch_up()
        for slave in slaves or self.slaves:
            replications.record(self.context.store, self.pair(slave), ReplicationEvent.VERIFIED)

    def verify(
        self, *slaves: str, compare: CompareAll = compare_here, patience_s: float = 60, **asked: Any
    ) -> dict[str, Any]:
        """Verify while a publisher and the drains run beside, as their DAGs do; how many rows differ, by slave."""
        request = VerifyRequest(SOURCE, slaves or self.slaves, **asked)
        with self.running():
            found: Any = verify(self.context, request, compare, patience_s)
        return {slave: one["different"] for slave, one in found["slaves"].items()}

    def configure(self, change: Callable[[dict[str, Any]], None]) -> None:
        """See `World.configure`; also tasks that run in this process use the connections of now."""
        super().configure(change)
        os.environ[SEALED_ENV] = seal(self.infos)

    def waits(self, statement: str, name: str = "master") -> bool:
        """Whether a session that executes something like this, on that database, waits for a lock."""
        waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
        mine = "datname = current_database()"
        return self.reader(name).execute(f"{waiting} AND {mine}".encode(), [statement]).fetchone() is not None

    @contextmanager
    def running(self, *slaves: str) -> Iterator[None]:
        """The publisher and drains, each again and again in a thread of its own."""
        jobs = [self.publish, *(lambda slave=slave: self.drain(slave) for slave in slaves or self.slaves)]
        with background(*jobs, pause_s=_PAUSE_S):
            yield


def publishers_take_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is a slave: a publisher that answers late is no reason to give up."""
    awaited = points._await_answer
    monkeypatch.setattr(points, "_await_answer", lambda store, source, number, _: awaited(store, source, number, 60.0))


@contextmanager
def background(*jobs: Callable[[], object], pause_s: float = 0.1) -> Iterator[None]:
    """Run each job again and again until the block ends; transient errors are tried again, others are raised."""
    over = threading.Event()
    errors: list[BaseException] = []

    def repeat(job: Callable[[], object]) -> None:
        while not over.is_set():
            try:
                done = job()
            except TransientError:
                done = None
            except (SluiceError, psycopg.Error, AssertionError) as error:
                errors.append(error)
                return
            changes = done.get("changes") if isinstance(done, dict) else done
            over.wait(max(pause_s, _IDLE_S) if changes == 0 else pause_s)

    threads = [threading.Thread(target=repeat, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    except BaseException as ended:
        # Whoever waited in vain for what a job was to do.
        for error in errors:
            ended.add_note(f"a job in the background had failed: {error!r}")
        raise
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    if errors:
        raise errors[0]


@pytest.fixture
def updating(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., UpdatingWorld]]:
    """Makes worlds with empty slaves: ``updating(ddl, ["public.t"])``."""
    made: list[UpdatingWorld] = []

    def one(
        ddl: str, tables: Sequence[str], renamed: Mapping[str, str] = {"public": "branch"}, **more: Any
    ) -> UpdatingWorld:
        world = UpdatingWorld(server, tmp_path / f"world{len(made)}", ddl, tables, renamed, copied=not made, **more)
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))
        monkeypatch.setenv(HOME_ENV, str(world.path))
        made.append(world)
        return world

    yield one
    for world in made:
        world.close()
        server.drop_databases(world.infos.values())
