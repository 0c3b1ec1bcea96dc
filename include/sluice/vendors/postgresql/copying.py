"""One chunk, COPY to COPY: out of the dump's snapshot, into every slave that still wants it, without decoding a row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo, open_sealed
from sluice.crash import CrashPoint, reached
from sluice.errors import FencedError, SluiceError
from sluice.initial_update.job import ChunkLoaded, LoadJob, SlaveLoad
from sluice.initial_update.plan import Chunk
from sluice.vendors.postgresql.copy_out import CopyOut
from sluice.vendors.postgresql.definition import identifier
from sluice.vendors.postgresql.session import Connection, composed, connect, explained, translated

BUFFER_BYTES = 256 * 1024
LOCK_TIMEOUT = "3s"


@dataclass
class _Load:
    """One slave while a chunk flows into it."""

    plan: SlaveLoad
    session: Connection
    copy: psycopg.Copy
    finish: Callable[[], None]
    error: str = ""


def load_chunk(job: LoadJob, chunk: Chunk) -> list[ChunkLoaded]:
    """Copy one chunk to every slave, each in a transaction of its own; one slave's error does not stop the others.

    Raises:
        SluiceError: the source cannot be read; nothing of this chunk is on any slave then.
    """
    connections = open_sealed(job.sealed)
    columns = sql.SQL(", ").join(sql.Identifier(name) for name in job.columns[chunk.leaf.table])
    form = sql.SQL("binary" if job.binary[chunk.leaf.table] else "text")
    out = composed(
        "initial_update/copy_out",
        columns=columns,
        relation=identifier(chunk.leaf.relation),
        low=sql.Literal(f"({chunk.low},0)"),
        high=sql.Literal(f"({chunk.high if chunk.high is not None else 2**32 - 2},0)"),
        format=form,
    )
    loads: list[_Load] = []
    results: list[ChunkLoaded] = []
    try:
        for plan in job.slaves:
            load = _begin(job, chunk, plan, connections[plan.connection], columns, form)
            loads.append(load) if isinstance(load, _Load) else results.append(load)
        rows = _stream(connections[job.connection], job.snapshot_id, out, loads) if loads else 0
        for load in loads:
            results.append(_end(job, chunk, load, rows))
    finally:
        for load in loads:
            load.session.close()
    return results


def _stream(info: ConnectionInfo, snapshot_id: str, out: sql.Composed, loads: list[_Load]) -> int:
    with translated("reading a chunk"), connect(info, "dump", autocommit=True) as session:
        # DDL that waits for the dump's lock makes us wait for itself, and the dump waits for us: give way to it.
        session.execute(sql.SQL("SET lock_timeout = {}").format(LOCK_TIMEOUT))
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        _import(session, snapshot_id)
        reading = CopyOut(session, out, BUFFER_BYTES)
        for buffer in reading:
            for load in loads:
                if not load.error:
                    _write(load, buffer)
        session.execute("ROLLBACK")
    return reading.rows


def _import(session: Connection, snapshot_id: str) -> None:
    """See what the dump's snapshot shows. Raises SluiceError SLC-083 if nobody holds it any more (R5)."""
    try:
        session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot_id))
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject) as error:
        raise SluiceError(
            83,
            f"the snapshot that this dump reads is lost: its session on the source has ended ({error})",
            "trigger initial_update again; the source's log tells who ended the session",
        ) from None


def _write(load: _Load, buffer: bytes) -> None:
    try:
        load.copy.write(buffer)
    except psycopg.Error as error:
        load.error = str(explained(error, f"loading {load.plan.slave}"))


def _begin(
    job: LoadJob, chunk: Chunk, plan: SlaveLoad, info: ConnectionInfo, columns: sql.Composed, form: sql.SQL
) -> _Load | ChunkLoaded:
    """Open the slave's transaction: fence, claim, COPY. A chunk that is in, or a slave that fails, ends here."""
    session = None
    try:
        with translated(f"loading {plan.slave}"):
            session = connect(info, f"load {plan.slave}", autocommit=True)
            _silence(session)
            # Rows and claim are lost together, if at all, and the slave is made durable before the dump counts (R3).
            session.execute("SET synchronous_commit = off")
            session.execute("BEGIN")
            fenced(session, job, plan)
            claimed = session.execute(composed("initial_update/claim", **_parts(plan)), _row(job, chunk, plan))
            if not claimed.rowcount:
                session.close()
                return ChunkLoaded(chunk.number, plan.slave, 0, "")
            into = composed(
                "initial_update/copy_in", table=identifier(plan.names[chunk.leaf.table]), columns=columns, format=form
            )
            copying = ExitStack()
            copy = copying.enter_context(session.cursor().copy(into))
    except SluiceError as error:
        if session is not None:
            session.close()
        return ChunkLoaded(chunk.number, plan.slave, 0, str(error))
    return _Load(plan, session, copy, copying.close)


def _end(job: LoadJob, chunk: Chunk, load: _Load, rows: int) -> ChunkLoaded:
    """Close the slave's COPY and commit it with the chunk's claim."""
    if not load.error:
        try:
            with translated(f"loading {load.plan.slave}"):
                load.finish()
                values = {**_row(job, chunk, load.plan), "rows": rows}
                load.session.execute(composed("initial_update/loaded", **_parts(load.plan)), values)
                load.session.execute("COMMIT")
            reached(CrashPoint.CHUNK_LOADED)
        except SluiceError as error:
            load.error = str(error)
    return ChunkLoaded(chunk.number, load.plan.slave, 0 if load.error else rows, load.error)


def fenced(session: Connection, job: LoadJob, plan: SlaveLoad) -> None:
    """Loaders are fenced like drains: read the fence FOR SHARE in the loading transaction (R6)."""
    row = session.execute(
        composed("slave/fence", **_parts(plan)), {"source": job.source, "slave": plan.slave}
    ).fetchone()
    if row is None or row[0] != plan.epoch:
        raise FencedError(50, f"somebody took over slave {plan.slave} from this dump", "trigger initial_update again")


def _silence(session: Connection) -> None:
    with suppress(psycopg.errors.InsufficientPrivilege):
        session.execute("SET session_replication_role = replica")


def _parts(plan: SlaveLoad) -> dict[str, sql.Composable]:
    return {name: sql.Identifier(plan.schema, f"sluice_{name}") for name in ("position", "loaded")}


def _row(job: LoadJob, chunk: Chunk, plan: SlaveLoad) -> dict[str, object]:
    return {"source": job.source, "slave": plan.slave, "update": plan.epoch, "chunk": chunk.number}
