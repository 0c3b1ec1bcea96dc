"""The master's rows as an exported snapshot shows them: what a dump and a comparison take to slaves of any kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.values.keyed_rows import KeyedRows
from sluice.vendors.gaussdb.read.shown import expect_shown, keep_shape
from sluice.vendors.gaussdb.read.snapshot import read_as_of
from sluice.vendors.gaussdb.session import composed, connect
from sluice.vendors.postgresql.catalog.definition import listed
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.copy_out import BUFFER_BYTES, CopyOut
from sluice.vendors.postgresql.session import Connection, plain_id
from sluice.vendors.protocol.read import Chunk, Key, KeyRange, RowFormat


class GaussReading:
    """See `sluice.vendors.protocol.load.Reading`. A table is unlocked as soon as its rows were read."""

    keyed_by_text = True

    def __init__(self, session: Connection) -> None:
        self._session = session

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> CopyOut:
        """The rows of a chunk, which is a whole table."""
        return self.table(chunk.leaf.relation, columns)

    def table(self, name: TableName, columns: Sequence[str]) -> CopyOut:
        """Every row of a table, in the text format, in no order. Raises TransientError SLC-095, see `expect_shown`."""
        self._session.execute("SAVEPOINT reading")
        keep_shape(self._session, name)
        relation = sql.Identifier(name.schema, name.table)
        out = composed("read/copy_out", columns=listed(columns), relation=relation)
        return CopyOut(self._session, out, BUFFER_BYTES, lambda: self._end(name))

    def keyed(self, name: TableName, columns: Sequence[str], key: Sequence[str], wanted: Sequence[Key]) -> KeyedRows:
        """The rows of these keys, in the text format; all of the table are read for them."""
        return KeyedRows(self.table(name, columns), columns, key, wanted)

    def shape(self, within: KeyRange) -> Layout | None:
        """Ranges of keys are not loaded. Raises ConfigError SLC-099."""
        raise no_blocks()

    def block(self, within: KeyRange, columns: Sequence[str], rows: int) -> tuple[CopyOut, Key | None]:
        """Ranges of keys are not loaded. Raises ConfigError SLC-099."""
        raise no_blocks()

    def _end(self, name: TableName) -> None:
        expect_shown(self._session, name)
        self._session.execute("ROLLBACK TO SAVEPOINT reading")
        self._session.execute("RELEASE SAVEPOINT reading")


def no_blocks() -> ConfigError:
    """The error for a load in blocks."""
    return ConfigError(
        99, "a source of this vendor cannot be read in blocks", "run initial_update in the mode `snapshot`"
    )


@contextmanager
def reading(info: ConnectionInfo, snapshot_id: str, trusted: Collection[str] = ()) -> Iterator[GaussReading]:
    """A session on the source that sees what an exported snapshot shows. Raises TransientError SLC-083, it is gone."""
    with translated("reading a table"), closing(connect(info, f"dump {plain_id(snapshot_id)}")) as session:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        read_as_of(session, snapshot_id)
        yield GaussReading(session)
