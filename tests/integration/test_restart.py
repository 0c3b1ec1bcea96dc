"""Restart: slaves are filled again with the choices of their last initial update."""

from __future__ import annotations

import pytest

from sluice.cli.parser import main
from sluice.commands.restart import expect_fillable, last_choices
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.state.dispatcher import Hold
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(updating):
    return updating(
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)", ["public.t", "public.u"]
    )


@pytest.mark.full
def test_the_choices_of_the_last_update_are_those_of_the_next_one(world, monkeypatch, capsys):
    assert expect_fillable(world.context, "flights") == [({}, ["zurich", "geneva"])]
    world.inhibit("zurich", mode="online")
    world.dump("zurich", mode="online", resume=True)
    with pytest.raises(SluiceError, match=r"SLC-020: .* is INITIAL"):
        expect_fillable(world.context, "flights", ["zurich"])
    world.release("zurich")
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.CANCEL)
    assert last_choices(world.context, world.pair("zurich")) == {"mode": "online"}
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    assert main(["restart", "flights"]) == 1
    said = capsys.readouterr().out
    assert "zurich would be filled again, with mode=online.\ngeneva would be filled again.\n" in said
    assert "restart flights --yes" in said


@pytest.mark.full
def test_some_tables_alone_are_filled_again_as_the_last_time(world):
    world.update("zurich")
    world.verify("zurich", initial=True)
    with world.running():
        world.inhibit("zurich", tables=[TableName("public", "t")])
        world.dump("zurich")
    world.release("zurich")
    world.verify("zurich", initial=True)
    assert last_choices(world.context, world.pair("zurich")) == {"tables": ["public.t"]}


def test_a_slave_that_a_person_holds_is_not_filled(world):
    replications.shut(world.context.store, world.pair("geneva"), Hold.ADMIN, "paused", "eva")
    with pytest.raises(SluiceError, match=r"SLC-020: .* eva put it on standby"):
        expect_fillable(world.context, "flights")
