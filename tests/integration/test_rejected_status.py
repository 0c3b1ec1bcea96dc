"""Rejected changes as pages show them: values that are not shown are not read, and long ones are cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.pages import REJECTED

from sluice.monitor.rejected_status import read_kept
from sluice.store import rejected_changes

pytestmark = [pytest.mark.postgres]

LONG = "ä" * 3_000
CUT = "ä" * 2_000 + "…"


def test_values_are_cut_and_read_for_those_alone_who_may_see_them(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    store, pair = world.context.store, world.pair("zurich")
    changes = [
        replace(REJECTED, new=[LONG], old=[None]),
        replace(REJECTED, repl_key=42, layout=None, action="S", new=[LONG], old=None),
        replace(REJECTED, repl_key=43, action="D", new=None, old=['\n\\"']),
    ]
    rejected_changes.keep(store, pair, changes)
    shown = read_kept(world.context, pair, 0, values=True)
    assert [(one.new, one.old, one.command) for one in shown.rows] == [
        ({"id": CUT}, {"id": None}, None),
        (None, None, CUT),
        (None, {"id": '\n\\"'}, None),
    ]
    masked = read_kept(world.context, pair, 0, values=False)
    assert {(one.new, one.old, one.command) for one in masked.rows} == {(None, None, None)}
    assert [one.number for one in read_kept(world.context, pair, 1, values=True).rows] == [2, 3]
    read = rejected_changes.page(store, pair, 10, 0, letters=0)
    assert {(one.change.new, one.change.old) for one in read} == {(None, None)}
    assert [one.change.new for one in rejected_changes.list_changes(store, pair)] == [[LONG], [LONG], None]
