"""The slave's name of a portable statement's table."""

from __future__ import annotations

from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.vendors.protocol.statement_errors import unmapped


def expect_seen(mapper: Mapper, name: TableName) -> TableName:
    """What a slave calls the table. Raises SluiceError SLC-103, it does not have all of it as it is."""
    if not mapper.whole(name):
        raise unmapped(f"the slave does not have {name} as it is")
    return mapper.table(name)
