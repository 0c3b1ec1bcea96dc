"""Where change logs are and where initial data travels: which URLs are taken, and what is said of one that fails."""

from __future__ import annotations

import hashlib
import os
import socket
from io import BytesIO
from pathlib import Path

import pytest

from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.initial_update.files.encoding import Packing, message
from sluice.initial_update.files.manifest import StoredChunk, StoredFile
from sluice.initial_update.files.reader import StoredRows
from sluice.model.names import TableName
from sluice.storage.directory import Directory
from sluice.storage.files import HashingFile

EXAMPLE = """
sources:
  flights:
    connection: master
    tables: {public.airlines: {}}
slaves: {zurich: {connection: zurich}}
replications: [{source: flights, slave: zurich}]
"""


def test_of_what_a_filesystem_says_the_first_line_is_told() -> None:
    """Of `hdfs://` without its libraries pyarrow tells a hundred places where it looked."""
    said = "no libhdfs\ndlopen(/usr/lib/libhdfs.so) failed\ndlopen(/lib/libhdfs.so) failed"
    with pytest.raises(TransientError) as failed, Directory("/there").reachable("read"):
        raise OSError(said)
    assert "SLC-180: the directory /there cannot be read: no libhdfs\n" in str(failed.value)
    assert "dlopen" not in str(failed.value)


