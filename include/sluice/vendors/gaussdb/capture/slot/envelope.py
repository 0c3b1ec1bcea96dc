"""Messages of the formats `t` and `j`: one statement, or a batch of them, or a heartbeat.

In a batch each statement follows its length and its LSN, in big-endian; the length counts the LSN. A batch ends with a
length of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, calcsize

from sluice.vendors.gaussdb.capture.slot.malformed import malformed

_HEAD = Struct(">IQ")
_LENGTH = Struct(">I")
# The letter, two places of the log and a time.
_BEAT_SIZE = calcsize(">cQQq")
# As a length the letter would be one of 1.7 GB, so a batch never begins with it.
_LETTER = b"h"
# The document says that the zero which ends a batch ends a heartbeat, too, and puts it between quotes.
_ENDS = (bytes(4), b"0")


def is_heartbeat(format: str, message: bytes, ends: tuple[bytes, ...]) -> bool:
    """Whether a message is a heartbeat, with one of these ends; nobody needs what it says."""
    if not message.startswith(_LETTER):
        return False
    if len(message) < _BEAT_SIZE:
        raise malformed(format, len(message), "the heartbeat ends too early")
    if message[_BEAT_SIZE:] not in ends:
        raise malformed(format, _BEAT_SIZE, "the heartbeat does not end here")
    return True


def statements(format: str, message: bytes, lsn: int | None, batched: bool) -> Iterator[tuple[bytes, int | None, int]]:
    """The statements of a message, each with its LSN and its offset; a heartbeat has none.

    Args:
        lsn: where a message of one statement stands in the log, if that is known.

    Raises:
        SluiceError: SLC-420, a length lies, or the message is cut.
    """
    if is_heartbeat(format, message, _ENDS if batched else (b"",)):
        return
    if not batched:
        yield message, lsn, 0
        return
    place, end = 0, len(message)
    while True:
        if place + _LENGTH.size > end:
            raise malformed(format, place, "the batch ends without the zero that ends it")
        (length,) = _LENGTH.unpack_from(message, place)
        if length == 0:
            break
        after = place + _LENGTH.size + length
        if length <= 8 or after > end:
            raise malformed(format, place, f"a length of {length:,} where {end - place - _LENGTH.size:,} bytes follow")
        _, own = _HEAD.unpack_from(message, place)
        yield message[place + _HEAD.size : after], own, place + _HEAD.size
        place = after
    if place + _LENGTH.size != end:
        raise malformed(format, place + _LENGTH.size, "bytes follow the zero that ends the batch")
