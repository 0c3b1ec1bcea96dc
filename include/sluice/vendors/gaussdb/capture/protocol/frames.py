"""What travels within a replication stream, in both directions.

Source: PostgreSQL manual, "Streaming Replication Protocol". All numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error

from sluice.vendors.gaussdb.capture.slot.malformed import malformed

# Where the data begin, how far the server is, its clock; how far it is, its clock, whether it wants an answer.
_DATA, _ALIVE = Struct(">cQQq"), Struct(">cQQB")
# Written, flushed and applied; the clock; whether an answer is wanted.
_STATUS = Struct(">cQQQqB")
# Clocks count microseconds from 2000.
_EPOCH_S = 946_684_800


@dataclass(frozen=True)
class Data:
    """A message of the plugin, which stands at `lsn`."""

    lsn: int
    message: bytes


@dataclass(frozen=True)
class Alive:
    """A sign of life: all that stands before `lsn` was sent."""

    lsn: int
    wants_answer: bool


def frame(data: bytes) -> Data | Alive:
    """A frame of the server. Raises SluiceError SLC-420 for anything else."""
    try:
        if data.startswith(b"w"):
            _, lsn, _, _ = _DATA.unpack_from(data)
            return Data(lsn, data[_DATA.size :])
        if data.startswith(b"k"):
            _, lsn, _, wants = _ALIVE.unpack(data)
            return Alive(lsn, bool(wants))
    except error:
        raise malformed("of the protocol", len(data), f"a frame of the kind {data[:1]!r} has another length") from None
    raise malformed("of the protocol", 0, f"no frame begins with {data[:1]!r}")


def status(flushed: int, clock_s: float, *, wants_answer: bool = False) -> bytes:
    """A frame of ours: all that stands before `flushed` is ours for good."""
    clock = int((clock_s - _EPOCH_S) * 1_000_000)
    return _STATUS.pack(b"r", flushed, flushed, flushed, clock, wants_answer)
