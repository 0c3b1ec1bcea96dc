"""The session by which a GaussDB is read and its changes are captured, opened when it is needed first."""

from __future__ import annotations

from sluice.connections import ConnectionInfo
from sluice.vendors.gaussdb.capture import registry
from sluice.vendors.gaussdb.session import connect
from sluice.vendors.postgresql.capture.install import resources
from sluice.vendors.postgresql.session import Connection


class SourceSession:
    """The session of one source.

    Attributes:
        resources: the DbResources.
        parts: of statements about them.
    """

    def __init__(self, info: ConnectionInfo, schema: str | None, prefix: str) -> None:
        self.info = info
        self.resources = resources(schema, prefix)
        self.parts = registry.parts_of(self.resources)
        self._session: Connection | None = None

    def open(self) -> Connection:
        """The session."""
        if self._session is None or self._session.closed:
            self._session = connect(self.info, "publish")
        return self._session

    def is_installed(self) -> bool:
        """Whether the DbResources are there."""
        return registry.is_there(self.open(), self.parts)

    def close(self) -> None:
        """End it."""
        if self._session is not None:
            self._session.close()
        self._session = None
