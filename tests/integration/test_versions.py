"""A slave may begin with an older version of the source's data, which was kept, and gets all changes since."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.updating import load_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.files.receive import expected_files, receive
from sluice.publish.retention import trim
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 300) AS g;
"""


def version(world, now: str, *kept: str) -> None:
    """The source is another version from here on; which ones are kept."""

    def changed(settings):
        settings["sources"][SOURCE]["messages"] = {"version": now}
        settings["sources"][SOURCE]["initial_files"] = {"versions": list(kept)}

    world.configure(changed)


def trimmed(world) -> int:
    return trim(world.context, SOURCE, keep=timedelta(0), warn_bytes=10**9)


@pytest.mark.full
def test_a_slave_that_asks_for_an_older_version_begins_with_it_and_follows_from_there(updating):
    world = updating(DDL, ["public.t"])
    version(world, "0.5", "0.5", "0.7")
    world.update("geneva")
    version(world, "0.6", "0.5", "0.7")
    for statement in (
        "UPDATE t SET note = 'new' WHERE id < 50",
        "ALTER TABLE t ADD n int",
        "DELETE FROM t WHERE id > 290",
    ):
        world.master.execute(statement)
        world.publish()
    world.drain("geneva")
    assert trimmed(world) == 0, "whoever asks for the version needs what came after it"
    slave = world.reader("zurich")
    slave.execute("CREATE TABLE t (id int PRIMARY KEY, note varchar(3))")
    with pytest.raises(SluiceError, match=r"SLC-220: .*note.*\n?.*nothing was changed"):
        world.inhibit("zurich", version="REPL_Ver_0.5")
    assert world.status("zurich") is Status.NORMAL, "it is refused before anything is changed"
    slave.execute("DROP TABLE t")
    world.inhibit("zurich", version="REPL_Ver_0.5")
    world.dump("zurich", version="REPL_Ver_0.5")
    world.release("zurich")
    assert world.status("zurich") is Status.TRANSITION
    assert Path(expected_files(world.context, SOURCE, "zurich")["url"]).name.startswith("REPL_Ver_0.5-")
    assert receive(world.context, SOURCE, "zurich", load_here)["rows"] == 300
    there = world.reader("zurich").execute("SELECT * FROM t WHERE id = 7").fetchall()
    assert there == [(7, "note 7")], "as it was, without what came since"
    world.release("zurich")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert world.differences() == {}

    (directory,) = (world.path / "log" / "initial_files").iterdir()
    version(world, "0.6")
    assert trimmed(world) > 0
    assert not directory.exists(), "it is not to be kept any more"
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match=r"SLC-194: version 0.5 of flights is not kept.* kept is none") as refused:
        world.dump("zurich", version="REPL_Ver_0.5")
    assert "airflow dags trigger initial_update" in refused.value.hint
    assert world.status("zurich") is Status.INCONSISTENT


@pytest.mark.full
def test_the_log_is_kept_from_a_version_on_though_its_update_begins_once_more(updating):
    """As one does whose tasks are tried again: it has another snapshot then."""
    world = updating(DDL, ["public.t"])
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.BREAK, "needs no log until it asks")
    version(world, "0.5", "0.5")
    world.inhibit("geneva")
    world.dump("geneva")
    world.master.execute("UPDATE t SET note = 'new' WHERE id < 50")
    world.publish()
    world.update("geneva")
    version(world, "0.6", "0.5")
    world.master.execute("DELETE FROM t WHERE id > 290")
    world.publish()
    world.drain("geneva")
    assert trimmed(world) == 0
    world.inhibit("zurich")
    assert world.dump("zurich", version="REPL_Ver_0.5")["failed"] == {}
    world.release("zurich")
    assert receive(world.context, SOURCE, "zurich", load_here)["rows"] == 300
    world.release("zurich")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
