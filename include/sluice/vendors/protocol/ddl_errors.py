"""Errors of commands of the master on slaves of any vendor; the HINTs differ."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.errors import SluiceError
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
