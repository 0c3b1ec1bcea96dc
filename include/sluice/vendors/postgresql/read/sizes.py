"""Estimates of the sizes of tables by the server's statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.model.table_size import TableSize
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import composed, connect

# An estimate is not worth a long wait.
_PATIENCE = ("SET lock_timeout = '500ms'", "SET statement_timeout = '5s'")


def sizes(info: ConnectionInfo, tables: Sequence[TableName]) -> Mapping[TableName, TableSize]:
    """About how large those of these tables are that exist.

    Raises:
        TransientError: SLC-030, SLC-036, the server does not answer, or not in time.
    """
    with translated("estimating sizes"), connect(info, "sizes", autocommit=True) as session:
        for setting in _PATIENCE:
            session.execute(setting)
        rows = session.execute(composed("read/sizes"), {"tables": [regclass(one) for one in tables]}).fetchall()
    return {tables[number - 1]: TableSize(count, size) for number, count, size in rows}
