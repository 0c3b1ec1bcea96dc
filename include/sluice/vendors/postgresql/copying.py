"""Chunks, COPY to COPY: out of the dump's snapshot, into every slave that still wants them, without decoding a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import wraps
from typing import Concatenate, LiteralString, ParamSpec, TypeVar

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo, open_sealed
from sluice.crash import CrashPoint, reached
from sluice.errors import FencedError, SluiceError
from sluice.initial_update.job import LoadJob, SlaveLoad, SlaveLoaded
from sluice.initial_update.plan import Chunk
from sluice.vendors.postgresql.copy_out import CopyOut
from sluice.vendors.postgresql.definition import identifier
from sluice.vendors.postgresql.echoes import Echoes
from sluice.vendors.postgresql.session import Connection, composed, connect, translated

BUFFER_BYTES = 256 * 1024
LOCK_TIMEOUT = "3s"

P = ParamSpec("P")
R = TypeVar("R")


def load_chunks(job: LoadJob) -> list[SlaveLoaded]:
    """Copy chunks until every slave has them all; several of these at once share them out among themselves.

    Whoever is free claims the next chunk on one slave and takes it to all that lack it, each in a transaction of its
    own. One slave's error does not stop the others.

    Raises:
        SluiceError: the source cannot be read; nothing of the chunk at hand is on any slave then.
    """
    connections = open_sealed(job.sealed)
    with ExitStack() as stack:
        slaves = [stack.enter_context(closing(_Slave(job, plan))) for plan in job.slaves]
        for slave in slaves:
            slave.open(connections[slave.plan.connection])
        reader = stack.enter_context(_reader(connections[job.connection], job.snapshot_id))
        for lead in slaves:
            while (number := lead.claim_next()) is not None:
                others = (other for other in slaves if other is not lead and other.claim(number))
                _copy(job, job.chunks[number], reader, [lead, *others])
        return [SlaveLoaded(one.plan.slave, one.rows, one.error) for one in slaves]


@contextmanager
def _reader(info: ConnectionInfo, snapshot_id: str) -> Iterator[Connection]:
    """A session on the source that sees what the dump's snapshot shows.

    Raises:
        SluiceError: SLC-083, nobody holds the snapshot any more (R5).
    """
    with translated("reading a chunk"), connect(info, "dump", autocommit=True) as session:
        # DDL that waits for the dump's lock makes us wait for itself, and the dump waits for us: give way to it.
        session.execute(sql.SQL("SET lock_timeout = {}").format(LOCK_TIMEOUT))
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot_id))
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject) as error:
            raise SluiceError(
                83,
                f"the snapshot that this dump reads is lost: its session on the source has ended ({error})",
                "trigger initial_update again; the source's log tells who ended the session",
            ) from None
        yield session


def _copy(job: LoadJob, chunk: Chunk, reader: Connection, slaves: Sequence[_Slave]) -> None:
    table = chunk.leaf.table
    columns = sql.SQL(", ").join(sql.Identifier(name) for name in job.columns[table])
    form = sql.SQL("binary" if job.binary[table] else "text")
    out = composed(
        "initial_update/copy_out",
        columns=columns,
        relation=identifier(chunk.leaf.relation),
        low=sql.Literal(f"({chunk.low},0)"),
        high=sql.Literal(f"({chunk.high if chunk.high is not None else 2**32 - 2},0)"),
        format=form,
    )
    for slave in slaves:
        into = identifier(slave.plan.names[table])
        slave.begin(composed("initial_update/copy_in", table=into, columns=columns, format=form))
    reading = CopyOut(reader, out, BUFFER_BYTES)
    for buffer in reading:
        for slave in slaves:
            slave.write(buffer)
    for slave in slaves:
        slave.end(chunk.number, reading.rows)


def _noted(step: Callable[Concatenate[_Slave, P], R]) -> Callable[Concatenate[_Slave, P], R | None]:
    """Do the step unless an earlier one failed; keep the error, and end the session with what it had not committed."""

    @wraps(step)
    def attempt(slave: _Slave, /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        if slave.error:
            return None
        try:
            with translated(f"loading {slave.plan.slave}"):
                return step(slave, *args, **kwargs)
        except SluiceError as error:
            slave.error = str(error)
            slave.close()
            return None

    return attempt


class _Slave:
    """One slave that is loaded: one session, and one transaction a chunk.

    Attributes:
        rows: how many are committed.
        error: why nothing more is done here, or empty.
    """

    def __init__(self, job: LoadJob, plan: SlaveLoad) -> None:
        self.plan = plan
        self.rows = 0
        self.error = ""
        self._parts = {name: sql.Identifier(plan.schema, f"sluice_{name}") for name in ("position", "loaded")}
        self._names: dict[str, object] = {"source": job.source, "slave": plan.slave, "update": plan.epoch}
        self._chunks = len(job.chunks)
        self._next = 0
        self._open = ExitStack()
        self._copying = ExitStack()

    @_noted
    def open(self, info: ConnectionInfo) -> None:
        """Begin the session."""
        self._session = self._open.enter_context(closing(connect(info, f"load {self.plan.slave}", autocommit=True)))
        with suppress(psycopg.errors.InsufficientPrivilege):
            self._session.execute("SET session_replication_role = replica")
        # Rows and claim are lost together, if at all, and the slave is made durable before the dump counts (R3).
        self._session.execute("SET synchronous_commit = off")

    def close(self) -> None:
        """End the session."""
        self._open.close()

    @_noted
    def claim_next(self) -> int | None:
        """Begin a transaction that holds a chunk which the slave lacks; None if it lacks none.

        What others hold is passed over at first. In the end it is waited for: what they give up is loaded all the same.
        """
        chunk = self._claim(range(self._next, self._chunks), "SKIP LOCKED")
        if chunk is None:
            chunk = self._claim(range(self._chunks), "")
        else:
            self._next = chunk + 1
        return chunk

    @_noted
    def claim(self, chunk: int) -> bool:
        """Begin a transaction that holds this very chunk, if the slave lacks it."""
        return self._claim(range(chunk, chunk + 1), "") is not None

    @_noted
    def begin(self, into: sql.Composed) -> None:
        """Open the COPY."""
        self._echoes = Echoes(self._session, self.plan.masters)
        self._copying = ExitStack()
        self._copy = self._copying.enter_context(self._session.cursor().copy(into))

    @_noted
    def write(self, buffer: bytes) -> None:
        """Rows, in the format of the COPY."""
        self._copy.write(buffer)

    @_noted
    def end(self, chunk: int, rows: int) -> None:
        """Close the COPY, and commit it with the claim."""
        self._copying.close()
        self._echoes.remove()
        done = {**self._names, "chunk": chunk, "rows": rows}
        self._session.execute(composed("initial_update/loaded", **self._parts), done)
        self._session.execute("COMMIT")
        self.rows += rows
        reached(CrashPoint.CHUNK_LOADED)

    def _claim(self, among: range, held: LiteralString) -> int | None:
        self._session.execute("BEGIN")
        self._fence()
        chunks = {**self._names, "low": among.start, "high": among.stop}
        row = self._session.execute(
            composed("initial_update/claim", **self._parts, held=sql.SQL(held)), chunks
        ).fetchone()
        if row is None:
            self._session.execute("ROLLBACK")
            return None
        return int(row[0])

    def _fence(self) -> None:
        """Loaders are fenced like drains: read the fence FOR SHARE in the loading transaction (R6)."""
        row = self._session.execute(composed("slave/fence", **self._parts), self._names).fetchone()
        if row is None or row[0] != self.plan.epoch:
            raise FencedError(
                50, f"somebody took over slave {self.plan.slave} from this dump", "trigger initial_update again"
            )
