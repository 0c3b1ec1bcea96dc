"""The identity of a chunk for later dumps: which rows of which snapshot it has (R5)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.protocol.read import Chunk


@dataclass(frozen=True)
class ChunkId:
    """The identity of a chunk on a slave or in a directory.

    Attributes:
        shape: the hash of the table, which changes when the same blocks would hold other rows.
        snapshot, position: what was visible when it was read, and where the log ended before.
        update: the initial update that it was read for.
    """

    relation: TableName
    low: int
    high: int | None
    shape: str
    snapshot: Snapshot
    position: Position
    update: int

    def to_json(self) -> str:
        """As a slave keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ChunkId:
        """The value that `to_json` wrote."""
        plain = json.loads(text)
        types = {"relation": TableName, "snapshot": Snapshot, "position": Position}
        return cls(**{name: types[name](**value) if name in types else value for name, value in plain.items()})

    @property
    def start(self) -> tuple[TableName, int]:
        """The start of its rows, which is unique within a load."""
        return self.relation, self.low

    def contains(self, chunk: Chunk) -> bool:
        """Whether it has every row of a chunk."""
        ends = self.high is None or (chunk.high is not None and chunk.high <= self.high)
        return self.relation == chunk.leaf.relation and self.low <= chunk.low and ends
