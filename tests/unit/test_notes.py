"""What a dump into files writes down while it is at work: found by whoever may go on with it, and by nobody else."""

from __future__ import annotations

import base64
import os

import pytest

from sluice.errors import FencedError
from sluice.initial_update.files.encoding import Packing
from sluice.initial_update.files.journal import DumpPlan, Journal, interrupted_dumps
from sluice.initial_update.files.manifest import StoredChunk
from sluice.model.names import TableName
from sluice.storage.directory import Directory

PLAIN = Packing()


@pytest.fixture
def root(tmp_path):
    return Directory(str(tmp_path / "stored"))


def plan(*parts, slaves=("zurich",), source="flights", nothing=(), kept=()):
    return DumpPlan(source=source, slaves=slaves, form="zst", parts=parts, nothing=frozenset(nothing), kept=tuple(kept))


def chunk(rows):
    return StoredChunk(table=TableName("public", "t"), format="postgresql-binary", rows=rows, files=())


def test_a_try_goes_on_counting_where_the_one_before_ended_which_is_late_from_then_on(root):
    first = Journal(root.within("a"), PLAIN)
    first.begin(plan("p0", "p1", "p2", None, nothing={2}))
    first.end(1, chunk(7))
    first.fence(4)
    (found,) = interrupted_dumps(root, "flights", ["zurich", "geneva"], PLAIN)
    assert list(found.chunks()) == [("p0", None), ("p1", "00000001.7.done")]
    assert found.notes.read_chunk("00000001.7.done") == chunk(7)
    second = Journal(found.directory, PLAIN, found.next)
    second.begin(plan("p0", "p1", kept=[("00000001.7.done", "p1")], nothing={1}))
    with pytest.raises(FencedError, match="SLC-050: another dump took over"):
        first.fence(4)
    first.end(0, chunk(9))
    second.end(0, chunk(8))
    assert second.ended_chunks() == {0: ("00000004.8.done", 8)}
    (found,) = interrupted_dumps(root, "flights", ["zurich"], PLAIN)
    assert list(found.chunks()) == [("p1", "00000001.7.done"), ("p0", "00000004.8.done")], "what is late counts nowhere"
    second.remove()
    assert interrupted_dumps(root, "flights", ["zurich"], PLAIN) == []


def test_what_is_of_other_slaves_of_another_source_of_another_key_or_of_nobody_is_left_alone(root, tmp_path):
    key = tmp_path / "key"
    key.write_bytes(base64.b64encode(os.urandom(32)))
    key.chmod(0o600)
    locked = Packing(key_file=str(key))
    for name, packing, one in (
        ("theirs", PLAIN, plan("p", slaves=("zurich", "geneva"))),
        ("elsewhere", PLAIN, plan("p", source="other")),
        ("version", PLAIN, plan("p", slaves=())),
        ("locked", locked, plan("p")),
        ("newer", PLAIN, plan("p")),
        ("older", PLAIN, plan("p")),
    ):
        Journal(root.within(name), packing).begin(one)
    (tmp_path / "stored" / "strange" / "notes").mkdir(parents=True)
    (tmp_path / "stored" / "strange" / "notes" / "00000000.plan").write_text("{}")
    assert [one.name for one in interrupted_dumps(root, "flights", ["zurich"], PLAIN)] == ["older", "newer"]
    assert [one.name for one in interrupted_dumps(root, "flights", ["zurich"], locked)] == ["locked"]
    assert b"zurich" not in (tmp_path / "stored" / "locked" / "notes" / "00000000.plan").read_bytes()
