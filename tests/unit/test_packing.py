"""How pieces stand in files of initial data: every byte comes back, and what is encrypted is nobody else's."""

from __future__ import annotations

import base64
import os
import tracemalloc
from io import BytesIO

import pytest

from sluice.errors import SluiceError
from sluice.initial_update.files.encoding import BUFFER_BYTES, Packing, message
from sluice.messages.xml_reader import parse
from sluice.model.names import TableName
from sluice.storage.files import HashingFile

PIECE = bytes(range(256)) * 50 + b"]]>&\r\n"
SAID = message(TableName("public", "t"), 7, 2, "postgresql-binary")


@pytest.fixture
def key(tmp_path):
    """Makes files with keys."""

    def new(name: str, content: bytes | None = None) -> str:
        file = tmp_path / name
        file.write_bytes(base64.b64encode(os.urandom(32)) + b"\n" if content is None else content)
        file.chmod(0o600)
        return str(file)

    return new


def packed(packing: Packing, name: str = "a") -> bytes:
    file = BytesIO()
    sink = packing.sink(HashingFile(file), name, SAID)
    for begin in range(0, len(PIECE), 1000):
        sink.write(memoryview(PIECE)[begin : begin + 1000])
    sink.close()
    return file.getvalue()


def unpacked(packing: Packing, content: bytes, name: str = "a") -> bytes:
    return b"".join(packing.pieces(BytesIO(content), name))


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("form", ["zst", "xml"])
def test_every_byte_comes_back(key, form, encrypted):
    packing = Packing(form, key("k") if encrypted else None)
    content = packed(packing)
    assert unpacked(packing, content) == PIECE
    assert (b"<command>DUMP</command>" in content) == (form == "xml" and not encrypted)


def test_a_message_says_what_is_in_it():
    found = parse(packed(Packing("xml"))).description
    said = {"schema": "public", "tableName": "t", "piece": "2", "format": "postgresql-binary"}
    assert (found.command, found.ident, found.attributes) == ("DUMP", "7", said)


def test_only_its_key_opens_a_file_under_its_name_and_unaltered(key):
    ours = Packing(key_file=key("ours"))
    content = packed(ours)
    flipped = bytearray(content)
    flipped[-20] ^= 1
    for packing, given, name in (
        (Packing(key_file=key("theirs")), content, "a"),
        (ours, content, "b"),
        (ours, bytes(flipped), "a"),
        (ours, content[:25], "a"),
        (ours, packed(Packing()), "a"),
    ):
        with pytest.raises(SluiceError, match=r"SLC-192"):
            unpacked(packing, given, name)
    with pytest.raises(SluiceError, match=r"SLC-192: a cannot be opened: it is encrypted, and there is no key_file"):
        Packing().decrypt(content, "a")


@pytest.mark.parametrize("content", [b"", b"short", b"*" * 44, base64.b64encode(b"16 bytes of a key")])
def test_what_is_no_key_is_refused(key, content):
    with pytest.raises(SluiceError, match=r"SLC-243: .*/k is no key for initial data"):
        packed(Packing(key_file=key("k", content)))
    with pytest.raises(SluiceError, match=r"SLC-243: .*is no key"):
        packed(Packing(key_file="/nowhere/k"))


def test_a_damaged_file_leaves_nothing_in_memory():
    damaged = b"no zstd at all"

    def fail() -> None:
        with pytest.raises(OSError, match="ZSTD"):
            unpacked(Packing(), damaged)

    fail()
    tracemalloc.start()
    for _ in range(3):
        fail()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < BUFFER_BYTES
