"""A load that broke off is gone on with: what is in stays, and the slave is exact all the same (R5)."""

from __future__ import annotations

import pytest
from support.interrupting import DDL, MEANWHILE, Broken
from support.issuing import execute
from support.sizes import BLOCK_BYTES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.capture.reconcile import make_inconsistent
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.initial_update.release import abandon
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.vendors.postgresql.load.receiver import PostgresReceiver

pytestmark = [pytest.mark.postgres]


class Loads:
    """Loads chunks here, and knows which; breaks off after `most` of them."""

    def __init__(self, most=1000):
        self.most = most
        self.chunks = []

    def __call__(self, job):
        end = PostgresReceiver.end

        def noted(receiver, chunk, rows):
            end(receiver, chunk, rows)
            self.chunks.append(job.chunks[chunk])
            if len(self.chunks) == self.most:
                raise Broken

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PostgresReceiver, "end", noted)
            return load_here(job)

    def whole(self, table):
        """Where the chunks of a table begin of which every row was read."""
        return {one.low for one in self.chunks if one.leaf.relation.table == table and one.since is None}


@pytest.fixture
def world(updating, monkeypatch, tmp_path):
    """Tables of several kinds, cut into chunks of a few blocks; updates that change nothing are in no log. A database
    and a directory, which nobody fills yet."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    tables = [f"public.{name}" for name in ("keyed", "heap", "child")]
    made = updating(DDL, tables, source={"messages": {"send_unchanged_updates": False}})
    made.infos |= {"unused": made.infos["geneva"], "geneva": ConnectionInfo("fs", extra={"path": str(tmp_path)})}
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))

    def into_files(settings):
        settings["slaves"]["geneva"] = {"connection": "geneva", "vendor": "parquet"}
        settings["replications"][1]["statements"] = False

    made.configure(into_files)
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it yet")
    return made


def broken_off(world, most, slaves=("zurich",), *, resume=False):
    """An update that is given up after so many chunks of zurich."""
    loads = Loads(most)
    world.inhibit(*slaves)
    with pytest.raises(Broken), background(world.publish):
        world.dump(*slaves, load=loads, resume=resume)
    abandon(world.context, SOURCE, slaves)
    return loads


def resumed(world, slaves=("zurich",)):
    """An update that goes on with the one before; what it loaded into zurich."""
    loads = Loads()
    world.inhibit(*slaves)
    with background(world.publish):
        assert world.dump(*slaves, load=loads, resume=True)["failed"] == {}
    world.release(*slaves)
    assert world.verify(*slaves, initial=True) == dict.fromkeys(slaves, 0)
    return loads


@pytest.mark.full
def test_a_load_that_broke_off_goes_on_where_it_was_and_once_more(world, monkeypatch):
    late = world.session()
    late.execute("BEGIN; UPDATE keyed SET n = -1 WHERE id BETWEEN 1000 AND 1010")
    first = broken_off(world, 5, world.slaves)
    late.execute("COMMIT")
    world.master.execute(MEANWHILE)
    # Updates that change nothing move rows to blocks that are in, and no log says so.
    world.master.execute("DELETE FROM keyed WHERE id BETWEEN 100 AND 900")
    world.master.execute("VACUUM keyed")
    world.master.execute("UPDATE keyed SET n = n WHERE id BETWEEN 2000 AND 2500")
    world.publish()
    second = broken_off(world, 12, world.slaves, resume=True)
    assert first.whole("keyed")
    assert second.whole("keyed")
    world.master.execute(MEANWHILE)

    def killed(*_, **__):
        raise Broken

    with monkeypatch.context() as patch:
        # Keys and indexes are built, and only foreign keys are to come.
        patch.setattr("sluice.vendors.postgresql.catalog.definition.references", killed)
        third = broken_off(world, 1000, world.slaves, resume=True)
    world.master.execute(MEANWHILE)
    fourth = resumed(world, world.slaves)
    for table in ("keyed", "child"):
        loaded = [one.whole(table) for one in (first, second, third, fourth)]
        assert sum(map(len, loaded)) == len(set().union(*loaded)), f"a chunk of {table} was loaded twice"
        assert not loaded[-1]
    assert fourth.whole("heap") == third.whole("heap"), "it has no key: it is loaded as a whole"
    assert len(third.whole("heap")) > 1


@pytest.mark.full
def test_what_does_not_fit_together_is_loaded_anew(world):
    """Rows that were moved, a table that is another one now, a key beside the primary one."""
    there = world.reader("zurich")
    there.execute("CREATE TABLE child (id int PRIMARY KEY, code int UNIQUE, parent int)")
    first = broken_off(world, 20)
    assert 0 in first.whole("keyed") & first.whole("child")
    world.master.execute("VACUUM FULL keyed")
    world.master.execute("UPDATE child SET code = -code")
    again = resumed(world)
    assert 0 in again.whole("keyed") & again.whole("child")


def test_where_nobody_knows_what_happened_in_between_an_update_begins_anew(world):
    broken_off(world, 5)
    execute(world, "UPDATE keyed SET n = 3")
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match=r"SLC-079: .*a statement was issued"), background(world.publish):
        world.dump("zurich", load=load_here, resume=True)
    make_inconsistent(world.context, SOURCE, "changes are not known", {Status.INITIAL})
    assert 0 in resumed(world).whole("keyed")


def test_a_table_whose_deletes_are_not_captured_is_loaded_anew(updating, monkeypatch):
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    world = updating(DDL, {"public.keyed": {"actions": "IU"}})
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    assert 0 in broken_off(world, 3).whole("keyed")
    world.master.execute("DELETE FROM keyed WHERE id = 1")
    assert 0 in resumed(world).whole("keyed")
