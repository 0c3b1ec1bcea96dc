"""Rows of a large table are read once, as soon as the chunk that they came in is committed.

Who reads a row first notes on its page that the row's transaction has committed. Where pages have checksums, and a
checkpoint came in between, the server logs the whole page for that note: in the end more than the table itself, while
its index is built. Read soon, the notes are logged nowhere, and the index has less to do.

Nothing is noted before the commit is flushed, so that of such a chunk is waited for.
"""

from __future__ import annotations

from collections.abc import Iterable

from psycopg import sql

from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog.definition import identifier, regclass
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.read import Chunk

# About as much as a server logs between two checkpoints, as it is packaged (`max_wal_size`, 1 GB); and it logs other
# tables too.
LARGE_BYTES = 512 * 1024 * 1024


def large(chunks: Iterable[Chunk]) -> set[TableName]:
    """The tables of which so much is to come that checkpoints come in between."""
    sizes: dict[TableName, int] = {}
    for chunk in chunks:
        sizes[chunk.leaf.table] = sizes.get(chunk.leaf.table, 0) + chunk.bytes
    return {table for table, size in sizes.items() if size >= LARGE_BYTES}


class HintBits:
    """The pages that a table, or each of its partitions, grows by while one chunk comes; those of others who write
    there among them.
    """

    def __init__(self, session: Connection, table: TableName) -> None:
        self._session = session
        self._table = table
        self._before = self._pages()

    def expect_commit(self) -> None:
        """The chunk is in, and will be committed."""
        self._session.execute("SET LOCAL synchronous_commit = local")

    def read(self) -> None:
        """The chunk has been committed."""
        for name, end in self._pages().items():
            begin = self._before.get(name, 0)
            if begin < end:
                bounds = {"begin": sql.Literal(f"({begin},0)"), "end": sql.Literal(f"({end},0)")}
                self._session.execute(composed("load/hint_bits/read", table=identifier(name), **bounds))

    def _pages(self) -> dict[TableName, int]:
        rows = self._session.execute(composed("load/hint_bits/pages"), {"table": regclass(self._table)})
        return {TableName(schema, table): pages for schema, table, pages in rows}
