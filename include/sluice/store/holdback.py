"""The transactions that wait for a slave, discarded: the log is kept for it from its end on."""

from __future__ import annotations

from sqlalchemy import Connection

from sluice import shell
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import for_pair, hold, question, replication, stuck


def discard(store: Store, pair: Pair, end: Position, detail: str, who: str | None = None) -> None:
    """Forget what waits for a slave up to the end of the log, which makes it INCONSISTENT.

    The slave's own position stays: it says what the slave has (R3). What it stood in front of, or asked about, is gone.

    Raises:
        SluiceError: SLC-020, its status does not allow it.
    """

    def forget(connection: Connection) -> None:
        # It lacks changes of unknown tables, so nothing may go on with an update that was for some of them.
        values = {"segment": end.segment, "ordinal": end.ordinal, "update_id": None}
        connection.execute(replication.update().where(for_pair(replication, pair)).values(values))
        for table in (stuck, question):
            connection.execute(table.delete().where(for_pair(table, pair), table.c.ordinal <= end.ordinal))
        failed = hold.update().where(for_pair(hold, pair), hold.c.kind == Hold.EXCEPTION)
        anew = shell.update(pair.source, [pair.slave])
        connection.execute(failed.values(reason=f"what it failed on was discarded\nHINT: {anew}"))

    replications.record(store, pair, ReplicationEvent.CLEAR, detail, who=who, also=forget)
