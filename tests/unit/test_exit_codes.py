"""What a script is told by an exit code, and a person beside it: 0 if every slave is well, else 1."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.cli import commands, status
from sluice.monitor.status import HoldReason, ReplicationStatus
from sluice.state.condition import ReplicationCondition
from sluice.state.dispatcher import Dispatcher, Hold
from sluice.state.replication import Status

WELL = ReplicationStatus(
    source="flights", slave="zurich", status=Status.NORMAL, colour="green", dispatcher=Dispatcher.ACTIVE, why="",
    position="1/1", holdback=0, lag_s=0, loaded="", tolerated=0, compared=10, different=0,
)  # fmt: skip
LACKING = "public.t is not captured.\nHINT: type: ./sluice trigger bootstrap"
# What a slave has that is in a condition.
FOUND = {
    ReplicationCondition.INCONSISTENT: {"status": Status.INCONSISTENT},
    ReplicationCondition.STOPPED: {"holds": [HoldReason(Hold.EXCEPTION, "drain", "SLC-140", None)]},
    ReplicationCondition.QUESTION: {"holds": [HoldReason(Hold.APPROVAL, "drain", "ALTER TABLE", None)]},
    ReplicationCondition.UNREACHABLE: {"answers": False},
    ReplicationCondition.FILES: {"awaits_files": True},
    ReplicationCondition.DIFFERENT: {"differing": {"public.t": 1}},
    ReplicationCondition.INCOMPLETE: {"unwatched": [LACKING], "lacking": [LACKING]},
    ReplicationCondition.DOUBTFUL: {"differing": {"public.t": 0}},
    ReplicationCondition.UNPUBLISHED: {"publishing": "nothing is published: its DAG is paused"},
    ReplicationCondition.UNCONFIGURED: {"status": Status.UNCONFIGURED},
    ReplicationCondition.STANDBY: {"dispatcher": "STANDBY (ADMIN)"},
    ReplicationCondition.FILLED: {"status": Status.INITIAL},
    ReplicationCondition.CATCHING_UP: {"status": Status.TRANSITION},
    ReplicationCondition.LATE: {"late": True},
    ReplicationCondition.WELL: {},
}


@pytest.mark.parametrize("condition", ReplicationCondition)
def test_a_condition_that_is_not_well_ends_status_and_dispatcher_with_1(condition, monkeypatch, capsys):
    row = replace(WELL, **FOUND[condition])
    row = replace(row, condition=next(each for each, holds in row.conditions() if holds))
    assert row.condition is condition
    monkeypatch.setattr("sluice.monitor.status.statuses", lambda *_: [WELL, row])
    for module in (commands, status):
        monkeypatch.setattr(module, "_context", lambda: None)
    code = int(condition is not ReplicationCondition.WELL)
    assert (status.show_status(as_json=True), status.show_status(as_json=False)) == (code, code)
    assert str(condition) in capsys.readouterr().out
    monkeypatch.setattr("sluice.monitor.status.statuses", lambda *_: [row])
    assert commands.show_dispatcher("flights", "zurich") == code
    assert capsys.readouterr().out.splitlines()[1:] == [
        *row.publishing.splitlines(),
        *LACKING.splitlines() * len(row.lacking),
    ]
