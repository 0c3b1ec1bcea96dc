"""A batch as steps: commands stand between the runs that they part."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sluice.changelog.schema import CHANGES, NO_LAYOUT
from sluice.drain.parsed_ddl import parsed_ddl
from sluice.drain.plan import steps
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

BEFORE = Layout(1, TableName("public", "planes"), (Column("tailnum", "text"),), (0,))
AFTER = Layout(5, TableName("public", "planes"), (Column("tailnum", "text"), Column("owner", "text")), (0,))


def batch(*changes: tuple[int, str, list[str] | None]) -> pa.Table:
    rows = [
        {"ordinal": 1, "trans_key": "700", "repl_key": key, "layout": layout, "action": action, "new": new, "old": None}
        for key, (layout, action, new) in enumerate(changes)
    ]
    return pa.Table.from_pylist(rows, schema=CHANGES)


def test_a_command_parts_what_came_before_from_what_comes_after() -> None:
    changes = batch((1, "I", ["N1"]), (5, "A", ["ALTER"]), (5, "I", ["N2", "Anna"]))
    first, command, second = steps(changes, {1: BEFORE, 5: AFTER})
    assert command == Command(Action.ALTER, AFTER, "ALTER", 1, 1)
    assert not isinstance(first, Command)
    assert not isinstance(second, Command)
    assert [first[0].layout, second[0].layout] == [BEFORE, AFTER]


def test_commands_alone_leave_no_empty_run() -> None:
    changes = batch((NO_LAYOUT, "S", ["first"]), (NO_LAYOUT, "S", ["second"]), (NO_LAYOUT, "C", None))
    assert list(steps(changes, {})) == [
        Command(Action.STATEMENT, None, text, 1, key) for key, text in enumerate(("first", "second"))
    ]


def test_an_alter_without_a_command_still_begins_a_new_run() -> None:
    changes = batch((1, "I", ["N1"]), (5, "I", ["N2", "Anna"]))
    assert len(list(steps(changes, {1: BEFORE, 5: AFTER}))) == 2


def test_what_a_command_says_is_read_once_and_goes_with_it() -> None:
    text = '{"after": {"schema": "public", "table": "planes", "columns": [], "key": []}}'
    changes = batch((5, "A", [text]), (NO_LAYOUT, "S", [text]), (5, "X", ["no description"]))
    ddl = parsed_ddl(changes)
    altered, stated, odd = steps(changes, {5: AFTER}, ddl)
    assert isinstance(altered, Command)
    assert altered.change is ddl.change(text) is altered.table_change() is not None
    assert isinstance(stated, Command)
    assert stated.change is None
    assert isinstance(odd, Command)
    assert odd.change is None
    with pytest.raises(ValueError, match="no description of a table"):
        odd.table_change()
