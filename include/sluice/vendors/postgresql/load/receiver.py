"""The slave's side of a chunk: claimed, copied in without decoding a row, and committed with its claim."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import wraps
from typing import Concatenate, LiteralString, ParamSpec, TypeVar

from psycopg import sql

from sluice.apply.mapping.table_view import TableView
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.names import Pair, TableName
from sluice.vendors.postgresql import fence
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog.definition import identifier, listed
from sluice.vendors.postgresql.copy_formats import copy_format
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load import hint_bits
from sluice.vendors.postgresql.ownership import session_on_slave
from sluice.vendors.postgresql.session import Connection, composed, keep, restore
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.protocol.read import RowFormat
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoad

P = ParamSpec("P")
R = TypeVar("R")


def loader(info: ConnectionInfo, pair: Pair, schema: str, *, in_blocks: bool = False) -> Connection:
    """A session that fills a slave: what acts there by itself is silent, where the role may have it so."""
    session = session_on_slave(info, fence.loading(pair, in_blocks=in_blocks), schema)
    side_effects.silence(session)
    # Rows, and what says that they are in, are lost together, if at all; and with them what the drain did after that.
    # The slave is made durable before anybody counts on them (R3).
    keep(session, synchronous_commit="off")
    return session


def merge(view: TableView, *, upserted: bool) -> sql.Composed:
    """Put what was staged beside the rows of a table that are there; `upserted`: these become the ones that come."""
    key = view.layout.key_names
    others = [name for name in view.written_columns if name not in key] if upserted else []
    then = sql.SQL(", ").join(sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in others)
    # By their bytes: not every type has an equality. One that is the same already is not written again.
    known, come = (sql.SQL(", ").join(sql.Identifier(side, name) for name in others) for side in ("there", "excluded"))
    changed = sql.SQL("WHERE ROW({})::record *<> ROW({})::record").format(known, come)
    return composed(
        "load/merge",
        table=identifier(view.layout.name),
        columns=listed(view.written_columns),
        key=listed(key),
        then=sql.SQL("UPDATE SET {} {}").format(then, changed) if others else sql.SQL("NOTHING"),
    )


def _explained(
    step: Callable[Concatenate[PostgresReceiver, P], R],
) -> Callable[Concatenate[PostgresReceiver, P], R]:
    """Let the step raise errors of ours."""

    @wraps(step)
    def attempt(receiver: PostgresReceiver, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with translated(f"loading {receiver.slave}"):
            return step(receiver, *args, **kwargs)

    return attempt


class PostgresReceiver:
    """See `sluice.vendors.protocol.load.Receiver`: one session, and one transaction a chunk."""

    def __init__(self, info: ConnectionInfo, job: LoadJob, plan: SlaveLoad) -> None:
        self._info = info
        self._plan = plan
        self._pair = Pair(job.source, plan.slave)
        self.slave = plan.slave
        self._parts = {name: sql.Identifier(plan.schema, f"sluice_{name}") for name in ("position", "loaded")}
        self._names: dict[str, object] = {"source": job.source, "slave": plan.slave, "update": plan.epoch}
        self._chunks = len(job.chunks)
        self._large = hint_bits.large(job.chunks)
        self._next = 0
        self._open = ExitStack()
        self._copying = ExitStack()

    @_explained
    def open(self) -> None:
        """Begin the session."""
        self._session = self._open.enter_context(closing(loader(self._info, self._pair, self._plan.schema)))

    def close(self) -> None:
        """End the session."""
        self._open.close()

    @_explained
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

    @_explained
    def claim(self, chunk: int) -> bool:
        """Begin a transaction that holds this very chunk, if the slave lacks it."""
        return self._claim(range(chunk, chunk + 1), "") is not None

    @_explained
    def begin(self, table: TableName, form: RowFormat) -> None:
        """Open the COPY."""
        view = self._plan.views[table]
        parts = {
            "table": identifier(view.layout.name),
            "columns": listed(view.written_columns),
        }
        silent = side_effects.is_silent(self._session)
        side_effects.hold(self._session, view.layout.name, self._plan.adopted, silent=silent)
        self._loop_filter = LoopFilter(self._session, self._plan.masters)
        self._merge, self._hint_bits = None, None
        upserted = table in self._plan.upserted
        if upserted or table in self._plan.merged:
            self._session.execute(composed("load/stage", **parts, kept=sql.SQL("DROP")))
            self._merge = merge(view, upserted=upserted)
            parts["table"] = sql.Identifier("pg_temp", "sluice_merged")
        elif table in self._large:
            self._hint_bits = hint_bits.HintBits(self._session, view.layout.name)
        into = composed("load/copy_in", **parts, format=copy_format(form))
        self._copying = ExitStack()
        self._copy = self._copying.enter_context(self._session.cursor().copy(into))

    @_explained
    def write(self, buffer: bytes) -> None:
        """Rows, in the format of the COPY."""
        self._copy.write(buffer)

    @_explained
    def end(self, chunk: int, rows: int) -> None:
        """Close the COPY, and commit it with the claim."""
        self._copying.close()
        restore(self._session)
        if self._merge:
            rows = self._session.execute(self._merge).rowcount
            restore(self._session)
        self._loop_filter.remove()
        if self._hint_bits:
            self._hint_bits.expect_commit()
        done = {**self._names, "chunk": chunk, "rows": rows}
        self._session.execute(composed("load/loaded", **self._parts), done)
        self._session.execute("COMMIT")
        crash_if_asked(CrashPoint.CHUNK_LOADED)
        if self._hint_bits:
            self._hint_bits.read()

    def _claim(self, among: range, held: LiteralString) -> int | None:
        self._session.execute("BEGIN")
        # Loaders are fenced like drains (R6).
        fence.lock_fence(self._session, self._parts["position"], self._pair, self._plan.epoch)
        chunks = {**self._names, "low": among.start, "high": among.stop}
        row = self._session.execute(composed("load/claim", **self._parts, held=sql.SQL(held)), chunks).fetchone()
        if row is None:
            self._session.execute("ROLLBACK")
            return None
        return int(row[0])
