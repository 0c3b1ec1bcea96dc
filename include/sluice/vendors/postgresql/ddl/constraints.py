"""Constraints that rows need not meet (NOT VALID, NOT ENFORCED), and those that only newer servers know."""

from __future__ import annotations

import re
from dataclasses import replace

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.log import event
from sluice.vendors.postgresql.catalog.definition import PostgresTable, for_slave
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.ddl.slave_definition import expect_computable, mapped
from sluice.vendors.postgresql.session import Connection

_NOT_VALID, _NOT_ENFORCED = "NOT VALID", "NOT ENFORCED"
_OF_PERIODS = re.compile(r"(PRIMARY KEY|UNIQUE) \(.* WITHOUT OVERLAPS\)")
# Since this version servers know constraints that are not enforced, and keys of periods.
_KNOWING = 180000


def to_make(connection: Connection, table: PostgresTable, names: SlaveNames, mapper: Mapper) -> PostgresTable:
    """A table of the master in the slave's words, as it is made there. Raises as `expect_makeable`."""
    expect_makeable(connection, table, mapper)
    return mapped(connection, for_slave(understood(connection, table), names), mapper)


def expect_makeable(connection: Connection, table: PostgresTable, mapper: Mapper) -> None:
    """See that a table of the master can be made here; nothing is changed.

    Raises:
        SluiceError: SLC-432, the slave's server does not know its keys; see `expect_computable`.
    """
    of_periods = [name for name, text in table.constraints if _OF_PERIODS.match(text)]
    if of_periods and connection.info.server_version < _KNOWING:
        raise SluiceError(
            432,
            f"the slave's server is older than PostgreSQL 18 and knows no keys of periods: {', '.join(of_periods)} of "
            f"{table.name}",
            "make the table there by hand, with an exclusion constraint (EXCLUDE USING gist) in its place, or leave it "
            "out (`exclude`); nothing was loaded",
        )
    expect_computable(table, mapper)


def understood(connection: Connection, table: PostgresTable) -> PostgresTable:
    """The table without constraints that are not enforced, if the slave's server knows none: they hold nothing back."""
    if connection.info.server_version >= _KNOWING:
        return table
    constraints = tuple(one for one in table.constraints if not one[1].endswith(_NOT_ENFORCED))
    keys = tuple(key for key in table.foreign_keys if key.lenience != _NOT_ENFORCED)
    if left := len(table.constraints) + len(table.foreign_keys) - len(constraints) - len(keys):
        event("constraints that are not enforced are left out", table=table.name, constraints=left)
    return replace(table, constraints=constraints, foreign_keys=keys)


def open_to_all(table: PostgresTable, *, silent: bool) -> PostgresTable:
    """The table without what would hold back rows of the master that follow: they may be older than a constraint that
    is not valid.

    Args:
        silent: foreign keys hold nothing back.
    """
    constraints = tuple(one for one in table.constraints if not one[1].endswith(_NOT_VALID))
    keys = tuple(key for key in table.foreign_keys if silent or key.lenience != _NOT_VALID)
    return replace(table, constraints=constraints, foreign_keys=keys)
