"""The session by which a master is read and its changes are captured, one for both, opened when it is needed first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.vendors.postgresql import migrations, ownership
from sluice.vendors.postgresql.capture import install
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, connect


class SourceSession:
    """The session of one source.

    Args:
        trusted: the roles whose functions may run with our rights.
        standby: a standby on which the server's log is decoded, if it is not the master itself.

    Attributes:
        resources: the DbResources.
        parts: of statements about them.
        slot_server: where a slot is.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        schema: str | None,
        prefix: str,
        trusted: Collection[str] = (),
        standby: ConnectionInfo | None = None,
    ) -> None:
        self.info = info
        self.standby = standby
        self.trusted = trusted
        self.resources = install.resources(schema, prefix)
        self.parts = install.parts_of(self.resources)
        self._session: Connection | None = None
        self.slot_server = SlotServer(info, self.open, self.parts, standby)

    def open(self) -> Connection:
        """The session. Raises SluiceError if what captures there may not be ours."""
        if self._session is None or self._session.closed:
            session = connect(self.info, "publish", autocommit=True)
            session.prepare_threshold = 5
            try:
                ownership.refuse_strange(session, self.resources)
                session.execute("SET work_mem = '64MB'")
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def is_installed(self) -> bool:
        """Whether the DbResources are there, in the version that this code works with."""
        with translated("looking for the DbResources"):
            return migrations.version(self.open(), self.resources, self.parts) == migrations.newest()

    def known(self) -> Mapping[str, sql.Composable] | None:
        """The parts of statements about DbResources, if these are there."""
        return self.parts if self.is_installed() else None

    def close(self) -> None:
        """End it, and those where the slot is."""
        self.slot_server.close()
        if self._session is not None:
            self._session.close()
        self._session = None
