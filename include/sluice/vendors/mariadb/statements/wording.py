"""A portable statement in the words of MariaDB and MySQL."""

from __future__ import annotations

from sluice.model.names import TableName
from sluice.vendors.mariadb.session import qualified, quoted
from sluice.vendors.portable.wording import Wording


class MariaWording(Wording):
    """See there. Texts compare by the collations of Sluice's columns, in which every byte counts."""

    def quoted(self, name: str) -> str:
        """See `Wording`."""
        return quoted(name)

    def qualified(self, name: TableName) -> str:
        """See `Wording`."""
        return qualified(name)

    def text(self, text: str) -> str:
        """See `Wording`. `sql_mode` is pinned: a backslash escapes."""
        escaped = text.replace("\\", "\\\\").replace("'", "''")
        return f"'{escaped}'"

    def truth(self, *, holds: bool) -> str:
        """See `Wording`."""
        return "1" if holds else "0"

    def day(self, text: str) -> str:
        """See `Wording`."""
        return f"DATE'{text}'"

    def moment(self, text: str, *, has_zone: bool) -> str:
        """See `Wording`. A time with a zone is stored as that of UTC."""
        return f"TIMESTAMP'{text}'"
