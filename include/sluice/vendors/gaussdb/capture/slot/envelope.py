"""Messages of the formats `t` and `j`: one statement, or a batch of them, or a heartbeat.

In a batch each statement follows its length and its LSN, in big-endian; the length counts the LSN. A batch ends with a
length of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from sluice.vendors.gaussdb.capture.slot.malformed import malformed
from sluice.vendors.gaussdb.capture.slot.records import Heartbeat, Records

_HEAD = Struct(">IQ")
_LENGTH = Struct(">I")
_BEAT = Struct(">cQQq")
# As a length the letter would be one of 1.7 GB, so a batch never begins with it.
_LETTER = b"h"
# The document says that the zero which ends a batch ends a heartbeat, too, and puts it between quotes.
_ENDS = (bytes(4), b"0")


def heartbeat(format: str, message: bytes, ends: tuple[bytes, ...], records: Records) -> bool:
    """Take a message that is a heartbeat, with one of these ends; whether it is one."""
    if not message.startswith(_LETTER):
        return False
    if len(message) < _BEAT.size:
        raise malformed(format, len(message), "the heartbeat ends too early")
    if message[_BEAT.size :] not in ends:
        raise malformed(format, _BEAT.size, "the heartbeat does not end here")
    _, read, flushed, time = _BEAT.unpack_from(message)
    records.heartbeat(Heartbeat(len(records), read, flushed, time))
    return True


def statements(
    format: str, message: bytes, lsn: int | None, batched: bool, records: Records
) -> Iterator[tuple[bytes, int | None, int]]:
    """The statements of a message, each with its LSN and its offset; a heartbeat is taken on the way.

    Args:
        lsn: where a message of one statement stands in the log, if that is known.

    Raises:
        SluiceError: SLC-420, a length lies, or the message is cut.
    """
    if heartbeat(format, message, _ENDS if batched else (b"",), records):
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
