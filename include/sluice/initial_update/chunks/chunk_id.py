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
        shape: another text if it is not what the same blocks would hold now.
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
        made = {"relation": TableName, "snapshot": Snapshot, "position": Position}
        return cls(**{name: made[name](**value) if name in made else value for name, value in plain.items()})

    @property
    def begins(self) -> tuple[TableName, int]:
        """The start of its rows, which is unique within a load."""
        return self.relation, self.low

    def holds(self, chunk: Chunk) -> bool:
        """Whether every row of a chunk is in it."""
        ends = self.high is None or (chunk.high is not None and chunk.high <= self.high)
        return self.relation == chunk.leaf.relation and self.low <= chunk.low and ends
