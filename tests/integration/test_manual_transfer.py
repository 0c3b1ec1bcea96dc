"""Initial data that is carried to slaves by hand: stored beside the master, copied by a person, loaded, and exact."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from support import traffic
from support.carrying import KEPT, LIMIT, ROWS, TABLES, Carried
from support.lake import CHANGES
from support.sizes import BLOCK_BYTES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.initial_update.files.receive import expected_files
from sluice.messages.xml_reader import parse
from sluice.monitor import status
from sluice.publish.retention import trim
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


def unpacked(directory: Path) -> dict[str, bytes]:
    """What is in the files of a directory, in the order of their names."""
    return {path.name: pa.input_stream(str(path)).read() for path in sorted(directory.glob("*.zst"))}


@pytest.mark.full
def test_what_is_carried_by_hand_under_constant_writes_leaves_no_difference(carried):
    carried = carried(traffic.DDL, traffic.TABLES)
    world = carried.world
    with background(*traffic.jobs(world.session)):
        assert carried.store()["failed"] == {}
        world.publish()
        for slave in world.slaves:
            carried.carry(slave)
            carried.receive(slave)
        assert {world.status(slave) for slave in world.slaves} == {Status.TRANSITION}
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    carried.holds_everything()


@pytest.mark.full
def test_a_slave_that_waits_keeps_its_data_its_gate_shut_and_its_place_in_the_log(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.reader("zurich").execute(KEPT)
    carried.store()
    world.master.execute("DELETE FROM rows WHERE id < 100")
    world.publish()
    world.master.execute("DELETE FROM rows WHERE id < 200")
    world.publish()
    assert trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9) == 0
    zurich, _ = status.statuses(world.context)
    assert (zurich.status, zurich.dispatcher) == (Status.TRANSITION, "STANDBY (INITIAL)")
    awaited = carried.awaited("zurich")
    assert f"Manual Data transfer: WAITING (stored on '{awaited.url}')" in zurich.why
    assert str(carried.arrived["zurich"]) in zurich.why
    assert world.drain("zurich")["changes"] == 0
    assert world.rows("zurich", "public.rows").total() == 1
    with pytest.raises(SluiceError, match=r"SLC-020: .*by hand"):
        carried.store("zurich")
    assert world.verify("zurich", initial=True) == {}, "there is nothing to compare yet"
    with pytest.raises(SluiceError, match=r"SLC-020: .*not every slave could be verified"):
        world.verify("zurich")
    for slave in world.slaves:
        carried.carry(slave)
        carried.receive(slave)
    carried.holds_everything()


@pytest.mark.full
def test_files_are_small_sort_in_the_order_of_delivery_and_are_shared_by_slaves_that_get_the_same_rows(
    carried, tmp_path
):
    carried = carried(ROWS, TABLES)
    elsewhere = {"location": str(tmp_path / "elsewhere"), "max_bytes": LIMIT}
    carried.world.configure(lambda settings: settings["sources"][SOURCE].update(initial_files=elsewhere))
    done = carried.store()
    (directory,) = (tmp_path / "elsewhere").iterdir()
    assert carried.awaited("zurich").url == carried.awaited("geneva").url == str(directory)
    files = unpacked(directory)
    assert set(files) == {path.name for path in directory.iterdir()} - {"manifest.json"}
    assert len(files) == carried.awaited("zurich").files - 1 > done["chunks"] > 4
    assert max(map(len, files.values())) == LIMIT, "a row larger than that is in several"
    assert all(name.startswith(f"9-{directory.name}-") for name in files)
    chunks = [int(name.split("-")[2]) for name in files]
    assert chunks == sorted(chunks)


def test_what_a_slave_is_not_to_see_is_in_no_file_for_it(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    masked = {"public.rows": {"mask": {"note": "redact"}, "where": "id < 50"}}
    world.configure(lambda settings: settings["slaves"]["geneva"].update(tables=masked))
    carried.store()
    assert len(list(carried.stored.iterdir())) == 2
    for_geneva = b"".join(unpacked(Path(carried.awaited("geneva").url)).values())
    assert b"longlong" not in for_geneva
    assert b"longlong" in b"".join(unpacked(Path(carried.awaited("zurich").url)).values())
    carried.carry("geneva")
    carried.receive("geneva")
    world.catch_up()
    assert world.verify("geneva", initial=True) == {"geneva": 0}
    assert world.rows("geneva", "public.rows").total() == 50
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=masked))
    carried.carry("zurich")
    with pytest.raises(SluiceError, match="SLC-187"):
        carried.receive("zurich")


def test_what_is_encrypted_or_made_of_messages_is_loaded_and_with_its_key_alone(carried, tmp_path):
    carried = carried(ROWS, TABLES)
    world = carried.world
    keys = {name: tmp_path / f"{name}.key" for name in ("ours", "theirs")}
    for file in keys.values():
        file.write_bytes(base64.b64encode(os.urandom(32)))
        file.chmod(0o600)

    def changed(of, **values):
        world.configure(lambda settings: settings[of[0]][of[1]]["initial_files"].update(values))

    changed(("sources", SOURCE), as_xml=True)
    carried.store()
    directory = Path(carried.awaited("geneva").url)
    messages = [parse(file.read_bytes()) for file in sorted(directory.glob("*.xml"))]
    assert {one.description.command for one in messages} == {"DUMP"}
    assert b"longlong" in b"".join(one.rows[0].columns[0][1] for one in messages)
    assert LIMIT * 0.8 < max(file.stat().st_size for file in directory.glob("*.xml")) <= LIMIT
    carried.carry("geneva")
    changed(("slaves", "geneva"), key_file=str(keys["ours"]))
    with pytest.raises(SluiceError, match=r"SLC-192: manifest.json cannot be opened: it is not encrypted"):
        carried.receive("geneva")
    changed(("slaves", "geneva"), key_file=None)
    carried.receive("geneva")

    changed(("sources", SOURCE), as_xml=False, key_file=str(keys["ours"]))
    carried.store("zurich", force=True)
    copy = carried.carry("zurich")
    assert not any(b"rows" in file.read_bytes() for file in copy.iterdir())
    changed(("slaves", "zurich"), key_file=str(keys["theirs"]))
    with pytest.raises(SluiceError, match=r"SLC-192: .* cannot be opened"):
        carried.receive("zurich")
    changed(("slaves", "zurich"), key_file=str(keys["ours"]))
    (copy / "manifest.json").write_bytes((copy / "manifest.json").read_bytes()[:-1])
    with pytest.raises(SluiceError, match=r"SLC-183: .* is not as it was written"):
        carried.receive("zurich")
    carried.carry("zurich")
    carried.receive("zurich")
    carried.holds_everything()


def test_a_copy_that_is_not_what_was_stored_is_named_and_touches_nothing(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    world.reader("zurich").execute(KEPT)
    carried.store("zurich")
    old = carried.awaited("zurich").url
    carried.store("zurich", force=True)
    for code, named, harm in harms(old, carried.awaited("zurich").name):
        harm(carried.carry("zurich"))
        with pytest.raises(SluiceError, match=named) as refused:
            carried.receive("zurich")
        assert refused.value.code == code
    assert world.rows("zurich", "public.rows").total() == 1
    carried.carry("zurich")
    carried.receive("zurich")
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
    with pytest.raises(SluiceError, match=r"SLC-172: .*waits for no files"):
        carried.receive("zurich")


def harms(old: str, name: str) -> Iterator[tuple[int, str, Callable[[Path], object]]]:
    """What may be wrong with a copy: the code and the words that name it, and what brings it about."""
    first = "-00000000-00000000-"

    def file(copy: Path) -> Path:
        return next(copy.glob(f"*{first}*"))

    def altered(copy: Path) -> None:
        content = bytearray(file(copy).read_bytes())
        content[len(content) // 2] ^= 1
        file(copy).write_bytes(content)

    def other_manifest(copy: Path) -> None:
        manifest = copy / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"rows"', '"rowz"', 1))

    yield 183, "lacks .*manifest.json", shutil.rmtree
    yield 183, "lacks .*manifest.json", lambda copy: (copy / "manifest.json").unlink()
    yield 183, f"lacks .*{first}", lambda copy: file(copy).unlink()
    yield 183, first, lambda copy: file(copy).write_bytes(file(copy).read_bytes()[:-1])
    yield 183, first, altered
    yield 183, "not as it was written.*manifest.json", other_manifest
    yield 183, "manifest.json", lambda copy: (copy / "manifest.json").write_text("{")
    yield 183, "waits for update", lambda copy: shutil.copytree(old, copy, dirs_exist_ok=True)
    yield 183, "copy of", lambda copy: shutil.copy(file(copy), copy / f"copy of {file(copy).name}")
    yield 183, name, lambda copy: shutil.copytree(old, copy / name)


def counted():
    """How many rows each load brings that is called so."""
    loaded: list[int] = []

    def counting(job):
        done = load_here(job)
        loaded.append(sum(one.rows for one in done))
        return done

    return loaded, counting


@pytest.mark.full
def test_a_load_that_broke_off_goes_on_with_the_chunks_that_are_not_in(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    chunks = carried.store("zurich")["chunks"]
    copy = carried.carry("zurich")
    last = sorted(copy.glob("*.zst"))[-1]
    content = last.read_bytes()
    loaded, counting = counted()

    def breaking(job):
        last.unlink()
        return load_here(job)

    with pytest.raises(SluiceError, match=r"SLC-180: the directory .* cannot be "):
        carried.receive("zurich", load=breaking)
    assert world.status("zurich") is Status.TRANSITION
    there = sum(world.rows("zurich", table).total() for table in TABLES)
    assert there
    last.write_bytes(content)
    rows = carried.receive("zurich", load=counting)["rows"]
    assert (loaded, chunks > 2) == ([rows - there], True)
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
    keys = "SELECT count(*) FROM pg_index WHERE indrelid = 'rows'::regclass AND indisprimary"
    assert world.reader("zurich").execute(keys).fetchone() == (1,), "keys come after the data, also then"


@pytest.mark.full
def test_a_load_that_was_refused_before_anything_was_in_begins_as_if_it_were_the_first(carried):
    carried = carried(ROWS, TABLES)
    slave = carried.world.reader("zurich")
    carried.world.configure(lambda plain: plain["slaves"]["zurich"].update(on_existing_rows="refuse"))
    carried.store("zurich")
    slave.execute(KEPT)
    carried.carry("zurich")
    for _ in range(2):
        with pytest.raises(SluiceError, match=r"SLC-210: public.rows of the slave has rows"):
            carried.receive("zurich")
    slave.execute("DELETE FROM rows")
    carried.receive("zurich")
    assert carried.world.rows("zurich", "public.rows") == carried.world.rows("master", "public.rows")


def test_of_two_loads_at_the_same_time_the_later_one_counts_and_the_other_writes_nothing(carried):
    carried = carried(ROWS, TABLES)
    carried.store("geneva")
    carried.carry("geneva")

    def overtaken(job):
        carried.receive("geneva")
        return load_here(job)

    with pytest.raises(SluiceError, match=r"SLC-188(.|\n)*took over"):
        carried.receive("geneva", load=overtaken)
    assert carried.world.rows("geneva", "public.rows") == carried.world.rows("master", "public.rows")


def test_a_slave_that_is_off_line_is_dumped_for_and_its_own_tables_are_filled_without_the_master(carried, monkeypatch):
    carried = carried(ROWS, TABLES)
    world = carried.world
    there = world.infos["zurich"]
    world.infos["zurich"] = replace(there, port=1)
    world.configure(lambda settings: None)
    assert carried.store("zurich")["failed"] == {}
    world.infos["zurich"] = there
    world.configure(lambda settings: settings["slaves"]["zurich"]["initial_files"].update(keep=False))
    world.reader("zurich").execute("CREATE TABLE rows (id bigint PRIMARY KEY, note text, day date)")
    copy = carried.carry("zurich")
    assert expected_files(world.context, SOURCE, "zurich")["url"] == str(copy)
    world.infos["master"] = replace(world.infos["master"], port=1)
    monkeypatch.setenv(SEALED_ENV, seal(world.infos))
    world.configure(lambda settings: None)
    carried.receive("zurich")
    assert world.rows("zurich", "public.rows") == world.rows("master", "public.rows")
    assert not copy.exists(), "what was loaded is deleted, unless it is to be kept"


def test_data_that_cannot_be_stored_fails_its_update_and_says_how_to_store_it_then(carried):
    carried = carried(ROWS, TABLES)
    carried.stored.write_text("in the way")
    with pytest.raises(SluiceError, match=r"SLC-180: the directory .* cannot be ") as failed:
        carried.store("zurich")
    assert (failed.value.code, '"store_initial_data": true' in failed.value.hint) == (80, True)
    assert carried.world.status("zurich") is Status.INCONSISTENT


@pytest.mark.full
def test_slaves_of_files_are_filled_in_the_same_way(lake, tmp_path):
    carried = Carried(lake(update=False).world, tmp_path / "by_hand")
    world = carried.world
    # Smaller than what a file of theirs is read by, so that rows go on in the next.
    world.configure(lambda settings: settings["sources"][SOURCE]["initial_files"].update(max_bytes=333))
    carried.store()
    for slave in world.slaves:
        carried.carry(slave)
        carried.receive(slave)
    world.master.execute(CHANGES)
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_a_load_into_files_that_broke_off_goes_on_with_the_files_that_are_there(lake, tmp_path, monkeypatch):
    """A history begins anew, since its rows say when they came."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 16 * BLOCK_BYTES)
    carried = Carried(lake(ROWS, TABLES, update=False).world, tmp_path / "by_hand")
    world = carried.world
    for slave, goes_on, stays in (("zurich", True, True), ("geneva", True, False), ("zurich", False, False)):
        carried.store(slave, force=True)
        copy = carried.carry(slave)
        last = sorted(copy.glob("*.zst"))[-1]
        content = last.read_bytes()

        def breaking(job, last=last):
            last.unlink()
            return load_here(job)

        with pytest.raises(SluiceError, match=r"SLC-180: the directory .* cannot be "):
            carried.receive(slave, load=breaking)
        last.write_bytes(content)
        loading = tmp_path / "lake" / slave / SOURCE / "loading"
        there = sum(json.loads(done.read_text())["rows"] for done in loading.glob("*/*.done"))
        assert there
        if not goes_on:
            (plan_of,) = loading.glob("*/plan.json")
            plan_of.write_text("{}")
        loaded, counting = counted()
        rows = carried.receive(slave, load=counting)["rows"]
        assert loaded == [rows - (there if stays else 0)]
        assert not list(loading.iterdir())
    world.master.execute("DELETE FROM rows WHERE id < 100")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