@pytest.fixture
def place(tmp_path):
    """A directory of initial data with a file, below a location that is reached by a link; beside it a stranger's."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "location").symlink_to(tmp_path / "disk")
    made = Directory(str(tmp_path / "location")).within("a")
    made.make()
    made.write("file", b"ours")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_bytes(b"theirs")
    return made


def planted(path: Path, kind: str, theirs: Path) -> None:
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        path.symlink_to(theirs if kind == "a link to a directory" else theirs / "file")


KINDS = ["a link to a file", "a link to a directory", "a FIFO", "a socket"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_neither_read_nor_written_nor_removed_by_way_of_it(place, tmp_path, kind):
    planted(tmp_path / "disk" / "a" / "x", kind, tmp_path / "theirs")
    (tmp_path / "disk" / "a" / ".y").symlink_to(tmp_path / "theirs" / "file")
    for done in (place.files, lambda: place.read("x"), lambda: place.read("x/file"), place.within("x").files):
        with pytest.raises(SluiceError, match=r"SLC-331: in the directory .*/location/a.*is no regular file"):
            done()
    with pytest.raises(SluiceError, match="SLC-180"), place.create("x"):
        pass
    with pytest.raises(SluiceError, match="SLC-331"), place.create("x/new"):
        pass
    assert place.directories() == []
    place.write("y", b"ours")
    place.write("x", b"ours")
    assert place.read("x") == place.read("y") == b"ours"
    assert list((tmp_path / "theirs").iterdir()) == [tmp_path / "theirs" / "file"]
    assert (tmp_path / "theirs" / "file").read_bytes() == b"theirs"


@pytest.mark.parametrize("way", ["../theirs/file", "../../theirs/file", "./../../theirs/file", "/etc/hostname"])
def test_no_name_leads_out_of_the_directory(place, way):
    for done in (lambda: place.read(way), lambda: place.remove([way]), place.within(way).files):
        with pytest.raises(SluiceError, match="SLC-331"):
            done()


def test_a_directory_that_is_a_link_is_not_entered_and_what_is_removed_ends_at_links(place, tmp_path):
    (tmp_path / "disk" / "a" / "link").symlink_to(tmp_path / "theirs")
    place.remove_all()
    assert not place.exists()
    (tmp_path / "disk" / "a").symlink_to(tmp_path / "theirs")
    for done in (place.files, place.make, lambda: place.write("file", b"ours"), lambda: place.remove(["file"])):
        with pytest.raises(SluiceError, match="SLC-331"):
            done()
    with pytest.raises(TransientError, match="SLC-180"):
        place.remove_all()
    assert (tmp_path / "theirs" / "file").read_bytes() == b"theirs"


def test_a_file_of_which_nobody_knows_yet_who_wrote_it_is_not_read_if_it_is_large(place, tmp_path):
    os.truncate(tmp_path / "disk" / "a" / "file", 2**40)
    with pytest.raises(SluiceError, match=r"SLC-183: .*/a/file has more than"):
        place.read("file")


@pytest.mark.parametrize("form", ["zst", "xml"])
@pytest.mark.parametrize("forged", ["other rows", "more", "fewer", "no such form"])
def test_nothing_is_unpacked_of_a_file_before_all_of_it_is_known_to_be_the_one_that_was_checked(place, form, forged):
    packing, said = Packing(form), message(TableName("public", "t"), 0, 0, "text")

    def packed(rows: bytes) -> bytes:
        file = BytesIO()
        sink = packing.sink(HashingFile(file), "f", said)
        sink.write(memoryview(rows))
        sink.close()
        return file.getvalue()

    whole = packed(b"1\tone\n" * 1000)
    stored = StoredFile(name="f", bytes=len(whole), sha256=hashlib.sha256(whole).hexdigest())
    chunk = StoredChunk(table=TableName("public", "t"), format="text", rows=1000, files=(stored,))
    place.write("f", whole)
    assert b"".join(StoredRows(place, chunk, packing)) == b"1\tone\n" * 1000
    other = {"other rows": packed(b"2\ttwo\n" * 1000), "more": whole + b"x", "fewer": whole[:-1]}
    place.write("f", other.get(forged, b"\0" * len(whole)))
    with pytest.raises(SluiceError, match=r"SLC-183: .*another file than it was"):
        next(iter(StoredRows(place, chunk, packing)))


KEYS = ["s3://AKIA:c2Vj%2Fcg@bucket/x", "abfss://:c2VjcmV0@files/x", "abfss://files@a.net/x?client_secret=c2VjcmV0"]


@pytest.mark.parametrize("url", KEYS, ids=["S3", "Azure", "an option"])
@pytest.mark.parametrize("where", ["change_log", "sources.flights.initial_files.location"])
def test_a_url_with_a_key_is_refused_without_showing_it(read, url, where):
    """It would stand in logs, in the control store and in Airflow."""
    text = EXAMPLE
    if where == "change_log":
        text = f"change_log: {url}{EXAMPLE}"
    else:
        text = EXAMPLE.replace("connection: master", f"connection: master\n    initial_files: {{location: '{url}'}}")
    with pytest.raises(ConfigError, match=f"(?s)SLC-002.*{where}: a URL must not have a password") as caught:
        read(text)
    assert "c2Vj" not in str(caught.value)


def test_a_url_may_name_a_user_and_a_server(read):
    for url in ("hdfs://sluice@name:8020/a@b:c", "s3://bucket/x?endpoint_override=127.0.0.1:9000&scheme=http"):
        assert read(f"change_log: {url}{EXAMPLE}").change_log_url == url


@pytest.mark.parametrize(
    ("url", "log", "initial_data"),
    [
        ("s3a://b/log/", "s3://b/log/", "s3://b/log/initial_files"),
        ("s3://b/log?scheme=http", "s3://b/log?scheme=http", "s3://b/log/initial_files?scheme=http"),
        ("hdfs://name/log", "hdfs://name/log", "hdfs://name/log/initial_files"),
        ("file:///srv/lo%67", "/srv/log", "/srv/log/initial_files"),
        ("/log", "/log", "/log/initial_files"),
    ],
)
def test_a_change_log_and_the_initial_data_in_it_have_the_names_that_pyarrow_knows(read, url, log, initial_data):
    config = read(f"change_log: {url}{EXAMPLE}")
    assert (config.change_log_url, config.initial_data_url) == (log, initial_data)


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("file:///srv/in/20261125T1Z", True),
        ("file:///srv/in/..", False),
        ("file:///srv/in/..%2f..%2fetc", False),
        ("file:///srv/in/%2e%2e", False),
        ("file:///srv/in/a/b", False),
        ("file:///srv", False),
        ("/srv/in/20261125T1Z", False),
    ],
)
def test_carried_files_are_looked_for_where_the_configuration_says_and_nowhere_else(read, url, known):
    text = EXAMPLE.replace("connection: zurich", "connection: zurich, initial_files: {location: 'file:///srv/in'}")
    assert text != EXAMPLE
    assert read(text).receives_in(url) is known
