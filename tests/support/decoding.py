"""A writer of what `mppdb_decoding` sends, made from its document: the same changes in each of its formats.

Decoding is compared with this, and this with nothing of the product: what it knows of literals and names it knows by
itself.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.vendors.gaussdb.capture.slot.binary import BinaryDecoder
from sluice.vendors.gaussdb.capture.slot.json_text import JsonDecoder
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Decoded
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder

Decoder = TextDecoder | JsonDecoder | BinaryDecoder
NUMBERS = {"smallint", "integer", "bigint", "oid", "real", "double precision", "numeric"}
BITS = {"bit", "bit varying"}


@dataclass(frozen=True)
class Cell:
    """A column of an image; `sent` is false where its value is out of line and did not change."""

    name: str
    type: str
    value: str | None
    sent: bool = True


Image = tuple[Cell, ...]


@dataclass(frozen=True)
class Change:
    """A change; an image is None where there is none."""

    schema: str
    table: str
    action: str
    new: Image | None
    old: Image | None


@dataclass(frozen=True)
class Transaction:
    """A transaction with its changes."""

    xid: int
    csn: int
    first_lsn: int
    end_lsn: int
    changes: tuple[Change, ...]
    time: str | None = None
    user: str | None = None


def quoted(name: str) -> str:
    """As the server quotes a name."""
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


def literal(cell: Cell) -> str:
    """As the server prints a value."""
    if not cell.sent:
        return "unchanged-toast-datum"
    if cell.value is None:
        return "null"
    if cell.type in NUMBERS:
        return cell.value
    if cell.type in BITS:
        return f"B'{cell.value}'"
    if cell.type == "boolean":
        return {"t": "true", "f": "false"}[cell.value]
    return "'" + cell.value.replace("'", "''") + "'"


def _line(image: Image | None) -> str:
    if image is None:
        return " (no-tuple-data)"
    return "".join(f" {quoted(cell.name)}[{cell.type}]:{literal(cell)}" for cell in image)


def text(change: Change, dotted: bool) -> bytes:
    """A change in format `t`, as serial decoding words the head of it, or as parallel decoding does."""
    name = f"{quoted(change.schema)}.{quoted(change.table)}:" if dotted else f"{change.schema} {change.table}"
    if change.action == "DELETE":
        body = _line(change.old)
    else:
        body = f" old-key:{_line(change.old)} new-tuple:" if change.old is not None else ""
        body += _line(change.new)
    return f"table {name} {change.action}:{body}".encode()


def in_json(change: Change, **spaces: Any) -> bytes:
    """A change in format `j`."""
    new, old = change.new or (), change.old or ()
    return json.dumps(
        {
            "table_name": f"{quoted(change.schema)}.{quoted(change.table)}",
            "op_type": change.action,
            "columns_name": [quoted(cell.name) for cell in new],
            "columns_type": [cell.type for cell in new],
            "columns_val": [literal(cell) for cell in new],
            "old_keys_name": [quoted(cell.name) for cell in old],
            "old_keys_type": [cell.type for cell in old],
            "old_keys_val": [literal(cell) for cell in old],
        },
        **spaces,
    ).encode()


def _counted(kind: str, raw: bytes) -> bytes:
    return struct.pack(kind, len(raw)) + raw


def in_binary(change: Change) -> bytes:
    """A change in format `b`, which has no word for a value that is not sent."""
    body = change.action[:1].encode() + _counted(">H", change.schema.encode()) + _counted(">H", change.table.encode())
    for letter, image in ((b"N", change.new), (b"O", change.old)):
        if image is None:
            continue
        body += letter + struct.pack(">H", len(image))
        for cell in image:
            body += _counted(">H", quoted(cell.name).encode()) + struct.pack(">I", 1000 + len(cell.type))
            body += b"\xff" * 4 if cell.value is None else _counted(">I", cell.value.encode())
    return body


def lsn(place: int) -> str:
    """As the server prints a place in its log."""
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


def statements(format: str, transactions: Iterable[Transaction], dotted: bool = False) -> list[tuple[bytes, int]]:
    """All statements of a stream, each with its LSN."""
    found: list[tuple[bytes, int]] = []
    for one in transactions:
        if format == "b":
            begin = b"B" + struct.pack(">QQ", one.csn, one.first_lsn)
            begin += b"T" + _counted(">I", one.time.encode()) if one.time else b""
            begin += b"N" + _counted(">I", one.user.encode()) if one.user else b""
            commit = b"CX" + struct.pack(">Q", one.xid)
            commit += b"T" + _counted(">I", one.time.encode()) if one.time else b""
        else:
            begin = f"BEGIN CSN: {one.csn} first_lsn: {lsn(one.first_lsn)}".encode()
            begin += f" commit_time: {one.time}".encode() if one.time else b""
            begin += f" username: {one.user}".encode() if one.user else b""
            commit = f"COMMIT XID: {one.xid}".encode() + (f" (at {one.time})".encode() if one.time else b"")
        found.append((begin, one.first_lsn))
        for number, change in enumerate(one.changes):
            made = text(change, dotted) if format == "t" else {"j": in_json, "b": in_binary}[format](change)
            found.append((made, one.first_lsn + 1 + number))
        found.append((commit, one.end_lsn))
    return found


def messages(format: str, sent: Sequence[tuple[bytes, int]], batched: bool, most: int = 1 << 20) -> list[bytes]:
    """Messages of these statements: one a message, or as many as fill a batch."""
    if format == "b" and not batched:
        return [struct.pack(">IQ", len(raw) + 8, place) + raw + b"F" for raw, place in sent]
    if not batched:
        return [raw for raw, _ in sent]
    found: list[bytes] = []
    batch: list[bytes] = []
    for number, (raw, place) in enumerate(sent, 1):
        batch.append(struct.pack(">IQ", len(raw) + 8, place) + raw)
        if sum(map(len, batch)) >= most or number == len(sent):
            found.append(b"P".join(batch) + b"F" if format == "b" else b"".join(batch) + bytes(4))
            batch = []
    return found


def decoder(format: str, batched: bool) -> Decoder:
    """The product's decoder of such messages."""
    if format == "b":
        return BinaryDecoder()
    return (TextDecoder if format == "t" else JsonDecoder)(batched=batched)


