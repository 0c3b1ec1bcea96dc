"""Whether the catalog changed since watched tables were compared with it, which need not be done again else."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.errors import AGAIN, AlteredMeanwhile, SluiceError, UnreadableTable
from sluice.model.names import TableName
from sluice.vendors.postgresql.session import Connection, composed

# By the kind of comparison, the database and the resources in it: a session and a step are soon over, and to compare a
# thousand tables takes half a second of the master's.
_compared: dict[tuple[str, ...], str | None] = {}


class CatalogStamp:
    """The state of the catalog at the last comparison of a kind that found nothing, in this process.

    Args:
        kind: of the comparison.
        before: a comparison that comes before each of this one, and records what it finds; if it is made at all.
    """

    def __init__(self, kind: str, before: CatalogStamp | None = None) -> None:
        self._kind = kind
        self._before = before
        self._of: tuple[str, ...] = ()
        self._seen: str | None = None

    def look(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
        """Look at it, before a comparison; whether that would find nothing again."""
        info = connection.info
        at = (info.host, str(info.port), info.dbname, parts["tables"].as_string(connection))
        self._of = (self._kind, *at)
        (self._seen,) = connection.execute(composed("capture/ddl/stamp", **parts)).fetchone() or (None,)
        return self._seen is not None and self._seen == _compared.get(self._of)

    def is_fine(self) -> None:
        """A comparison that was begun after the last look found nothing."""
        _compared[self._of] = self._seen

    def find_unrecorded(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> list[TableName]:
        """The tables whose columns differ from the record for good.

        Raises:
            AlteredMeanwhile: SLC-095, something was altered at this moment, or since the comparison before this one.
        """
        if self.look(connection, parts):
            return []
        seen, mismatch = self._seen, composed("capture/ddl/layout_mismatch", **parts)
        # Partitions that went are sent by the next look for changes.
        names = [TableName(*name) for *name, went in connection.execute(mismatch) if not went]
        self.look(connection, parts)
        if names and (self._seen != seen or self._is_older()):
            raise _changed_meanwhile(names[0])
        return names

    def unrecorded(self, name: TableName, *, went: bool) -> SluiceError:
        """The error for a table whose columns differ from the record: for good, or altered since the last comparison.

        Args:
            went: only partitions of it went, which the next look for changes fixes.
        """
        if went or self._is_older():
            return _changed_meanwhile(name)
        return UnreadableTable(
            43,
            f"the columns of {name} changed and the change was not recorded",
            "the publisher leaves this table out: run initial_update of it for the slaves. If this comes again, run "
            "the bootstrap DAG before that",
        )

    def _is_older(self) -> bool:
        """Whether the comparison before this one was made of another state."""
        return self._before is not None and self._before._seen not in (None, self._seen)


def _changed_meanwhile(name: TableName) -> AlteredMeanwhile:
    return AlteredMeanwhile(95, f"the columns or partitions of {name} changed since somebody looked for changes", AGAIN)
