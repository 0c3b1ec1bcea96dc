"""What a slave is not told of tables that it does not get, and what it is told of one that becomes such a table."""

from __future__ import annotations

import json

import pyarrow as pa

from sluice.changelog.schema import CHANGES, NO_LAYOUT
from sluice.drain.excluded_tables import without_excluded_tables
from sluice.drain.parsed_ddl import parsed_ddl
from sluice.model.table_definition import TableChange

GIVEN, EXCLUDED = 1, 2


def table(name):
    return {"schema": "public", "table": name, "columns": [], "key": []}


def renamed(before, after):
    return json.dumps({"before": table(before), "after": table(after), "statement": f"ALTER TABLE {before} ..."})


def left(*rows):
    """Changes, each as (action, layout, text) -> the same of those that are left, and their keys."""
    names = ("action", "layout")
    body = [
        {"ordinal": 1, "trans_key": "7", "repl_key": key} | dict(zip(names, row, strict=False)) | {"new": [row[2]]}
        for key, row in enumerate(rows)
    ]
    changes = pa.Table.from_pylist(body, CHANGES)
    given = lambda name: not name.table.startswith("x")  # noqa: E731
    found = without_excluded_tables(changes, {EXCLUDED}, given, parsed_ddl(changes))
    assert found.schema == CHANGES
    return [(one["action"], one["layout"], one["repl_key"], *one["new"]) for one in found.to_pylist()]


def test_changes_of_what_is_excluded_go_and_all_others_stay_in_their_order():
    plain = [("I", GIVEN, "a"), ("I", EXCLUDED, "b"), ("S", NO_LAYOUT, "c"), ("T", EXCLUDED, None), ("D", GIVEN, "e")]
    assert [one[2] for one in left(*plain)] == [0, 2, 4]
    commands = [("N", EXCLUDED, "{}"), ("X", EXCLUDED, "{}"), ("A", EXCLUDED, "no json"), ("A", GIVEN, "{}")]
    assert [one[2] for one in left(*commands)] == [3]


def test_a_table_that_is_excluded_by_its_new_name_is_dropped_at_that_place():
    rows = [
        ("I", GIVEN, "a"),
        ("A", EXCLUDED, renamed("t", "x1")),
        ("I", EXCLUDED, "b"),
        ("A", EXCLUDED, renamed("x1", "x2")),
        ("A", EXCLUDED, renamed("u", "x3")),
        ("I", GIVEN, "c"),
    ]
    found = left(*rows)
    assert [one[:3] for one in found] == [
        ("I", GIVEN, 0),
        ("X", NO_LAYOUT, 1),
        ("X", NO_LAYOUT, 4),
        ("I", GIVEN, 5),
    ]
    changes = [TableChange.from_json(found[place][3]) for place in (1, 2)]
    assert [(str(one.before.name), one.after) for one in changes] == [("public.t", None), ("public.u", None)]
