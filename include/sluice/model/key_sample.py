"""The keys of a table that a comparison looks at: all of them, or a sample that is drawn anew for each comparison."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, sqrt
from secrets import randbits

# Parts of which a sample is some, for whole numbers in every database.
PARTS = 1_000_000_000
# Positive, and a `bigint`.
SEED_BITS = 63


@dataclass(frozen=True)
class KeySample:
    """The keys whose hash is below a bound. Each key has the same chance, and both sides take the same ones.

    A row counts as a key where a table has none.

    Attributes:
        parts: the share of the keys, in parts of `PARTS`.
        seed: of the hash.
    """

    parts: int = PARTS
    seed: int = 0

    @classmethod
    def draw(cls, percent: float) -> KeySample:
        """A sample of about so many percent; no other has its seed."""
        return cls(min(PARTS, max(1, ceil(percent * (PARTS // 100)))), randbits(SEED_BITS))

    @classmethod
    def of_at_least(cls, keys: int, rows: int) -> KeySample:
        """A sample that has so many keys of a table of so many rows, but for one of ten million samples."""
        # How many it has is binomial: so much more than wanted is six standard deviations (Chernoff's bound).
        parts = ceil(PARTS * (keys + 6 * sqrt(keys) + 36) / rows) if rows else PARTS
        return cls(min(PARTS, parts), randbits(SEED_BITS))

    @property
    def whole(self) -> bool:
        """Whether it has all keys."""
        return self.parts >= PARTS

    @property
    def percent(self) -> float:
        """The share of the keys."""
        return self.parts / (PARTS // 100)

    def takes(self, key: bytes) -> bool:
        """Whether a key is in it, where the rows of both sides come here as the same texts."""
        if self.whole:
            return True
        digest = blake2b(key, digest_size=8, key=self.seed.to_bytes(8, "big")).digest()
        return int.from_bytes(digest, "big") % PARTS < self.parts
