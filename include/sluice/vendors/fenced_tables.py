"""A slave's tables during an initial update: a load is fenced in each of its transactions, and builds nothing later.

Only what a load of the very same rows has brought may stay.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.library_errors import name_table
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.vendors.protocol.load import Expected, TableDefinition
from sluice.vendors.protocol.read import TakenFormats


class Closable(Protocol):
    """A session of a driver."""

    def close(self) -> None:
        """End it."""


S = TypeVar("S", bound=Closable)
# A table as the vendor makes it.
T = TypeVar("T")


class Filled(Protocol):
    """The slave whose tables are filled: as much of it as that takes."""

    info: ConnectionInfo
    pair: Pair
    mapper: Mapper
    parts: dict[str, str]

    def expect_replaced(self, table: TableName) -> None:
        """See that a table may be emptied."""

    def take_over(self, epoch: int) -> object:
        """Raise the fence."""

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Let the stream go on at a position, without what the snapshot shows."""

    def close(self) -> None:
        """End the session."""


class RowsAlone:
    """`SlaveTables` that are rows and a primary key: nothing is built after the rows, and no program brings them."""

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """None of them."""
        return set()

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """There is nothing to be built after the rows."""

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """No program imports here."""
        return set()

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Tables here have no sequences."""


class FencedTables(RowsAlone, ABC, Generic[S, T]):
    """See `sluice.vendors.protocol.load.SlaveTables`."""

    def __init__(self, slave: Filled, epoch: int, earlier: int | None = None) -> None:
        self.slave = slave
        self.epoch = epoch
        self._earlier = earlier
        self.goes_on = False
        self._opened: S | None = None
        self.mapper = slave.mapper
        self.formats = TakenFormats()
        self.upserted: set[TableName] = set()

    @staticmethod
    @abstractmethod
    def translated(doing: str) -> AbstractContextManager[None]:
        """Turn a driver's error into one of ours."""

    @staticmethod
    @abstractmethod
    def transaction(session: S) -> AbstractContextManager[None]:
        """A transaction, committed at the end of the block unless that fails."""

    @staticmethod
    @abstractmethod
    def existing(session: S, layout: Layout) -> object | None:
        """The table that is there. Raises SluiceError if it does not take the rows."""

    @staticmethod
    @abstractmethod
    def table_of(session: S, layout: Layout) -> T:
        """The table as it is made. Raises SluiceError if it cannot be."""

    @staticmethod
    @abstractmethod
    def make(session: S, table: T) -> None:
        """Make a table; it commits."""

    @staticmethod
    @abstractmethod
    def empty(session: S, table: TableName) -> None:
        """Delete its rows, within the transaction."""

    @staticmethod
    @abstractmethod
    def is_open(session: S) -> bool:
        """Whether a session can be used."""

    @abstractmethod
    def opened(self) -> S:
        """A session of its own."""

    @abstractmethod
    def lock(self, session: S) -> None:
        """Lock the fence until the transaction ends. Raises FencedError SLC-050, another job took over."""

    @abstractmethod
    def run(self, session: S, name: str, values: Mapping[str, object]) -> Sequence[Sequence[object]]:
        """The rows of a statement of the room `load`, by its name."""

    def begin(self) -> Sequence[Expected]:
        """Fence out earlier jobs. Chunks of the same load under an earlier epoch stay."""
        self.slave.take_over(self.epoch)
        if self._earlier is not None:
            with self.translated("looking at the load"), self.transaction(session := self._fenced()):
                self.lock(session)
                self.run(session, "carry_over", {**self._load(), "earlier": self._earlier})
            self.goes_on = any(self.progress().values())
        return ()

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Write down the chunks, for tasks to claim; those of a load that goes on are. Earlier ones are forgotten."""
        if self.goes_on:
            return
        with self.translated("planning the load"), self.transaction(session := self._fenced()):
            self.lock(session)
            self.run(session, "forget", self._names())
            for number, one in enumerate(chunks):
                self.run(session, "expect", {**self._load(), "chunk": number, "copied": one.rows})

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Make what is missing, and empty what is there. All of it may happen again.

        Raises:
            SluiceError: a table cannot be made, one that is there does not take the rows, or its rows are to stay.
        """
        with self.translated("preparing the slave's tables"):
            session = self._fenced()
            found = []
            for table in tables:
                with name_table(table.name), self.translated("looking at the slave's table"):
                    self.slave.expect_replaced(table.name)
                    layout = view(self.mapper, table.layout).layout
                    found.append((layout.name, self.existing(session, layout), self.table_of(session, layout)))
            kept = {self.mapper.table(name) for name in staying}
            if self.goes_on and any(there is None for _, there, _ in found):
                # Somebody dropped a table whose chunks are in: all come again.
                with self.transaction(session):
                    self.lock(session)
                    self.run(session, "begin_again", self._load())
                self.goes_on = False
            # The server refuses a table before any row goes.
            for table, (_, there, made) in zip(tables, found, strict=True):
                if there is None:
                    with self.transaction(session):
                        self.lock(session)
                    with name_table(table.name), self.translated("making the slave's table"):
                        self.make(session, made)
            for table, (name, there, _) in zip(tables, found, strict=True):
                if there is not None and not (self.goes_on or name in kept):
                    # TRUNCATE would commit before we know that nobody took over.
                    with (
                        name_table(table.name),
                        self.translated("emptying the slave's table"),
                        self.transaction(session),
                    ):
                        self.lock(session)
                        self.empty(session, name)

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """The data is complete: from here on the stream, without what the snapshot saw."""
        self.slave.begin_update(position, snapshot)
        with self.translated("ending the load"), self.transaction(session := self._fenced()):
            self.run(session, "forget", self._names())

    def progress(self) -> dict[int, int]:
        """The chunks that are in, and how many rows each has."""
        with self.translated("looking at the load"):
            rows = self.run(self._fenced(), "progress", self._load())
            return {int(str(chunk)): int(str(copied)) for chunk, copied in rows}

    def close(self) -> None:
        """End the sessions."""
        if self._opened is not None and self.is_open(self._opened):
            self._opened.close()
        self.slave.close()

    def _fenced(self) -> S:
        """The session; whether nobody took over is looked at in its transactions."""
        if self._opened is None or not self.is_open(self._opened):
            self._opened = self.opened()
        return self._opened

    def _names(self) -> dict[str, object]:
        return {"source": self.slave.pair.source, "slave": self.slave.pair.slave}

    def _load(self) -> dict[str, object]:
        return {**self._names(), "load_id": self.epoch}
