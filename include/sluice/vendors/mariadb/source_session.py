"""The one session of a source that its ports share, and the names of what is made there."""

from __future__ import annotations

from sluice.connections import ConnectionInfo
from sluice.model.names import Resources, home_of
from sluice.vendors.mariadb.session import Connection, connect_to_master, expect_kept


def resources(schema: str | None, prefix: str) -> Resources:
    """The DbResources of a schema, which is a database here, and a prefix."""
    folded = prefix.lower()
    return Resources(schema or home_of(folded), folded, is_home=schema is None)


class SourceSession:
    """A session that is opened when it is needed, and anew once it was lost."""

    def __init__(self, info: ConnectionInfo, schema: str | None, prefix: str) -> None:
        self.info = info
        self.resources = resources(schema, prefix)
        self._session: Connection | None = None

    def open(self) -> Connection:
        """The session."""
        if self._session is None or not self._session.open:
            self._session = connect_to_master(self.info, "source")
            expect_kept(self._session, "`schema` of the source", self.resources.schema)
        return self._session

    def close(self) -> None:
        """End it."""
        if self._session is not None and self._session.open:
            self._session.close()
        self._session = None
