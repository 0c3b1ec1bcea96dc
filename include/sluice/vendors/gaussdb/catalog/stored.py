"""In which files the rows of tables are, and whether DDL has written them anew unseen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import sql

from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection


@dataclass(frozen=True)
class Stored:
    """How a table is stored.

    Attributes:
        file: the number of its file.
        columns: the transactions that wrote its columns into the catalog.
        trigger: the one that wrote our trigger of it there; empty if there is none.
    """

    file: str
    columns: str
    trigger: str

    def is_rewritten(self, recorded: Stored | None) -> bool:
        """Whether rows may have changed that the log does not tell of, since it was recorded.

        TRUNCATE, of which our trigger tells, VACUUM FULL and CLUSTER put a table into another file, and leave its
        columns and our trigger in the catalog alone. ALTER TYPE writes the columns there, and so does DISABLE our
        trigger.
        """
        if recorded is None or self.file == recorded.file:
            return False
        return (self.columns, self.trigger) != (recorded.columns, recorded.trigger)

    def to_json(self) -> dict[str, str]:
        """As the source keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Stored:
        """What `to_json` gave."""
        return cls(**plain)


def stored(
    connection: Connection, parts: Mapping[str, sql.Composable], relations: Collection[int]
) -> dict[int, Stored]:
    """How those of these tables that are there are stored."""
    asked = composed("catalog/stored", trigger=parts["trigger_name"])
    rows = connection.execute(asked, {"relations": list(relations)})
    return {relation: Stored(file, columns, trigger) for relation, file, columns, trigger in rows}
