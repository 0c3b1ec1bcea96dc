"""Every place where text of others enters: how inputs are made of right samples, and the function that takes them."""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError
from support import decoded_inputs, samples
from support.fuzzing import Entrance, octets, sentences, texts, values

from sluice.changelog.schema import CHANGES, LOGGED
from sluice.changelog.segment_file import SegmentFile
from sluice.changelog.segment_files import PlainDirectory
from sluice.config import configuration
from sluice.config.mapper import Mapper
from sluice.config.models import IncomingFiles
from sluice.config.slave_table import SlaveTableSettings
from sluice.errors import SluiceError
from sluice.expressions import Fault
from sluice.expressions import parse as expression
from sluice.initial_update.files import manifest as files_manifest
from sluice.initial_update.files.encoding import Packing, message
from sluice.messages import column_literal, xml_reader
from sluice.model.key_range import KeyInterval
from sluice.model.names import Pair, TableName
from sluice.model.statement import Statement
from sluice.model.table_definition import TableChange
from sluice.model.watched import split_pattern
from sluice.storage.directory import Directory
from sluice.storage.files import HashingFile
from sluice.store.transfers import Transfer
from sluice.vendors import address
from sluice.vendors.postgresql.capture.queue import row_images
from sluice.vendors.postgresql.statements import parser
from sluice.vendors.postgresql.visibility import read_snapshot
from sluice.vendors.registry import master

MAPPER = Mapper(
    {"public": "branch"},
    {
        split_pattern("public.t"): SlaveTableSettings.model_validate({"as": "u"}),
        split_pattern("public.k*"): SlaveTableSettings.model_validate({"exclude": True}),
        split_pattern("other.u"): SlaveTableSettings.model_validate({"where": "a > 1"}),
    },
)


