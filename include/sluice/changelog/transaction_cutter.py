"""A stream of changes, taken in pieces that are cut only between transactions (R4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa


class Cut:
    """Record batches with a column `ordinal`, taken piece by piece.

    None of them is held while the next one is made: a single change may have hundreds of megabytes.

    Args:
        segments: the batches of each; no transaction is in two of them. Each is begun when something of it is needed.

    Attributes:
        ordinal: of the last transaction that was taken.
        rows: how many changes the last piece has.
    """

    def __init__(self, segments: Iterable[Iterable[pa.RecordBatch]]) -> None:
        self._segments = iter(segments)
        self._records: Iterator[pa.RecordBatch] = iter(())
        self._ahead: list[pa.RecordBatch] = []
        self.ordinal = self.rows = 0

    @property
    def more(self) -> bool:
        """Whether there is another piece. Do not ask while one is being taken."""
        while not self._within():
            segment = next(self._segments, None)
            if segment is None:
                return False
            self._records = iter(segment)
        return True

    def _within(self) -> bool:
        """Whether there is more of the segment that was begun."""
        while not self._ahead:
            record = next(self._records, None)
            if record is None:
                return False
            if len(record):
                self._ahead.append(record)
        return True

    def piece(self, size: int | None, most_bytes: int | None = None) -> Iterator[pa.RecordBatch]:
        """The next one, to be taken whole: up to the end of the transaction that brings it to `size` rows, or that is
        the last one of the record that brings it to `most_bytes`.
        """
        self.rows = weight = 0
        full = False
        while self._within() if full else self.more:
            record = self._ahead.pop()
            ordinals = record.column("ordinal").to_numpy()
            last = self.ordinal if full else ordinals[-1 if size is None else min(size - self.rows, len(ordinals)) - 1]
            cut = int(np.searchsorted(ordinals, last, side="right"))
            if cut < len(ordinals):
                self._ahead.append(record.slice(cut))
            if cut:
                self.ordinal = int(last)
                self.rows += cut
                taken = [record.slice(0, cut)]
                weight += taken[0].nbytes
                del record, ordinals
                yield taken.pop()
            if self._ahead:
                return
            full = (size is not None and self.rows >= size) or (most_bytes is not None and weight >= most_bytes)
