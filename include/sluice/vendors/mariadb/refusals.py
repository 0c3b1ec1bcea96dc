"""Features of Sluice that a slave on MariaDB has not, refused by name before anything is written."""

from __future__ import annotations

from sluice.errors import SluiceError
from sluice.model.action import Command
from sluice.model.names import Pair


def not_supported(pair: Pair, what: str, hint: str) -> SluiceError:
    """A setting or a command that such a slave does not know."""
    return SluiceError(438, f"slave {pair.slave} is on MariaDB, where {what} is not supported", hint)


def ddl(pair: Pair, command: Command) -> SluiceError:
    """A CREATE, ALTER or DROP of the master, which would commit the transaction that it is in (R3)."""
    table = command.layout.name if command.layout else "a table"
    return SluiceError(
        434,
        f"the master's {command.action} of {table} is not carried out on slave {pair.slave}: on MariaDB it would "
        "commit the batch that it is in",
        f"drop {table} there and let initial_update make and fill it as it is now. To do without this command, set "
        "`creates`, `alters` or `drops` of the replication to ignore; nothing is lost",
    )


def statement(pair: Pair) -> SluiceError:
    """A statement that is issued on every node."""
    return SluiceError(
        436,
        f"slave {pair.slave} is on MariaDB, and executes no statement",
        "set `statements: false` for its replication; what statements change then reaches it by an initial_update",
    )
