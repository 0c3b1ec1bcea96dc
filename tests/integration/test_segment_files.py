"""Both places where segments are kept pass the same tests."""

import os
import shutil
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sluice import paths
from sluice.changelog.schema import LOGGED
from sluice.changelog.segment_files import PlainDirectory, SegmentFiles, Written
from sluice.errors import SluiceError, TransientError
from sluice.prefetch import ahead
from sluice.storage import private_files


@pytest.fixture(params=["plain directory", "hadoop filesystem"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> SegmentFiles:
    made: SegmentFiles
    if request.param == "plain directory":
        made = PlainDirectory(str(tmp_path / "log"))
    else:
        request.getfixturevalue("spark")
        from sluice.spark.hadoop_segments import HadoopDirectory

        made = HadoopDirectory(f"file://{tmp_path}/log")
    made.begin(new=True)
    return made


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


def read(files: SegmentFiles, written: Written, after: int = 0) -> list[dict[str, object]]:
    return [row for batch in files.read(written, after, LOGGED) for row in batch.to_pylist()]


def test_what_is_written_is_read_back_in_order_also_by_a_thread(files: SegmentFiles) -> None:
    batches = [changes(1, 10), changes(6, 4)]
    written = files.write("src-1-1-a", batches)
    expected = [row for batch in batches for row in batch.to_pylist()]
    assert [row for batch in ahead(files.read(written, 0, LOGGED)) for row in batch.to_pylist()] == expected
    assert read(files, written) == expected
    assert files.names() == ["src-1-1-a"]


def test_reading_goes_on_behind_an_ordinal(files: SegmentFiles) -> None:
    written = files.write("src-1-1-a", [changes(1, 20)])
    assert {row["ordinal"] for row in read(files, written, after=7) if row["ordinal"] > 7} == {8, 9, 10}


def test_a_large_segment_passes_in_parts(
    files: SegmentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Whoever writes one, or reads it, holds a part of it at a time."""
    if "hadoop" in request.node.name:
        monkeypatch.setattr("sluice.spark.hadoop_segments.PART_BYTES", 1)
    batches = [changes(1 + 5 * number, 10) for number in range(3)]
    alive: list[weakref.ref[pa.RecordBatch]] = []

    def swept() -> Iterator[pa.RecordBatch]:
        while batches:
            assert sum(one() is not None for one in alive) <= 1
            alive.append(weakref.ref(batches[0]))
            yield batches.pop(0)

    written = files.write("src-1-1-a", swept())
    monkeypatch.undo()
    assert [row["repl_key"] for row in read(files, written)] == [*range(1000, 1010)] * 3
    assert {row["ordinal"] for row in read(files, written, after=8) if row["ordinal"] > 8} == set(range(9, 16))


def test_a_name_is_never_overwritten(files: SegmentFiles) -> None:
    written = files.write("src-1-1-a", [changes(1, 4)])
    with pytest.raises(SluiceError, match="SLC-046"):
        files.write("src-1-1-a", [changes(50, 4)])
    assert len(read(files, written)) == 4


@pytest.mark.parametrize("harm", ["one part", "all of it"])
def test_a_segment_of_which_something_is_missing_once_it_is_written_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: object, harm: str
) -> None:
    """A store that loses a file, or does not show it yet."""
    from sluice.spark.hadoop_segments import HadoopDirectory

    log, look = HadoopDirectory(f"file://{tmp_path}/log"), HadoopDirectory._files
    monkeypatch.setattr("sluice.spark.hadoop_segments.PART_BYTES", 1)

    def lost(found: HadoopDirectory, path: str) -> object:
        for part in (tmp_path / "log" / "src-1-1-a").iterdir():
            if harm != "one part" or part.name == "000001":
                shutil.rmtree(part)
        return look(found, path)

    monkeypatch.setattr(HadoopDirectory, "_files", lost)
    with pytest.raises(TransientError, match="SLC-046: segment src-1-1-a cannot be written"):
        log.write("src-1-1-a", [changes(1, 10), changes(6, 4), changes(8, 2)])


@pytest.mark.parametrize("harm", ["truncated", "one byte flipped", "gone"])
def test_an_altered_segment_is_refused(files: SegmentFiles, tmp_path: Path, harm: str) -> None:
    files.write("src-2-1-b", [changes(51, 4)])
    written = files.write("src-1-1-a", [changes(1, 50)])
    (path,) = [path for path in (tmp_path / "log").rglob("*.parquet") if path.is_file() and "src-1-1-a" in str(path)]
    content = path.read_bytes()
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    if harm == "gone":
        path.unlink()
    elif harm == "truncated":
        path.write_bytes(content[:-1])
    else:
        path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.raises(SluiceError, match="SLC-047"):
        read(files, written)


def forged(tmp_path: Path, name: str) -> None:
    """Put other rows in the place of a part of a segment, the last one: a whole file, as ours are written."""
    *_, path = sorted(path for path in (tmp_path / "log").rglob("*.parquet") if path.is_file() and name in str(path))
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    pq.write_table(pa.Table.from_batches([changes(500, 40)]), path)


def test_what_is_hashed_is_what_is_read_also_the_second_time(files: SegmentFiles, tmp_path: Path) -> None:
    written = files.write("src-1-1-a", [changes(1, 40)])
    assert len(read(files, written)) == 40
    forged(tmp_path, "src-1-1-a")
    with pytest.raises(SluiceError, match="SLC-047"):
        read(files, written)


@pytest.mark.parametrize("in_memory", [private_files.IN_MEMORY, 0], ids=["small", "large"])
def test_no_row_is_read_that_came_while_a_segment_was_read(
    files: SegmentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    monkeypatch.setattr("sluice.storage.private_files.IN_MEMORY", in_memory)
    monkeypatch.setattr("sluice.spark.hadoop_segments.PART_BYTES", 1)
    monkeypatch.setattr("sluice.changelog.segment_files.ROW_GROUP", 10)
    batches = [changes(1 + 5 * number, 10) for number in range(3)]
    written = files.write("src-1-1-a", batches)
    rows = (row for batch in files.read(written, 0, LOGGED) for row in batch.to_pylist())
    found = [next(rows)]
    forged(tmp_path, "src-1-1-a")
    with suppress(SluiceError):
        found += rows
    assert found == [row for batch in batches for row in batch.to_pylist()][: len(found)]
    assert len(found) in (20, 30)


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


def test_a_log_of_which_nothing_is_there_is_waited_for(files: SegmentFiles, tmp_path: Path) -> None:
    written = files.write("src-1-1-a", [changes(1, 4)])
    (tmp_path / "log").rename(tmp_path / "unmounted")
    with pytest.raises(TransientError, match="SLC-053: segment src-1-1-a cannot be read"):
        read(files, written)
    (tmp_path / "unmounted").rename(tmp_path / "log")
    assert len(read(files, written)) == 4


def test_a_directory_that_cannot_be_made_loses_nothing(files: SegmentFiles, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "log", ignore_errors=True)
    (tmp_path / "log").write_text("a file stands where the directory should be")
    with pytest.raises(SluiceError, match="SLC-046"):
        files.write("src-1-1-a", [changes(1, 4)])


def test_a_filesystem_that_cannot_be_used_is_told_with_its_reason(spark: object) -> None:
    """As one whose jars are not there, or whose server does not answer."""
    from sluice.spark.hadoop_segments import HadoopDirectory

    log = HadoopDirectory("nosuch://host/log")
    for code, fails in (
        ("SLC-046", lambda: log.write("src-1-1-a", [changes(1, 4)])),
        ("SLC-053", lambda: read(log, Written("src-1-1-a", "", 0))),
        ("SLC-053", log.names),
        ("SLC-053", lambda: log.remove("src-1-1-a")),
    ):
        with pytest.raises(TransientError, match=f"{code}: .*nosuch://host/log.*No FileSystem for scheme"):
            fails()


def test_a_change_log_is_not_begun_on_a_disk_that_is_not_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "disk" / "log"
    with pytest.raises(TransientError, match="cannot be reached"):
        PlainDirectory(str(place)).begin(new=True)
    assert not place.parent.exists(), "it would fill another disk"
    monkeypatch.setenv(paths.HOME_ENV, str(tmp_path / "home"))
    PlainDirectory(str(tmp_path / "home" / "changelog")).begin(new=True)
