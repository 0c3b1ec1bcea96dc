"""BEGIN, COMMIT and logical messages as lines of text, in formats `t` and `j`: serial and parallel decoding word them
differently, and so do versions.
"""

from __future__ import annotations

import re

from sluice.vendors.gaussdb.capture.slot.lsn import number
from sluice.vendors.gaussdb.capture.slot.malformed import excerpt, malformed
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Message, Records

_LSN = "[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}"
_NUMBER = "[0-9]{1,20}"
# As the server prints it: digits first, blanks within.
_TIME = "[-+0-9A-Za-z:./]+(?: [-+0-9A-Za-z:./]+){0,6}?"
_BEGIN = re.compile(
    rf"BEGIN(?: (?P<xid>{_NUMBER}))?(?: CSN: (?P<csn>{_NUMBER}))?(?: (?:first|commit)_lsn: (?P<lsn>{_LSN}))?"
    rf"(?: xid: (?P<later_xid>{_NUMBER}))?(?: commit_time: (?P<time>{_TIME}))?(?: origin_id: (?P<origin>{_NUMBER}))?"
    rf"(?: user(?:_?name)?: (?P<user>.+))?",
    re.DOTALL,
)
_COMMIT = re.compile(
    rf"(?:COMMIT|commit)(?:(?: [Xx][Ii][Dd]:)? (?P<xid>{_NUMBER}))?"
    rf"(?: \(at (?P<at>{_TIME})\)| commit_time: (?P<time>{_TIME}))?(?: CSN:? (?P<csn>{_NUMBER}))?"
)
_MESSAGE = re.compile(rb"message: transactional: ([01]) prefix: ")
_SIZE = re.compile(rb", sz: ([0-9]{1,10}) content:")
# DDL as a text, and what it is made of: openGauss prints it for every slot once a publication has `ddl`, in whatever
# database. What becomes of watched tables is noticed otherwise.
_DDL = re.compile(rb"(?:message: )?prefix:? |decode to ?: ")
_LARGEST = (1 << 64) - 1


def boundary(format: str, text: str, lsn: int | None, offset: int, records: Records) -> bool:
    """Take a line that begins or ends a transaction; whether it is one.

    Args:
        lsn: what the envelope of the line says.
        offset: of the line in its message.

    Raises:
        SluiceError: SLC-420, the line begins like one and goes on otherwise; it comes at a wrong place.
    """
    if text.startswith("BEGIN"):
        if not (found := _BEGIN.fullmatch(text)):
            raise malformed(format, offset + 5, f"this is no BEGIN: {excerpt(text)}")
        begin = Begin(
            len(records),
            _number(format, found["xid"] or found["later_xid"], offset),
            _number(format, found["csn"], offset),
            number(found["lsn"]) if found["lsn"] else lsn,
            found["time"],
            found["user"],
            _number(format, found["origin"], offset),
        )
        records.begin(begin)
    elif text.startswith(("COMMIT", "commit")):
        if not (found := _COMMIT.fullmatch(text)):
            raise malformed(format, offset + 6, f"this is no COMMIT: {excerpt(text)}")
        xid, csn = _number(format, found["xid"], offset), _number(format, found["csn"], offset)
        records.commit(Commit(len(records), xid, csn, lsn, found["at"] or found["time"]))
    else:
        return False
    return True


def message(format: str, raw: bytes, offset: int, records: Records) -> bool:
    """Take a line that is a message, which anybody may write, of any bytes, under any prefix; whether it is one.

    A message about DDL is passed over.

    Raises:
        SluiceError: SLC-420, the line begins like one and goes on otherwise; it comes at a wrong place.
    """
    if _DDL.match(raw):
        return True
    if not raw.startswith(b"message: "):
        return False
    if head := _MESSAGE.match(raw):
        # A prefix may have these words, too. No two places fit the length, but where somebody means them to.
        for size in _SIZE.finditer(raw, head.end()):
            if int(size[1]) == len(raw) - size.end():
                prefix, content = (
                    part.decode(errors="backslashreplace")
                    for part in (raw[head.end() : size.start()], raw[size.end() :])
                )
                records.message(Message(len(records), head[1] == b"1", prefix, content))
                return True
    raise malformed(format, offset + 9, f"this is no message of that length: {raw[:40]!r}")


def _number(format: str, digits: str | None, offset: int) -> int | None:
    if digits is None:
        return None
    if (parsed := int(digits)) > _LARGEST:
        raise malformed(format, offset, f"{digits} has more than 64 bits")
    return parsed
