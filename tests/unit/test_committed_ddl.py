"""A command that was begun is executed, finished, left out or held, as the catalog says (R3)."""

from __future__ import annotations

import json

import pytest

from sluice.errors import SluiceError
from sluice.model.action import Action, Command
from sluice.model.names import Pair, TableName
from sluice.model.position import PartWay
from sluice.vendors.committed_ddl import CommittedDdl, Intent, Plan, key_of

T = TableName("s", "t")
WAS, BECOMES, OTHER = ({key_of(T): rows} for rows in ([["a", "int"]], [["a", "int"], ["b", "int"]], None))
ALTER = json.dumps({side: {"schema": "s", "table": "t", "columns": [], "key": []} for side in ("before", "after")})


class Commands(CommittedDdl):
    """One table in a catalog that a test sets."""

    def __init__(self, now):
        super().__init__(Pair("shop", "basel"))
        self.now = now

    def planned(self, change, existing):
        """See `CommittedDdl`."""
        return Plan(("alter",), (WAS,), BECOMES, ("finish",))

    def finishing(self, change):
        """See `CommittedDdl`."""
        return ("finish",)

    def state(self, tables):
        """See `CommittedDdl`."""
        return self.now

    def execute(self, plan, intent, epoch):
        """See `CommittedDdl`."""

    def is_at(self, end):
        """See `CommittedDdl`."""


def command(key=7):
    return Command(Action.ALTER, None, ALTER, 3, key)


def test_a_command_is_intended_and_is_not_met_again_once_it_is_done():
    commands = Commands(WAS)
    plan, intent = commands.due(command())
    assert (plan.statements, intent.place, intent.done) == (("alter",), PartWay(3, 7), 0)
    assert commands.part_way() is None
    commands.intent = intent
    commands.done()
    assert commands.part_way() == PartWay(3, 7)
    commands.begin_batch()
    assert commands.due(command()) is None
    assert commands.due(command())[1].done == 1
    assert commands.due(command(8))[1].place == PartWay(3, 8)


@pytest.mark.parametrize(("now", "executed"), [(WAS, ("alter",)), (BECOMES, ())])
def test_the_catalog_alone_says_whether_one_that_was_begun_was_executed(now, executed):
    commands = Commands(now)
    commands.intent = Intent.from_json(Intent(3, 7, 0, (WAS,), BECOMES).to_json())
    plan, intent = commands.due(command())
    assert (plan.statements, plan.finishing, intent.after) == (executed, ("finish",), BECOMES)


def test_one_of_which_nobody_can_tell_is_held():
    commands = Commands(OTHER)
    commands.intent = Intent(3, 7, 0, (WAS,), BECOMES)
    with pytest.raises(SluiceError, match=r"SLC-565: .*there is s\.t \(is not there\); before it s\.t \(a int\)"):
        commands.due(command())


def test_a_command_that_nobody_wrote_is_refused():
    with pytest.raises(SluiceError, match=r"SLC-068: .* not one that Sluice wrote"):
        Commands(WAS).due(Command(Action.DROP, None, "{}", 3, 7))
