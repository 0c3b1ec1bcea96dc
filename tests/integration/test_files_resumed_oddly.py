"""Dumps into files that are gone on with, where not all is as it was, or as it is with most slaves (R5)."""

from __future__ import annotations

import base64
import json
import os
import shutil
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from support.interrupting import MEANWHILE, Broken, breaking, broken_off, exact, manifest, of, resumed, there
from support.issuing import execute
from support.updating import background, load_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.errors import FencedError, SluiceError
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.initial_update.files.target import StoredTables
from sluice.initial_update.release import abandon
from sluice.model.names import TableName
from sluice.vendors.protocol.tasks import WHOLE

pytestmark = [pytest.mark.postgres]


def configured(carried, **settings):
    carried.world.configure(lambda plain: plain["sources"][SOURCE]["initial_files"].update(settings))


def key(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    return str(path)


@pytest.mark.full
def test_so_it_is_of_what_is_encrypted_and_signed_with_one_key_and_of_messages(interrupted, tmp_path):
    pair = Ed25519PrivateKey.generate()
    private = key(tmp_path / "k", pair.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key(tmp_path / "k.pub", pair.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    ours, theirs = (key(tmp_path / name, base64.b64encode(os.urandom(32))) for name in ("ours", "theirs"))
    configured(interrupted, as_xml=True, key_file=theirs, sign_with=private)
    broken_off(interrupted, 5)
    configured(interrupted, key_file=ours)
    (other,) = interrupted.stored.iterdir()
    world = interrupted.world
    world.inhibit()
    with pytest.raises(Broken):
        world.dump(load=breaking(5), store=True, resume=True)
    abandon(world.context, SOURCE, world.slaves)
    assert other.exists(), "nobody knows whose it is"
    shutil.rmtree(other)
    first = there(interrupted)
    assert not any(b"keyed" in file.read_bytes() for file in interrupted.stored.glob("*/notes/*"))
    world.master.execute(MEANWHILE)
    after = resumed(interrupted)
    assert sum(after.get(name) == at for name, at in first.items()) > 4

    def into(plain):
        for slave in world.slaves:
            plain["slaves"][slave]["initial_files"].update(key_file=ours, signed_by=public)

    world.configure(into)
    exact(interrupted)


@pytest.mark.full
def test_a_chunk_whose_file_is_not_whole_is_written_anew_and_what_was_altered_is_too(interrupted):
    first = broken_off(interrupted, 6)
    (directory,) = interrupted.stored.iterdir()
    lost, cut, *_ = sorted(first)
    (directory / lost).unlink()
    (directory / cut).write_bytes(b"cut")
    interrupted.world.master.execute("ALTER TABLE child ADD more int; UPDATE child SET more = id")
    after = resumed(interrupted)
    stays = {name for name, at in first.items() if after.get(name) == at}
    assert not {lost, cut} & after.keys()
    assert stays == of(interrupted, "keyed") & first.keys()
    exact(interrupted)


@pytest.mark.full
def test_rows_that_were_stored_as_text_and_others_go_together(interrupted):
    world = interrupted.world
    there_ = dict(world.infos)
    for slave in world.slaves:
        world.infos[slave] = replace(there_[slave], port=1)
    world.configure(lambda plain: None)
    broken_off(interrupted, 5)
    world.infos.update(there_)
    world.configure(lambda plain: None)
    resumed(interrupted)
    chunks = manifest(interrupted)["chunks"]
    assert {one["format"] for one in chunks if one["table"]["table"] == "keyed"} == {"postgresql-binary", "text"}
    exact(interrupted)


@pytest.mark.full
def test_a_task_that_is_late_writes_nothing_into_what_another_dump_goes_on_with(interrupted):
    late = []

    def first(job):
        late.append(FilesReceiver(job.slaves[0].files, WHOLE))
        late[0].open()
        return breaking(5)(job)

    def second(job):
        before = there(interrupted)
        assert late[0].claim_next() is not None
        late[0].begin(TableName("public", "keyed"), "text")
        with pytest.raises(FencedError, match="SLC-050: another dump took over"):
            late[0].write(b"1\t1\tlate\n")
        assert there(interrupted) == before
        return load_here(job)

    world = interrupted.world
    world.inhibit()
    with pytest.raises(Broken):
        world.dump(load=first, store=True)
    with background(world.publish):
        world.dump(load=second, store=True)
    world.release()
    exact(interrupted)


@pytest.mark.full
def test_a_slave_with_more_than_a_primary_key_gets_its_tables_of_one_snapshot_or_refuses_them(interrupted):
    world = interrupted.world
    slave = world.reader("zurich")
    slave.execute("CREATE TABLE child (id int PRIMARY KEY, code int UNIQUE, parent int)")
    first = broken_off(interrupted, 18)
    world.master.execute(MEANWHILE)
    after = resumed(interrupted)
    stays = {name for name, at in first.items() if after.get(name) == at}
    assert stays & of(interrupted, "keyed")
    assert not stays & of(interrupted, "child")
    slave.execute("CREATE TABLE keyed (id int PRIMARY KEY, n int, note text UNIQUE); INSERT INTO keyed VALUES (-1)")
    interrupted.carry("zurich")
    with pytest.raises(SluiceError, match=r"SLC-245: what was stored of public.keyed is of two times"):
        interrupted.receive("zurich")
    assert world.rows("zurich", "public.keyed").total() == 1
    slave.execute("ALTER TABLE keyed DROP CONSTRAINT keyed_note_key")
    exact(interrupted)


@pytest.mark.full
def test_a_load_of_such_files_that_broke_off_goes_on(interrupted):
    world = interrupted.world
    broken_off(interrupted, 6)
    world.master.execute(MEANWHILE)
    resumed(interrupted)
    copy = interrupted.carry("zurich")
    last = sorted(copy.glob("*.zst"))[-1]
    content = last.read_bytes()

    def lost(job):
        last.unlink()
        return load_here(job)

    with pytest.raises(SluiceError, match="SLC-180"):
        interrupted.receive("zurich", load=lost)
    there_ = world.rows("zurich", "public.keyed").total()
    assert there_
    last.write_bytes(content)
    interrupted.receive("zurich")
    interrupted.carry("geneva")
    interrupted.receive("geneva")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    interrupted.holds_everything()


@pytest.mark.full
def test_where_nobody_knows_what_happened_in_between_it_ends_before_it_is_carried_anywhere(interrupted):
    broken_off(interrupted, 5)
    execute(interrupted.world, "UPDATE keyed SET n = 3")
    interrupted.world.inhibit(resume=True)
    with pytest.raises(SluiceError, match=r"SLC-079: .*a statement was issued"), background(interrupted.world.publish):
        interrupted.world.dump(store=True, resume=True)
    abandon(interrupted.world.context, SOURCE, interrupted.world.slaves)
    interrupted.store()
    exact(interrupted)


@pytest.mark.full
def test_a_slave_of_files_gets_all_of_it_of_one_snapshot(interrupted, tmp_path, monkeypatch):
    world = interrupted.world
    (tmp_path / "lake").mkdir()
    world.infos["geneva"] = ConnectionInfo("fs", extra={"path": str(tmp_path / "lake")})
    monkeypatch.setenv(SEALED_ENV, seal(world.infos))

    def into_files(plain):
        arrives = plain["slaves"]["geneva"]["initial_files"]
        plain["slaves"]["geneva"] = {"connection": "geneva", "vendor": "parquet", "initial_files": arrives}
        plain["replications"][1]["statements"] = False

    world.configure(into_files)
    world.inhibit()
    with pytest.raises(Broken):
        world.dump(load=breaking(10), store=True)
    world.master.execute(MEANWHILE)
    with background(world.publish):
        assert world.dump(store=True)["failed"] == {}
    world.release()
    said = [json.loads(file.read_text()) for file in interrupted.stored.glob("*/manifest.json")]
    assert {slave: bool(one["overlap"]) for one in said for slave in one["slaves"]} == {"zurich": True, "geneva": False}
    for slave in world.slaves:
        interrupted.carry(slave)
        interrupted.receive(slave)
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_so_does_what_waits_in_the_change_log_for_a_slave_that_is_off_line(interrupted):
    world = interrupted.world
    there_ = world.infos["zurich"]
    world.infos["zurich"] = replace(there_, port=1)
    world.configure(lambda plain: plain["slaves"]["zurich"].update(when_unreachable="store"))
    world.inhibit()
    with pytest.raises(Broken):
        world.dump(load=breaking(6))
    shelf = world.path / "log" / "initial_files"
    first = {file.name: file.stat().st_mtime_ns for file in shelf.glob("*/9-*")}
    world.master.execute(MEANWHILE)
    with background(world.publish):
        assert world.dump()["failed"] == {}
    world.release()
    after = {file.name: file.stat().st_mtime_ns for file in shelf.glob("*/9-*")}
    assert sum(after.get(name) == at for name, at in first.items()) > 3
    world.infos["zurich"] = there_
    world.configure(lambda plain: None)
    interrupted.receive("zurich")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    interrupted.holds_everything()


@pytest.mark.full
def test_a_dump_that_is_late_takes_nothing_from_one_that_went_on(interrupted):
    world = interrupted.world
    follow = StoredTables.follow

    def late(tables, sequences):
        patch.undo()
        with pytest.raises(Broken):
            world.dump(load=breaking(1), store=True)
        follow(tables, sequences)

    world.inhibit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredTables, "follow", late)
        with pytest.raises(SluiceError, match=r"SLC-050: drain flights->zurich was taken over"):
            world.dump(store=True)
    first = there(interrupted)
    after = resumed(interrupted)
    assert of(interrupted, "keyed") & first.keys() & after.keys()
    exact(interrupted)
