"""The one session of a source that its ports share, and the names of what is made there."""

from __future__ import annotations

import oracledb

from sluice.connections import ConnectionInfo
from sluice.vendors.oracle.names import parts_of, resources
from sluice.vendors.oracle.session import connect, whole_values


class SourceSession:
    """A session that is opened when it is needed, and anew once it was lost."""

    def __init__(self, info: ConnectionInfo, schema: str | None, prefix: str) -> None:
        self.info = info
        self.resources = resources(schema, prefix)
        self.parts = parts_of(self.resources)
        self._session: oracledb.Connection | None = None

    def open(self) -> oracledb.Connection:
        """The session."""
        if self._session is None or not self._session.is_healthy():
            self._session = connect(self.info, "source")
            # Where rows are read as data frames, the driver takes large objects whole by itself.
            self._session.outputtypehandler = whole_values
        return self._session

    def close(self) -> None:
        """End it, without what was not committed."""
        if self._session is not None and self._session.is_healthy():
            self._session.close()
        self._session = None
