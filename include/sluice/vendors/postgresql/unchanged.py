"""Whether the catalog changed since watched tables were compared with it, which need not be done again else."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice.vendors.postgresql.session import Connection, composed


class Unchanged:
    """What the catalog was like at the last comparison that found nothing; one for each kind of comparison."""

    def __init__(self) -> None:
        self._compared: str | None = None
        self._seen: str | None = None

    def look(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
        """Look at it, before a comparison; whether that would find nothing again."""
        (self._seen,) = connection.execute(composed("publish/stamp", **parts)).fetchone() or (None,)
        return self._seen is not None and self._seen == self._compared

    def is_fine(self) -> None:
        """A comparison that was begun after the last look found nothing."""
        self._compared = self._seen
