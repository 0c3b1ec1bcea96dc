"""What we make is ours alone, whatever the umask says: no other user can read it, or write to it. And what somebody put
there that is no file is not followed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import places
from support.carrying import KEPT, ROWS, TABLES
from support.world import SOURCE
from test_processes import fake_java

from sluice import connections
from sluice.errors import SluiceError
from sluice.runtime import airflow, java, processes, spark_connect
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.postgres import Cluster
from sluice.runtime.state import RuntimeState, alone
from sluice.runtime.terminal import Progress
from sluice.storage.directory import Directory

pytestmark = [pytest.mark.postgres]

PASSED_THROUGH = 0o711


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """None at all."""
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(*roots: Path) -> set[str]:
    """What has a mode by which others may do anything with it, below some directories, and with them."""
    found = [path for root in roots for path in (root, *root.rglob("*")) if not path.is_symlink()]
    assert found
    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in found}
    return {f"{mode:04o} {path}" for path, mode in modes.items() if mode & (stat.S_IRWXG | stat.S_IRWXO)}


def test_the_home_of_the_runtime_its_keys_logs_and_databases(tmp_path, monkeypatch):
    program = fake_java(tmp_path / "jdk", "21", "java.base@21")
    program.chmod(0o755)
    program.parent.chmod(0o755)
    program.parents[1].chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(program.parents[1]))
    layout = RuntimePaths(tmp_path / "home")
    layout.make()
    connections.new_key_file(layout.seal_key)
    spark_connect.make_token(layout)
    airflow.make_secrets(layout)
    java.java_home(layout.spark / "java")
    with alone(layout, Progress()):
        started = processes.start("x", ["true"], home=layout.home, env=os.environ, log=layout.log("x"), cwd=layout.home)
        RuntimeState(layout).record(started)
    cluster = Cluster(layout.postgres, layout.log("postgres"))
    try:
        assert cluster.start("", places.reserve_port())
        outside = cluster._directories.outside
        roots = [layout.home, *(place for place in (outside, cluster.sockets) if place.exists())]
        binaries = str(outside / "binaries")
        found = {one for one in open_to_others(*roots) if not one.partition(" ")[2].startswith(binaries)}
        # PostgreSQL's user goes through these two, and no further.
        passed = {f"{PASSED_THROUGH:04o} {path}" for path in (layout.home, outside)}
        # A socket has no mode that counts: its directory keeps others out.
        assert {one for one in found - passed if ".s.PGSQL." not in one} == set()
        for path in (outside / "binaries").rglob("*"):
            assert path.is_symlink() or not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH), path
            assert path.lstat().st_uid == os.geteuid()
    finally:
        cluster.remove()


def test_a_slave_of_files_can_be_read_and_nobody_else_writes_there(lake):
    there = lake()
    there.world.drain("zurich")
    modes = {path.lstat().st_mode for slave in ("zurich", "geneva") for path in (there.path / slave).rglob("*")}
    assert {stat.S_IMODE(mode) for mode in modes} == {0o755, 0o644}


def test_the_change_log_and_stored_initial_data(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.configure(lambda plain: plain["sources"][SOURCE]["initial_files"].update(versions=["1.0"]))
    carried.store()
    world.master.execute("DELETE FROM rows WHERE id < 100")
    world.publish()
    assert open_to_others(carried.stored, world.path / "log") == set()
    assert list((world.path / "log").glob("*.parquet"))


def nested(root: Path, deep: int) -> None:
    """Directories in each other, by steps: no path may be as long."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir("d", dir_fd=here)
        outer, here = here, os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(outer)
    os.close(here)


@pytest.mark.full
def test_directories_that_are_too_deep_in_each_other_are_told_and_end_no_job(tmp_path):
    (tmp_path / "deep").mkdir()
    nested(tmp_path / "deep", 2_000)
    directory = Directory(str(tmp_path)).within("deep")
    try:
        for act in (directory.files, directory.remove_all):
            with pytest.raises(SluiceError, match="SLC-180: "):
                act()
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "deep")], check=True)


@pytest.mark.full
def test_what_is_no_file_among_carried_ones_is_named_and_nothing_of_the_slave_is_touched(carried, tmp_path):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.reader("zurich").execute(KEPT)
    carried.store("zurich")

    def linked(copy: Path) -> None:
        file = min(copy.glob("*.zst"))
        shutil.move(file, tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")

    def forged(copy: Path) -> None:
        manifest = json.loads((copy / "manifest.json").read_text())
        manifest["slaves"] = {f"x{number}\nHINT: type evil": {} for number in range(100_000)}
        (copy / "manifest.json").write_text(json.dumps(manifest))

    for code, harm in (
        (331, linked),
        (331, lambda copy: os.mkfifo(copy / "9-fifo.zst")),
        (331, lambda copy: (copy / "notes").symlink_to("/")),
        (183, lambda copy: os.truncate(copy / "manifest.json", 2**40)),
        (183, lambda copy: (copy / "no text \udcff").touch()),
        (183, lambda copy: (copy / "x\nHINT: type evil").touch()),
        (183, forged),
        (180, lambda copy: nested(copy, 40)),
    ):
        harm(carried.carry("zurich"))
        with pytest.raises(SluiceError) as refused:
            carried.receive("zurich")
        assert refused.value.code == code
        assert str(refused.value).count("\nHINT: ") == 1
        assert len(str(refused.value).encode()) < 30_000
    assert world.rows("zurich", "public.rows").total() == 1
    carried.carry("zurich")
    carried.receive("zurich")
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
