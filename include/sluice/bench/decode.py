"""`bench decode`: what a GaussDB sends of its log, decoded into columns, by each format; no server is needed."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator

from sluice.bench.report import BenchReport, alternate
from sluice.runtime.terminal import Progress
from sluice.vendors.gaussdb.capture.slot.binary import BinaryDecoder
from sluice.vendors.gaussdb.capture.slot.json_text import JsonDecoder
from sluice.vendors.gaussdb.capture.slot.records import Decoded
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder

# As the document measures it: 10 to 100 columns, rows of 0.1 to 1 KB, inserts, fewer than 4,096 in a transaction, and
# batches of 1 MB.
_NAMES = tuple(f"column_{number}" for number in range(20))
_TYPES = ("bigint", "numeric", "character varying", "timestamp without time zone", "text")
_ROWS_A_TRANSACTION = 4_000
_BATCH_BYTES = 1 << 20

Row = list[str | None]
Decoder = TextDecoder | JsonDecoder | BinaryDecoder


def measure(scale: float, progress: Progress) -> BenchReport:
    """40,000 inserts of 20 columns; the time is of the processor, since one core is measured."""
    wanted = max(100, round(40_000 * scale))
    decoders: dict[str, Callable[[], Decoder]] = {
        "t": lambda: TextDecoder(batched=True),
        "j": lambda: JsonDecoder(batched=True),
        "b": BinaryDecoder,
    }
    with progress.step(f"writing {wanted:,} inserts in each format"):
        rows = [_row(number) for number in range(wanted)]
        sent = {name: list(_batches(name, rows)) for name in decoders}
    decoded: dict[str, list[Decoded]] = {}

    def rate(name: str) -> float:
        decoder, batches = decoders[name](), []
        began = time.process_time()
        for message in sent[name]:
            decoder.feed(message)
            batches.append(decoder.taken())
        took = time.process_time() - began
        decoded[name] = batches
        return sum(map(len, sent[name])) / took / 1_000_000

    def side(name: str) -> Callable[[], float]:
        return lambda: rate(name)

    figures = alternate(progress, {f"{name}_mb_per_s": side(name) for name in decoders})
    images: dict[str, list[Row]] = {}
    for name, batches in decoded.items():
        images[name] = [row for batch in batches for row in batch.changes["new"].to_pylist()]
    equal = all(images[name] == rows for name in decoders)
    bytes_a_row = {f"{name}_bytes_a_row": sum(map(len, sent[name])) // wanted for name in decoders}
    size = {"changes": wanted, "columns": len(_NAMES), **bytes_a_row}
    return BenchReport("decode", size, {**figures, "equal": equal})


def _row(number: int) -> Row:
    made: Row = []
    for place in range(len(_NAMES)):
        seed = number * 7 + place
        made.append(
            None
            if seed % 13 == 0
            else (
                str(seed * 1_000_003),
                f"{seed}.{place:02}",
                f"it's the name of {seed}",
                f"2024-08-{1 + seed % 28:02} 12:{seed % 60:02}:00.{seed % 1_000_000:06}",
                f"some words about {seed} " * 2,
            )[place % 5]
        )
    return made


def _batches(format: str, rows: list[Row]) -> Iterator[bytes]:
    ends = (b"P", b"F") if format == "b" else (b"", bytes(4))
    batch: list[bytes] = []
    size = 0
    for statement in _statements(format, rows):
        batch.append(struct.pack(">IQ", len(statement) + 8, 1) + statement)
        size += len(batch[-1])
        if size >= _BATCH_BYTES:
            yield ends[0].join(batch) + ends[1]
            batch, size = [], 0
    if batch:
        yield ends[0].join(batch) + ends[1]


def _statements(format: str, rows: list[Row]) -> Iterator[bytes]:
    made = {"t": _text, "j": _json, "b": _binary}[format]
    for begin in range(0, len(rows), _ROWS_A_TRANSACTION):
        yield b"B" + struct.pack(">QQ", begin, 1) if format == "b" else b"BEGIN CSN: %d first_lsn: 0/1" % begin
        yield from map(made, rows[begin : begin + _ROWS_A_TRANSACTION])
        yield b"CX" + struct.pack(">Q", begin) if format == "b" else b"COMMIT XID: %d" % begin


def _literals(row: Row) -> list[str]:
    return [
        "null" if value is None else value if place % 5 < 2 else "'" + value.replace("'", "''") + "'"
        for place, value in enumerate(row)
    ]


def _text(row: Row) -> bytes:
    columns = zip(_NAMES, _literals(row), strict=True)
    return (
        "table public wide INSERT:"
        + "".join(f" {name}[{_TYPES[place % 5]}]:{value}" for place, (name, value) in enumerate(columns))
    ).encode()


def _json(row: Row) -> bytes:
    change = {
        "table_name": "public.wide",
        "op_type": "INSERT",
        "columns_name": _NAMES,
        "columns_type": _TYPES * 4,
        "columns_val": _literals(row),
        **dict.fromkeys(("old_keys_name", "old_keys_type", "old_keys_val"), ()),
    }
    return json.dumps(change, separators=(",", ":")).encode()


def _binary(row: Row) -> bytes:
    parts = [b"I\0\x06public\0\x04wideN", struct.pack(">H", len(row))]
    for place, (name, value) in enumerate(zip(_NAMES, row, strict=True)):
        parts.append(struct.pack(">H", len(name)) + name.encode() + struct.pack(">I", 1_000 + place % 5))
        parts.append(b"\xff" * 4 if value is None else struct.pack(">I", len(value)) + value.encode())
    return b"".join(parts)
