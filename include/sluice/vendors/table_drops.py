"""Dropping a slave's tables one after the other, where each drop commits and foreign keys may refuse it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName


def drop(tables: Sequence[TableName], dropped: Callable[[TableName], bool]) -> Sequence[TableName]:
    """Drop tables, those last to which others of them refer; which ones the server has to keep.

    Args:
        dropped: drops one; False if a foreign key refers to it.
    """
    kept = [name for name in tables if not dropped(name)]
    return drop(kept, dropped) if 0 < len(kept) < len(tables) else kept


def _not_free(table: TableName, other: TableName) -> SluiceError:
    return SluiceError(
        387,
        f"{table} cannot be dropped: a foreign key of {other} refers to it",
        "nothing was changed; drop that foreign key, or let the tables stay: remove without `--tables`",
    )


def expect_free(
    tables: Sequence[TableName],
    referring: Callable[[TableName], Iterable[TableName]],
    refused: Callable[[TableName, TableName], SluiceError] = _not_free,
) -> None:
    """See that no table which stays refers to one that goes.

    Args:
        refused: the error for one that goes and one that stays.

    Raises:
        SluiceError: SLC-387, or what `refused` gives.
    """
    for name in tables:
        if others := [other for other in referring(name) if other not in tables]:
            raise refused(name, others[0])


def staying(pair: Pair, kept: Sequence[TableName], statement: str) -> SluiceError:
    """The error of a replication that is removed, but for tables of it: what drops these."""
    return SluiceError(
        652,
        f"{pair} is removed, but {', '.join(map(str, kept))} stays: foreign keys of tables that the account is not "
        "shown, or of each other, refer to it",
        f"drop these foreign keys, and then: {statement}",
    )
