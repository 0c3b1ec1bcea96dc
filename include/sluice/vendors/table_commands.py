"""Commands of the stream, made of the layouts of a table before and after them. See "Commands" in ddl.md.

A command has the types of the log, and no text of the master that a slave would execute.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sluice.model.layout import Layout


def create(after: Layout) -> str:
    """The text of a CREATE."""
    return json.dumps({"after": _table(after, _counted(after))})


def drop(before: Layout) -> str:
    """The text of a DROP."""
    return json.dumps({"before": _table(before, _counted(before))})


def alter(before: Layout, after: Layout, was: Sequence[str | None], filled: Sequence[str | None]) -> str:
    """The text of an ALTER of columns.

    Args:
        was: the former name of each column behind it; None of a new one.
        filled: the value that a new one has in rows that are there already, if it has one.
    """
    places = {one.name: number for number, one in enumerate(before.columns, 1)}
    # A number means a column within one command.
    numbers = [len(places) + place if name is None else places[name] for place, name in enumerate(was, 1)]
    sides = {"before": _table(before, _counted(before)), "after": _table(after, numbers, filled)}
    return json.dumps(sides)


def _counted(layout: Layout) -> list[int]:
    return list(range(1, len(layout.columns) + 1))


def _table(layout: Layout, numbers: Sequence[int], filled: Sequence[str | None] = ()) -> dict[str, Any]:
    columns: list[dict[str, Any]] = [
        {"number": number, "name": one.name, "type": one.type, "not_null": one.not_null}
        for number, one in zip(numbers, layout.columns, strict=True)
    ]
    for one, value in zip(columns, filled, strict=False):
        if value is not None:
            one["filled"] = value
    return {
        "schema": layout.name.schema,
        "table": layout.name.table,
        "key": list(layout.key_names),
        "columns": columns,
    }
