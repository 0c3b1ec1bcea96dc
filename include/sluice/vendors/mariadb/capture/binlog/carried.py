"""Commands of the stream, made of definitions that were derived from statements of the log (R7).

A command has definitions before and after it, and never the text of the statement: no slave executes that, and what a
session of the master wrote may hold values.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from sluice.errors import SluiceError
from sluice.model.layout import Layout
from sluice.vendors.mariadb.capture.binlog import derivation
from sluice.vendors.mariadb.capture.binlog.definitions import Definition
from sluice.vendors.mariadb.capture.binlog.derivation import Derived
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.layouts import REBASE
from sluice.vendors.mariadb.capture.binlog.statements import (
    NotUnderstood,
    is_read_as_written,
    is_strict,
    keeps_zeros,
)


def created_by(said: Definition, query: Query) -> Derived:
    """The table of a CREATE. Raises NotUnderstood."""
    if said.rest is None or not is_read_as_written(query):
        raise NotUnderstood("it is not certain how the server has read it")
    return derivation.created(said.rest)


def derived_behind(layout: Layout, said: Definition, query: Query, *, is_known: bool) -> Derived:
    """A table behind an ALTER.

    Args:
        is_known: the layout is how the table is in front of it.

    Raises:
        NotUnderstood: that is not certain, or values of rows may be others behind it.
    """
    if said.rest is None or not is_known or not is_read_as_written(query):
        raise NotUnderstood("it is not certain how the server has read it, or how the table was before")
    return derivation.altered(layout, said.rest, strict=is_strict(query), keeps_zeros=keeps_zeros(query))


def number_behind(before: Layout | None) -> int:
    """The number of a layout that follows another one."""
    return max(time.time_ns(), before.id + 1 if before else 0)


def of_create(after: Layout) -> str:
    """The text of a CREATE."""
    return json.dumps({"after": _table(after, list(range(1, len(after.columns) + 1)))})


def of_drop(before: Layout) -> str:
    """The text of a DROP."""
    return json.dumps({"before": _table(before, list(range(1, len(before.columns) + 1)))})


def of_alter(before: Layout, after: Layout, derived: Derived | None = None) -> str:
    """The text of an ALTER; without derived columns they stay, and the name is another one."""
    places = {one.name: number for number, one in enumerate(before.columns, 1)}
    if derived is None:
        same = list(range(1, len(before.columns) + 1))
        return json.dumps({"before": _table(before, same), "after": _table(after, same)})
    # A number means a column within one command.
    numbers = [
        len(places) + place if one.was is None else places[one.was] for place, one in enumerate(derived.columns, 1)
    ]
    filled = [one.filled if one.was is None else None for one in derived.columns]
    return json.dumps(
        {"before": _table(before, list(places.values())), "after": _table(after, numbers, filled)},
    )


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


def not_followed(layout: Layout, why: str, statement: str) -> SluiceError:
    """An ALTER whose effect on rows that are there already is not certain."""
    return SluiceError(
        605,
        f"an ALTER of {layout.name} in the binary log cannot be carried out on slaves: {why}: {statement}",
        f"{REBASE}. With `detect_ddl: false` for the source no ALTER is carried out, and you alter the slaves by hand",
    )