def decoded(format: str, batched: bool, given: Iterable[bytes]) -> Decoded:
    """All that the product makes of messages."""
    reader = decoder(format, batched)
    for message in given:
        reader.feed(message)
    reader.records.expect_whole()
    found = reader.taken()
    found.changes.validate(full=True)
    return found


def understood(found: Decoded) -> list[Transaction]:
    """What was decoded, as a writer is given it; times and users of BEGIN alone, and no names of types for OIDs."""
    rows = found.changes.to_pylist()
    transactions: list[Transaction] = []
    begin: Begin | None = None
    for mark in found.marks:
        if isinstance(mark, Begin):
            begin = mark
        elif isinstance(mark, Commit):
            assert begin is not None
            changes = tuple(_change(found, row) for row in rows[begin.at : mark.at])
            transactions.append(
                Transaction(
                    mark.xid or begin.xid or 0,
                    begin.csn or mark.csn or 0,
                    begin.lsn or 0,
                    mark.lsn or 0,
                    changes,
                    begin.time,
                    begin.user,
                )
            )
    return transactions


def _change(found: Decoded, row: dict[str, Any]) -> Change:
    form = found.forms[row["form"]]
    assert row["action"] == form.action.value
    images = [
        None
        if fields is None
        else tuple(Cell(field.name, str(field.type), value) for field, value in zip(fields, row[side], strict=True))
        for side, fields in (("new", form.new), ("old", form.old))
    ]
    if form.unchanged:
        unchanged = tuple(Cell(field.name, str(field.type), None, False) for field in form.unchanged)
        images[0] = (*(images[0] or ()), *unchanged)
    action = {"I": "INSERT", "U": "UPDATE", "D": "DELETE", "T": "TRUNCATE"}[form.action.value]
    return Change(form.table.schema, form.table.table, action, *images)
