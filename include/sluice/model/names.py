"""Names of tables, of DbResources, and of the pair that is replicated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class TableName:
    """A table by schema and relative name, exactly as the catalog spells them."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{_written(self.schema)}.{_written(self.table)}"


@dataclass(frozen=True, order=True)
class Pair:
    """One replication: a source and one of its slaves."""

    source: str
    slave: str

    def __str__(self) -> str:
        return f"{self.source}->{self.slave}"


@dataclass(frozen=True)
class Resources:
    """The DbResources of one prefix: an ordinary prefix folds as the vendor folds (seed: "The DbResources").

    `folded` is the prefix as the database stores it, so that ``SELECT * FROM REPL_ITEMS`` works in its shell.
    """

    schema: str
    folded: str

    def name(self, resource: str) -> str:
        """The stored name of a resource: ``items`` gives ``repl_items``."""
        return self.folded + resource


def _written(part: str) -> str:
    return f'"{part}"' if "." in part or '"' in part else part
