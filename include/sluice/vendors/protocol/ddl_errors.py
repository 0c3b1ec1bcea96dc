"""Errors of commands of the master on slaves of any vendor; the HINTs differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sluice.errors import AGAIN, CommandRefused, SluiceError, TransientError, UnclassifiedError

if TYPE_CHECKING:
    from sluice.model.names import TableName


def there_already(table: TableName, hint: str) -> SluiceError:
    """Rows of a table that is to be made would be lost."""
    return SluiceError(
        141, f"the slave has a table {table} with rows already, which is made on the master only now", hint
    )


def name_taken(table: TableName, to: TableName, hint: str) -> SluiceError:
    """Another table bears the name that one is to bear."""
    return SluiceError(
        142, f"the slave has a table {to} already, and {table} is called so on the master from here on", hint
    )


def more_to_be_seen(table: TableName, what: Iterable[str]) -> SluiceError:
    """A table is to have what the slave did not get of it."""
    return SluiceError(
        145,
        f"as the master altered {table}, the slave is to get what it did not get, and does not know it of what it has: "
        f"{', '.join(what)}",
        "if the table was renamed, add an entry for its new name to `tables` of the slave; or let initial_update bring "
        "the rows",
    )


def not_ours(error: ValueError) -> SluiceError:
    """Why a command is not carried out that cannot be read."""
    return SluiceError(
        68,
        f"a command of the change log is not one that Sluice wrote: {error}",
        "nothing of the batch was applied; an initial_update leaves the command behind",
    )


def failed(error: UnclassifiedError) -> SluiceError:
    """The server refuses a command, and says why."""
    return CommandRefused(
        140,
        error.fact,
        "the slave waits in front of it: fix what is in its way there, or do there by hand what the master did, which "
        "is then passed over; or leave it behind by initial_update",
    )


def not_the_one(old: TableName, new: TableName) -> SluiceError:
    """A rename that seems to be done. An owner who renames a table on the master could write into any table of the
    slave, if that were believed.
    """
    return SluiceError(
        371,
        f"the master renamed {old} to {new}: the slave has no {old}, and a {new} already, and nothing tells whether "
        "that is the same table",
        f"nothing was changed; if it is, rename it to {old} there, and unpause: the drain renames it at its place in "
        f"the stream. If it is another one, rename or drop it, and bring {new} by initial_update; or run with `alters: "
        "ignore` for this replication until the rename is passed",
    )


def unknown_values(table: TableName, why: str, then: str = "which is then passed over") -> SluiceError:
    """Rows that a slave has would have values that nobody knows."""
    return CommandRefused(
        140,
        f"the master's ALTER of {table} cannot be carried out on the rows that the slave has: {why}",
        f"nothing of it was written; do there by hand what the master did, {then}; or drop the table there and let "
        "initial_update make and fill it",
    )


def session_ended(slave: str) -> TransientError:
    """What the session that took over a slave has begun there, another one may not know."""
    return TransientError(83, f"the session that took over slave {slave} has ended", AGAIN)


def no_table_here(name: TableName, kind: str) -> SluiceError:
    """What bears the name of a table is something else."""
    return CommandRefused(
        140,
        f"the master drops a table that is {name} here, which is of the type {kind}",
        "nothing of it was written; drop it there by hand, or set `drops: ignore` for this replication",
    )
