"""What `./sluice status` and `./sluice check` tell somebody at night: what happened, what is safe, what to type."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.places import reserve_port
from support.world import SOURCE

from sluice.cli import commands
from sluice.config import configuration
from sluice.errors import LeaseTaken, SluiceError, TransientError
from sluice.monitor.check import findings
from sluice.monitor.status import as_table, statuses
from sluice.state.condition import ReplicationCondition
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.store.leases import hold_lease
from sluice.store.outcomes import note_failure

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text)"
UNPAUSE = "airflow dags unpause drain__flights__"


def update(slave):
    return f"""airflow dags trigger initial_update --conf '{{"source": "flights", "slaves": ["{slave}"]}}'"""


@pytest.fixture
def broken(build):
    """A slave that stands on an error, one that is INCONSISTENT, one that a person paused, and one that is well."""
    world = build(DDL, ["public.t"], slaves=("zurich", "geneva", "bern", "basel"))
    world.reader("zurich").execute("ALTER TABLE t DROP COLUMN note")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-073: .*lacks the column"):
        world.drain("zurich")
    replications.record(
        world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "the triggers of t were dropped"
    )
    replications.shut(world.context.store, world.pair("bern"), Hold.ADMIN, "the drain DAG was paused", "eva")
    return world


def without_source(world):
    """The source is down."""
    world.infos["master"] = replace(world.infos["master"], port=reserve_port())
    world.configure(lambda plain: None)


def said(world) -> dict[str, list[str]]:
    """The notes beneath the table, by whom they are about."""
    notes: dict[str, list[str]] = {}
    for line in as_table(statuses(world.context)).splitlines()[1 + len(world.slaves) :]:
        if line.startswith("    "):
            notes[list(notes)[-1]].append(line.strip())
        else:
            about, _, first = line.partition(": ")
            notes[about] = [first]
    return notes


def test_status_says_of_each_slave_what_happened_what_is_safe_and_what_to_type(broken):
    notes = said(broken)
    assert list(notes) == [f"slave {slave} of flights" for slave in ("zurich", "geneva", "bern", "basel")]
    zurich, geneva, bern, basel = notes.values()
    assert basel == ["1 transaction waits for the next run of its drain: it starts by itself"]
    assert zurich[0].startswith("STANDBY (EXCEPTION) since ")
    assert zurich[0].endswith("its drain met an error. The change log keeps everything for it.")
    fact, _, where = zurich[1].partition(". ")
    assert fact == "SLC-073: the slave's table public.t lacks the column note"
    assert where.startswith("The slave stands in front of transaction 1 (xid ")
    assert f"Once it is fixed, type: {UNPAUSE}zurich. Or, instead of fixing it: {update('zurich')}" in zurich[2]
    assert geneva[0].startswith("INCONSISTENT since ")
    assert geneva[0].endswith(": the triggers of t were dropped.")
    assert geneva[1] == "It gets no changes, and keeps the data that it has."
    assert geneva[2].endswith(update("geneva"))
    assert bern[0].startswith("STANDBY (ADMIN) since ")
    assert "by eva: the drain DAG was paused" in bern[0]
    assert bern[1] == f"HINT: to go on, type: {UNPAUSE}bern"


@pytest.mark.parametrize(("capture", "place"), [("triggers", "ITEMS"), ("log", "the slot")])
def test_status_says_that_nothing_is_published_where_holdback_cannot_tell(broken, capture, place):
    broken.configure(lambda plain: plain["sources"][SOURCE].update(capture=capture))
    without_source(broken)
    first, *rest = said(broken)[f"source {SOURCE}"]
    assert first == f"nothing is published: the source cannot be read. Changes wait in {place}."
    assert [line[:7] for line in rest] == ["SLC-030", "HINT: s"]
    assert len(statuses(broken.context)) == 4, "the slaves are shown all the same"


def set_back(world, name: str) -> None:
    """The last success of a publisher or a drain was an hour ago."""
    world.reader("control").execute(
        "UPDATE lease SET succeeded_at = succeeded_at - interval '1 hour' WHERE name = %s", (name,)
    )


def test_a_publisher_that_does_not_run_is_not_well(broken):
    assert f"source {SOURCE}" not in said(broken)
    set_back(broken, f"publish {SOURCE}")
    first, hint = said(broken)[f"source {SOURCE}"]
    assert first.startswith("nothing is published since ")
    assert "no run of its publisher is at work. Changes wait in ITEMS" in first
    assert f"publish__{SOURCE}" in hint
    assert broken.standing("basel").condition is ReplicationCondition.UNPUBLISHED
    with hold_lease(broken.context.store, f"publish {SOURCE}"):
        assert f"source {SOURCE}" not in said(broken), "one is at work: it may have much to do"
    broken.publish()
    assert f"source {SOURCE}" not in said(broken)


def test_a_publisher_that_fails_at_each_run_is_not_well_until_one_succeeds(broken):
    broken.drain("basel")
    assert broken.standing("basel").well
    broken.master.execute("INSERT INTO t VALUES (2, 'b')")
    broken.master.execute("ALTER TABLE repl.repl_state RENAME COLUMN sha256 TO before")
    for _ in range(2):
        with pytest.raises(SluiceError) as raised:
            broken.publish()
    with hold_lease(broken.context.store, f"publish {SOURCE}"):
        told = broken.standing("basel")
    assert not told.well
    assert told.condition is ReplicationCondition.UNPUBLISHED
    assert f"{raised.value}" in told.publishing, "the error, whatever holds its lease"
    assert f"at once: airflow dags trigger publish__{SOURCE}" in told.publishing
    assert told.publisher.fails
    broken.master.execute("ALTER TABLE repl.repl_state RENAME COLUMN before TO sha256")
    broken.publish()
    broken.drain("basel")
    told = broken.standing("basel")
    assert told.well
    assert (told.publisher.fails, told.publisher.error) == (False, str(raised.value)), "the last error is kept"


def test_an_error_that_passes_is_not_well_when_it_lasts(broken):
    broken.drain("basel")
    store, name = broken.context.store, f"publish {SOURCE}"
    for error in (TransientError(36, "a lock is in the way", "again"), LeaseTaken(51, "held", "by another")):
        with pytest.raises(TransientError), note_failure(store, name):
            raise error
    assert broken.standing("basel").well, "the next try may succeed"
    assert broken.standing("basel").publisher.error == "SLC-036: a lock is in the way\nHINT: again"
    set_back(broken, name)
    assert "SLC-036" in broken.standing("basel").publishing
    assert broken.standing("basel").condition is ReplicationCondition.UNPUBLISHED
    broken.reader("control").execute("UPDATE lease SET succeeded_at = NULL WHERE name = %s", (name,))
    assert "nothing was ever published" in broken.standing("basel").publishing


def test_a_slave_is_late_beyond_the_limit_of_its_source(broken):
    store, control = broken.context.store, broken.reader("control")
    control.execute("UPDATE segment SET published_at = published_at - interval '2000 seconds'")
    told = broken.standing("basel")
    assert (told.condition, told.well) == (ReplicationCondition.LATE, False)
    assert "no drain is at work" in told.why
    assert f"drain__{SOURCE}__basel" in told.why
    with pytest.raises(TransientError), note_failure(store, f"drain {told.pair}"):
        raise TransientError(33, "its disk is full", "make room")
    assert "its last drain failed at" in (why := broken.standing("basel").why)
    assert "SLC-033: its disk is full\nHINT: make room" in why
    broken.configure(lambda plain: plain["sources"][SOURCE].update(late_s=3000))
    assert broken.standing("basel").well
    broken.configure(lambda plain: plain["sources"][SOURCE].update(late_s=120))
    broken.drain("basel")
    told = broken.standing("basel")
    assert (told.well, told.drain.fails) == (True, False)


def test_a_slave_that_was_never_filled_says_so(broken):
    broken.configure(lambda plain: plain["slaves"].update(lugano={"connection": "basel"}))
    broken.configure(lambda plain: plain["replications"].append({"source": SOURCE, "slave": "lugano"}))
    broken.slaves = (*broken.slaves, "lugano")
    first, hint = said(broken)["slave lugano of flights"]
    assert first == "UNCONFIGURED: it was never filled, and gets no changes."
    assert hint.endswith(update("lugano"))


def test_check_blames_a_source_that_is_down_and_not_its_slaves(broken, monkeypatch, capsys):
    without_source(broken)
    found = {one.subject: one for one in findings(broken.context)}
    assert found[f"source {SOURCE}"].text.startswith("SLC-030")
    assert "start the database" in found[f"source {SOURCE}"].text
    assert "\n\t" not in found[f"source {SOURCE}"].text
    for slave in ("geneva", "bern", "basel"):
        assert found[f"slave {slave}"].good
        assert "since the source flights cannot be read" in found[f"slave {slave}"].text
    monkeypatch.setattr(configuration, "load", lambda: broken.context.config)
    monkeypatch.setattr(commands, "_from_airflow", lambda _: broken.context)
    assert commands.show_check() == 1
    printed = capsys.readouterr().out.splitlines()
    assert any(line.startswith("     HINT: start the database") for line in printed)
    assert printed[-2].startswith(f"{sum(not one.good for one in found.values())} of {len(found)} are wrong: fix them")
    assert "./sluice status" in printed[-1]
