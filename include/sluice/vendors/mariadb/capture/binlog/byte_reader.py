"""Reads the bytes of an event of the log, one field after the other."""

from __future__ import annotations


class Malformed(ValueError):
    """Bytes are no event of the log. The text says what is wrong."""


class Reader:
    """Reads the fields of an event."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if not 0 <= size <= self.left:
            raise Malformed(f"an event is cut off at offset {self._at}")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def packed(self) -> int:
        """A number whose first byte says how long it is."""
        first = self.number(1)
        if first < 251:
            return first
        if first not in (252, 253, 254):
            raise Malformed(f"a number is missing at offset {self._at}")
        return self.number({252: 2, 253: 3, 254: 8}[first])

    def rest(self) -> memoryview:
        return memoryview(self._data)[self._at :]
