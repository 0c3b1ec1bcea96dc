"""A place of a master's binary log as a snapshot: it shows the transactions that are in front of it (R5).

A transaction bears the number of the place that it begins at, so that a place within the log tells by one comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.model.position import Snapshot
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace


@dataclass(frozen=True)
class LogVisibility:
    """See `sluice.vendors.protocol.visibility.Visibility`."""

    place: LogPlace

    @property
    def age(self) -> tuple[int, ...]:
        """See `Visibility`."""
        return (self.place.number,)

    @property
    def since(self) -> str:
        """See `Visibility`."""
        return str(self.place.number)

    def sees(self, transaction: str) -> bool:
        """See `Visibility`."""
        return int(transaction) < self.place.number

    def are_newer(self, transactions: pa.ChunkedArray) -> pa.ChunkedArray:
        """See `Visibility`."""
        return pc.greater_equal(transactions.cast(pa.int64()), self.place.number)


def read_snapshot(snapshot: Snapshot) -> LogVisibility:
    """The transactions that a snapshot shows. Raises ValueError if its text is no place of a log."""
    return LogVisibility(LogPlace.parsed(snapshot.text))