@cache
def _folder() -> Path:
    """One for all files of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")
    held = tempfile.TemporaryDirectory(prefix="sluice-", dir=memory if memory.is_dir() else None)
    _held.append(held)
    return Path(held.name)


_held: list[tempfile.TemporaryDirectory[str]] = []


def _read(text: str) -> None:
    file = _folder() / "replication.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    _asked(configuration.load(file))


def _configured(raw: object) -> None:
    _asked(configuration.valid(raw, Path("replication.yaml")))


def _asked(found: configuration.Config) -> None:
    """For what is made of it."""
    assert found.dags
    assert len(found.arrows()) == len(found.replications)
    for source in found.sources.values():
        assert source.watched_tables is not None


def _evaluated(text: str) -> None:
    read = expression(text)
    if read.images == {"row"}:
        read.value(samples.COLUMNS).texts(samples.ROWS)
    condition = read.condition(samples.COLUMNS)
    for rows in (samples.ROWS, samples.ROWS.slice(0, 0)):
        condition.holds(rows, new=rows, old=rows)


def _stated(text: str) -> None:
    with_names = parser.parsed(text)
    assert with_names.tables is not None
    parser.mapped(text, MAPPER, "public")


def _cut(rng: Random) -> list[bytes]:
    text = _messages(rng).encode("utf-8", "surrogatepass")
    size = rng.choice((7, 60, len(text) + 1))
    return [text[at : at + size] for at in range(0, len(text), size)]


_messages = texts(samples.MESSAGES, samples.MESSAGE_WORDS)


def _opened(manifest: Any) -> None:
    raw = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    (_folder() / files_manifest.MANIFEST).write_bytes(raw)
    awaited = Transfer(Pair("flights", "zurich"), 3, "x", "x", hashlib.sha256(raw).hexdigest(), 2)
    found = files_manifest.read_manifest(Directory(str(_folder())), awaited, IncomingFiles(), read_snapshot)
    assert len(found.plan) == len(found.chunks)
    assert read_snapshot(found.dump_snapshot).age
    assert (found.log_overlap is None) == (found.overlap is None)
    for one in found.definitions:
        master("postgresql").definition(one)


def _packed(form: str) -> bytes:
    file = BytesIO()
    sink = Packing(form).sink(HashingFile(file), "a", message(TableName("s", "t"), 1, 1, "text"))  # type: ignore[arg-type]
    sink.write(memoryview(b"PGCOPY" + bytes(range(256)) * 20))
    sink.close()
    return file.getvalue()


_PACKED = {form: _packed(form) for form in ("zst", "xml")}


def _piece(rng: Random) -> tuple[str, bytes]:
    form = rng.choice(("zst", "xml"))
    return form, octets(rng, _PACKED[form])


def _unpacked(given: tuple[str, bytes]) -> None:
    for piece in Packing(given[0]).pieces(BytesIO(given[1]), "a"):  # type: ignore[arg-type]
        assert piece is not None


def _segment(schema: pa.Schema, rows: int) -> bytes:
    file = BytesIO()
    made = {
        field.name: [[(str(n), "x")] if pa.types.is_map(field.type) else [str(n), None] if pa.types.is_list(field.type)
                     else n if pa.types.is_integer(field.type) else str(n) for n in range(rows)]
        for field in schema
    }  # fmt: skip
    with pq.ParquetWriter(file, schema, compression="zstd", write_statistics=["ordinal"]) as writer:
        writer.write_table(pa.table(made, schema=schema), row_group_size=3)
    return file.getvalue()


_SEGMENTS = tuple(
    _segment(pa.schema(fields), 7)
    for fields in (
        LOGGED,
        CHANGES,
        [field for field in LOGGED if field.name != "ordinal"],
        [pa.field("ordinal", pa.string()), *list(LOGGED)[1:]],
        [pa.field("new", pa.string()) if field.name == "new" else field for field in LOGGED],
    )
)


def _logged(raw: bytes) -> None:
    directory = _folder() / "log"
    directory.mkdir(exist_ok=True)
    (directory / "s.parquet").write_bytes(raw)
    written = SegmentFile("s", hashlib.sha256(raw).hexdigest(), len(raw))
    for batch in PlainDirectory(str(directory)).read(written, 2, LOGGED):
        assert batch.schema == LOGGED
        batch.validate(full=True)


_manifests = values(samples.MANIFESTS)


def _manifest(rng: Random) -> Any:
    value = _manifests(rng)
    return value if rng.random() < 0.9 else octets(rng, json.dumps(value).encode())


def _json_of(samples: tuple[Any, ...]) -> Any:
    made = values(samples)

    def text(rng: Random) -> str:
        found = json.dumps(made(rng))
        return found if rng.random() < 0.9 else texts((found,))(rng)

    return text


_images = texts(samples.IMAGES)


def _split(rows: list[str]) -> None:
    row_images.fields(pa.array([row.encode("utf-8", "replace").decode() for row in rows]), 4)


def _damaged(rng: Random) -> bytes:
    raw = rng.choice(_SEGMENTS)
    return octets(rng, raw) if rng.random() < 0.9 else raw


ENTRANCES = (
    Entrance("file of YAML", texts(samples.YAML, samples.YAML_WORDS), _read),
    Entrance("configuration", values(samples.CONFIGURATIONS), _configured),
    Entrance("expression", sentences(samples.EXPRESSION, "condition"), _evaluated, (SluiceError, Fault)),
    Entrance("statement", sentences(samples.STATEMENT, "statement"), _stated),
    Entrance("key range", sentences(samples.RANGE, "range"), KeyInterval.parse, (ValueError,)),
    Entrance("messages", _cut, lambda chunks: list(xml_reader.read(chunks)), (ValueError,)),
    Entrance(
        "content", texts(samples.LITERALS, ("<row>", "</row>", "type='null'")), column_literal.parse, (ValueError,)
    ),
    Entrance("row image", lambda rng: [_images(rng) for _ in range(3)], _split, (ValueError,)),
    Entrance("command", _json_of(samples.COMMANDS), TableChange.from_json, (ValueError,)),
    Entrance("issued statement", _json_of(samples.ISSUED), Statement.from_json, (ValueError,)),
    # What a master's vendor wrote is read by that vendor, with errors of its own.
    Entrance("manifest", _manifest, _opened, (SluiceError, ValidationError)),
    Entrance("piece", _piece, _unpacked, (ValueError, OSError, pa.ArrowException, SluiceError)),
    Entrance("segment", _damaged, _logged),
    Entrance("address", texts(samples.ADDRESSES), address.parsed),
    *decoded_inputs.ENTRANCES,
)
