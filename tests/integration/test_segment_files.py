"""Both places where segments are kept pass the same tests."""

import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from support.buckets import SECRET

from sluice import paths
from sluice.changelog import object_store
from sluice.changelog.object_store import ObjectStore
from sluice.changelog.schema import LOGGED
from sluice.changelog.segment_file import SegmentFile
from sluice.changelog.segment_files import PlainDirectory, SegmentFiles
from sluice.errors import SluiceError, TransientError
from sluice.prefetch import fetch_ahead
from sluice.storage import private_files
from sluice.storage.arrow_tree import open_filesystem


@pytest.fixture(params=["plain directory", "object store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the segments are."""
    if request.param == "plain directory":
        return str(tmp_path / "log")
    return str(request.getfixturevalue("bucket")("log"))


@pytest.fixture
def files(place: str) -> SegmentFiles:
    made: SegmentFiles = ObjectStore(place) if "://" in place else PlainDirectory(place)
    made.begin(new=True)
    return made


@pytest.fixture
def below(place: str, files: SegmentFiles) -> fs.FileSystem:
    """The place itself, for who does harm to it."""
    return fs.SubTreeFileSystem(place, fs.LocalFileSystem()) if "://" not in place else _tree(place)


def _tree(url: str) -> fs.FileSystem:
    store, path = open_filesystem(url)
    return fs.SubTreeFileSystem(path, store)


def content(below: fs.FileSystem, name: str) -> bytes:
    with below.open_input_stream(f"{name}.parquet", compression=None) as stream:
        return bytes(stream.read())


def put(below: fs.FileSystem, name: str, octets: bytes) -> None:
    with below.open_output_stream(f"{name}.parquet", compression=None) as stream:
        stream.write(octets)


def changes(first: int, count: int) -> pa.RecordBatch:
    rows = [
        {
            "ordinal": first + number // 2,
            "trans_key": str(700 + number // 2),
            "repl_key": 1000 + number,
            "layout": 7,
            "action": "U",
            "new": [str(number), None, "", "a\nb"],
            "old": None if number % 3 else ["x", None],
            "attributes": None if number % 4 else [("origin", "till"), ("note", None)],
            "description": [("day", "monday")] if number % 2 else [],
        }
        for number in range(count)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=LOGGED)


def read(files: SegmentFiles, written: SegmentFile, after: int = 0) -> list[dict[str, object]]:
    return [row for batch in files.read(written, after, LOGGED) for row in batch.to_pylist()]


def test_what_is_written_is_read_back_in_order_also_by_a_thread(files: SegmentFiles) -> None:
    batches = [changes(1, 10), changes(6, 4)]
    written = files.write("src-1-1-a", batches)
    expected = [row for batch in batches for row in batch.to_pylist()]
    assert [row for batch in fetch_ahead(files.read(written, 0, LOGGED)) for row in batch.to_pylist()] == expected
    assert read(files, written) == expected
    assert files.names() == ["src-1-1-a"]


def test_reading_goes_on_behind_an_ordinal(files: SegmentFiles) -> None:
    written = files.write("src-1-1-a", [changes(1, 20)])
    assert {row["ordinal"] for row in read(files, written, after=7) if row["ordinal"] > 7} == {8, 9, 10}


def test_a_large_segment_passes_in_parts(files: SegmentFiles) -> None:
    """Whoever writes one, or reads it, holds a part of it at a time."""
    batches = [changes(1 + 5 * number, 10) for number in range(3)]
    alive: list[weakref.ref[pa.RecordBatch]] = []

    def swept() -> Iterator[pa.RecordBatch]:
        while batches:
            assert sum(one() is not None for one in alive) <= 1
            alive.append(weakref.ref(batches[0]))
            yield batches.pop(0)

    written = files.write("src-1-1-a", swept())
    assert [row["repl_key"] for row in read(files, written)] == [*range(1000, 1010)] * 3
    assert {row["ordinal"] for row in read(files, written, after=8) if row["ordinal"] > 8} == set(range(9, 16))


def test_a_name_is_never_overwritten(files: SegmentFiles) -> None:
    written = files.write("src-1-1-a", [changes(1, 4)])
    with pytest.raises(SluiceError, match=r"SLC-180: .*segment"):
        files.write("src-1-1-a", [changes(50, 4)])
    assert len(read(files, written)) == 4


@pytest.mark.parametrize("harm", ["cut", "lost"])
def test_a_segment_of_which_something_is_missing_once_it_is_written_is_not_listed(
    bucket: Callable[..., str], monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """A store that loses a file, or its end."""
    log, below, whole = ObjectStore(bucket("log")), _tree(bucket("log")), object_store.write_rows

    def write_damaged(name: str, file: pa.NativeFile, batches: Iterator[pa.RecordBatch]) -> SegmentFile:
        written = whole(name, file, batches)
        file.close()
        if harm == "lost":
            below.delete_file(f"{name}.parquet")
        else:
            put(below, name, content(below, name)[:-1])
        return written

    monkeypatch.setattr(object_store, "write_rows", write_damaged)
    with pytest.raises(TransientError, match=r"SLC-180: segment src-1-1-a cannot be written.* bytes are there"):
        log.write("src-1-1-a", [changes(1, 10), changes(6, 4), changes(8, 2)])
    assert log.names() == []


@pytest.mark.parametrize("harm", ["truncated", "one byte flipped", "gone"])
def test_an_altered_segment_is_refused(files: SegmentFiles, below: fs.FileSystem, harm: str) -> None:
    files.write("src-2-1-b", [changes(51, 4)])
    written = files.write("src-1-1-a", [changes(1, 50)])
    octets = content(below, written.name)
    if harm == "gone":
        below.delete_file(f"{written.name}.parquet")
    elif harm == "truncated":
        put(below, written.name, octets[:-1])
    else:
        put(below, written.name, octets[:100] + bytes([octets[100] ^ 1]) + octets[101:])
    with pytest.raises(SluiceError, match="SLC-047"):
        read(files, written)


def forged(below: fs.FileSystem, name: str) -> None:
    """Put other rows in the place of a segment: a whole file, as ours are written."""
    # A directory's file is exchanged, so that who reads the old one goes on.
    below.delete_file(f"{name}.parquet")
    with below.open_output_stream(f"{name}.parquet", compression=None) as stream:
        pq.write_table(pa.Table.from_batches([changes(500, 40)]), stream)


def test_what_is_hashed_is_what_is_read_also_the_second_time(files: SegmentFiles, below: fs.FileSystem) -> None:
    written = files.write("src-1-1-a", [changes(1, 40)])
    assert len(read(files, written)) == 40
    forged(below, "src-1-1-a")
    with pytest.raises(SluiceError, match="SLC-047"):
        read(files, written)


@pytest.mark.parametrize("in_memory", [private_files.IN_MEMORY, 0], ids=["small", "large"])
def test_no_row_is_read_that_came_while_a_segment_was_read(
    files: SegmentFiles, below: fs.FileSystem, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    monkeypatch.setattr("sluice.storage.private_files.IN_MEMORY", in_memory)
    monkeypatch.setattr("sluice.changelog.segment_files.ROW_GROUP", 10)
    batches = [changes(1 + 5 * number, 10) for number in range(3)]
    written = files.write("src-1-1-a", batches)
    rows = (row for batch in files.read(written, 0, LOGGED) for row in batch.to_pylist())
    found = [next(rows)]
    forged(below, "src-1-1-a")
    with suppress(SluiceError):
        found += rows
    assert found == [row for batch in batches for row in batch.to_pylist()][: len(found)]
    assert len(found) == 30


@pytest.mark.parametrize("harm", ["a symbolic link", "a FIFO", "a directory", "larger"])
def test_what_is_no_file_of_ours_is_no_segment(tmp_path: Path, harm: str) -> None:
    log = PlainDirectory(str(tmp_path / "log"))
    log.begin(new=True)
    written = log.write("src-1-1-a", [changes(1, 4)])
    path, elsewhere = tmp_path / "log" / "src-1-1-a.parquet", tmp_path / "elsewhere"
    path.rename(elsewhere)
    if harm == "a symbolic link":
        path.symlink_to(elsewhere)
    elif harm == "a FIFO":
        os.mkfifo(path)
    elif harm == "a directory":
        path.mkdir()
    else:
        shutil.copy(elsewhere, path)
        os.truncate(path, 2**40)
    with pytest.raises(SluiceError, match=r"SLC-047: .*(is no regular file|it has more bytes)"):
        read(log, written)


def test_a_removed_segment_holds_nothing(files: SegmentFiles) -> None:
    written = files.write("src-1-1-a", [changes(1, 4)])
    files.write("src-2-1-b", [changes(5, 4)])
    files.remove("src-1-1-a")
    files.remove("src-1-1-a")
    assert files.names() == ["src-2-1-b"]
    with pytest.raises(SluiceError, match="SLC-047"):
        read(files, written)


def test_a_log_of_which_nothing_is_there_is_waited_for(files: SegmentFiles, below: fs.FileSystem) -> None:
    written = files.write("src-1-1-a", [changes(1, 4)])
    octets = content(below, written.name)
    below.delete_file(f"{written.name}.parquet")
    with pytest.raises(TransientError, match="SLC-053: segment src-1-1-a cannot be read"):
        read(files, written)
    put(below, written.name, octets)
    assert len(read(files, written)) == 4


def test_a_directory_that_cannot_be_made_loses_nothing(tmp_path: Path) -> None:
    log = PlainDirectory(str(tmp_path / "log"))
    log.begin(new=True)
    shutil.rmtree(tmp_path / "log")
    (tmp_path / "log").write_text("a file stands where the directory should be")
    with pytest.raises(SluiceError, match="SLC-180: segment src-1-1-a cannot be written"):
        log.write("src-1-1-a", [changes(1, 4)])


@pytest.mark.full(but=["no bucket-does not exist-codes1", "nosuch://host/log-Unrecognized filesystem type-codes0"])
@pytest.mark.parametrize(
    ("url", "why", "codes"),
    [
        ("nosuch://host/log", "Unrecognized filesystem type", ("SLC-180", "SLC-053", "SLC-053", "SLC-053")),
        ("no bucket", "does not exist", ("SLC-180",)),
        # One of them: each asks again for several seconds.
        ("s3://log/x?endpoint_override=127.0.0.1:1", "connect", (None, None, "SLC-053")),
    ],
)
def test_a_store_that_cannot_be_used_is_named_with_its_reason(
    bucket: Callable[..., str], url: str, why: str, codes: tuple[str | None, ...]
) -> None:
    log = ObjectStore(bucket("log", "missing") if url == "no bucket" else url)
    fails: list[Callable[[], object]] = [
        lambda: log.write("src-1-1-a", [changes(1, 4)]),
        lambda: read(log, SegmentFile("src-1-1-a", "", 0)),
        log.names,
        lambda: log.has("src-1-1-a"),
    ]
    for code, fail in zip(codes, fails, strict=False):
        if code:
            with pytest.raises(TransientError, match=f"(?i){code}: .*{why}") as failed:
                fail()
            assert SECRET not in str(failed.value)


def test_a_change_log_is_not_begun_on_a_disk_that_is_not_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "disk" / "log"
    with pytest.raises(TransientError, match="cannot be reached"):
        PlainDirectory(str(place)).begin(new=True)
    assert not place.parent.exists(), "it would fill another disk"
    monkeypatch.setenv(paths.HOME_ENV, str(tmp_path / "home"))
    PlainDirectory(str(tmp_path / "home" / "changelog")).begin(new=True)
