"""The activity of other sessions on a server."""

from __future__ import annotations

from sluice import shell
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import composed, connect


def active(info: ConnectionInfo) -> int:
    """The number of other sessions that are executing a statement on the server.

    Raises:
        SluiceError: SLC-236, our role may not know that.
    """
    with translated("looking at what others do"), connect(info, "load", autocommit=True) as session:
        row = session.execute(composed("read/active")).fetchone()
    sees, found = row or (False, 0)
    if not sees:
        raise SluiceError(
            236,
            f"the role {info.login} does not see whether sessions of others are active, which `max_active` asks for",
            f"GRANT pg_read_all_stats TO the role, as `{shell.sluice('grants', 'SOURCE')}` prints it; or take "
            "`max_active` out of the configuration",
        )
    return int(found)
