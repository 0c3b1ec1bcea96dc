"""Clear Queue: what waits for a slave is discarded, and nobody takes the slave for equal afterwards."""

from __future__ import annotations

import pytest

from sluice.cli.parser import main
from sluice.commands.clear_queue import clear_queue
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.names import TableName
from sluice.state.dispatcher import Hold
from sluice.store import blocked, replications

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text); CREATE TABLE other (id int PRIMARY KEY)"


def fill(world, *slaves, **how):
    """A whole initial update."""
    slaves = slaves or world.slaves
    world.inhibit(*slaves, **how)
    with world.running():
        world.dump(*slaves)
    world.release(*slaves)
    world.verify(*slaves, initial=True)


@pytest.fixture
def world(updating):
    """Two slaves that were filled, and two transactions that wait for them."""
    world = updating(DDL, ["public.t", "public.other"])
    fill(world)
    for number in (1, 2):
        world.master.execute("INSERT INTO t VALUES (%s)", [number])
    world.publish()
    return world


@pytest.fixture
def sluice(world, monkeypatch, capsys):
    """`./sluice` for the world: its exit code, what it prints, and what it complains of."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    return lambda *words: (main(list(words)), *capsys.readouterr())


def cleared(world, slave="zurich", who="eva"):
    return clear_queue(world.context, world.pair(slave), who)


@pytest.mark.full
def test_what_waits_is_discarded_and_the_slave_is_to_be_filled_again(world):
    pair, earlier = world.pair("zurich"), world.drainer()
    blocked.record(world.context.store, pair, BlockingTransaction(1, "5017", 1, 2))
    replications.shut(world.context.store, pair, Hold.EXCEPTION, "SLC-070: it failed\nHINT: --remove-first 1")
    reached = world.position()
    assert cleared(world) == 2
    with pytest.raises(TransientError, match="SLC-050"):
        earlier.deliver()
    told = world.standing("zurich")
    assert (told.status, told.holdback, told.stuck) == ("INCONSISTENT", 0, None)
    assert "by eva: its queue was cleared: 2 transactions were discarded, 1 to 2." in told.why
    assert "--remove-first" not in told.why
    assert "resume" not in told.why
    # The slave goes on saying what it has.
    assert (world.position(), world.rows("zurich", "public.t").total()) == (reached, 0)
    assert world.drain("zurich")["transactions"] == 0
    said = "SELECT actor, detail FROM audit WHERE slave = 'zurich' AND event = 'clear'"
    ((actor, detail),) = world.reader("control").execute(said).fetchall()
    assert (actor, detail.partition(":")[0]) == ("eva", "NORMAL -> INCONSISTENT")
    with pytest.raises(SluiceError, match=r"SLC-020: .*queue of"):
        cleared(world)
    # The other slave goes on, and this one is whole after the next initial update.
    assert world.drain("geneva")["transactions"] == 2
    fill(world, "zurich")
    assert (world.standing("zurich").well, world.differences()) == (True, {})


def test_the_shell_says_what_goes_before_it_does_it(world, sluice):
    code, out, _ = sluice("dispatcher", "flights", "zurich", "--clear-queue")
    assert (code, out.partition(".")[0]) == (1, "2 transactions wait for zurich")
    assert world.status("zurich") == "NORMAL"
    code, out, _ = sluice("dispatcher", "flights", "zurich", "--clear-queue", "--yes")
    assert (code, out.partition(";")[0], world.status("zurich")) == (0, "discarded 2 transactions", "INCONSISTENT")
    with pytest.raises(SluiceError, match="SLC-020: the queue of"):
        cleared(world)


@pytest.mark.full
def test_no_table_alone_makes_a_slave_equal_whose_queue_was_cleared(world):
    world.catch_up()
    fill(world, "zurich", tables=[TableName("public", "t")])
    world.master.execute("INSERT INTO other VALUES (1)")
    world.publish()
    cleared(world)
    with pytest.raises(SluiceError, match="SLC-196"):
        inhibit(world.context, "flights", ["zurich"], InhibitRequest(tables=[TableName("public", "t")]))


@pytest.mark.full
def test_a_slave_that_is_away_needs_not_be_asked(world, monkeypatch):
    def away(*_):
        raise TransientError(30, "it does not answer", "start it")

    monkeypatch.setattr("sluice.vendors.postgresql.slave.PostgresSlave.take_over", away)
    assert cleared(world) == 2
    assert world.status("zurich") == "INCONSISTENT"


@pytest.mark.full
def test_it_is_refused_where_nothing_waits_or_an_update_is_under_way(world):
    world.catch_up()
    with pytest.raises(SluiceError, match=r"SLC-020: .* no transaction waits"):
        cleared(world)
    assert world.status("zurich") == "NORMAL"
    replications.request(world.context.store, [world.pair("geneva")], 77)
    world.master.execute("INSERT INTO t VALUES (3)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-020: .* is INITIAL"):
        cleared(world, "geneva")
