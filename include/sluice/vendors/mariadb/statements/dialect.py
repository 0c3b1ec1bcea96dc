"""A portable statement in the words of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.model.names import TableName
from sluice.vendors.mariadb.master_types import WITHOUT_ZEROS, MasterColumn
from sluice.vendors.mariadb.session import qualified, quoted
from sluice.vendors.portable.dialect import Dialect
from sluice.vendors.portable.statement import Shown


class MariaDialect(Dialect):
    """See there. Texts compare by the collations of Sluice's columns, in which every byte counts."""

    def quoted(self, name: str) -> str:
        """See `Dialect`."""
        return quoted(name)

    def qualified(self, name: TableName) -> str:
        """See `Dialect`."""
        return qualified(name)

    def text(self, text: str) -> str:
        """See `Dialect`. `sql_mode` is pinned: a backslash escapes."""
        escaped = text.replace("\\", "\\\\").replace("'", "''")
        return f"'{escaped}'"

    def truth(self, *, holds: bool) -> str:
        """See `Dialect`."""
        return "1" if holds else "0"

    def day(self, text: str) -> str:
        """See `Dialect`."""
        return f"DATE'{text}'"

    def moment(self, text: str, *, has_zone: bool) -> str:
        """See `Dialect`. A time with a zone is stored as that of UTC."""
        return f"TIMESTAMP'{text}'"


class MasterDialect(MariaDialect):
    """The same on a master, whose columns are as somebody made them.

    Args:
        columns: those of the table.
    """

    def __init__(self, columns: Mapping[str, MasterColumn]) -> None:
        self._columns = columns

    def column(self, name: str) -> str:
        """See `Dialect`. Every byte of a text counts, whatever the collation of its column."""
        if (self._columns[name].type or "").startswith(("character varying", "text")):
            return f"(CONVERT({quoted(name)} USING utf8mb4) COLLATE utf8mb4_nopad_bin)"
        return quoted(name)

    def shown(self, one: Shown) -> str:
        """See `Dialect`. Values come as in an initial update."""
        if one.name is None or one.function == "COUNT":
            return super().shown(one)
        known = self._columns[one.name.column]
        if not one.function:
            return known.selected
        inner = WITHOUT_ZEROS.format(quoted(known.name)) if known.is_filled_up else quoted(known.name)
        return f"{one.function}({inner})"
