"""The files of a slave's tables, as its drain has left them. Who empties or replaces a table gives it others."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import BigInteger, Column, Connection, Table, Text, select
from sqlalchemy.dialects.postgresql import JSONB, insert

from sluice.model.names import Pair
from sluice.store.engine import Store
from sluice.store.tables import for_pair, metadata

# One row a replication. They say something only where the slave stands as it stood then.
table_files = Table(
    "table_files",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("source", "slave")),
    Column("ordinal", BigInteger, nullable=False),
    Column("files", JSONB, nullable=False),
)


def record(store: Store, pair: Pair, ordinal: int, files: Mapping[str, str] | None) -> None:
    """Record the files of tables, by the master's names, of a slave that stands at an ordinal; None: the same."""
    with store.begin() as connection:
        if files is None:
            connection.execute(table_files.update().where(for_pair(table_files, pair)).values(ordinal=ordinal))
            return
        values = {"ordinal": ordinal, "files": dict(files)}
        insertion = insert(table_files).values(source=pair.source, slave=pair.slave, **values)
        connection.execute(insertion.on_conflict_do_update(index_elements=["source", "slave"], set_=values))


def read(store: Store, pair: Pair, ordinal: int) -> Mapping[str, str]:
    """The files as they were recorded at this ordinal; empty if they were not."""
    asked = select(table_files.c.files).where(for_pair(table_files, pair), table_files.c.ordinal == ordinal)
    with store.begin() as connection:
        return connection.execute(asked).scalar() or {}


def forget(connection: Connection, pair: Pair) -> None:
    """Tables of the slave are filled again."""
    connection.execute(table_files.delete().where(for_pair(table_files, pair)))
