"""Row images by the columns of a layout, of what a decoder gives by the columns that a statement names."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from sluice.arrow_rows import row_lists
from sluice.changelog.schema import ROW
from sluice.errors import SluiceError, StrangeSource
from sluice.model.action import Action
from sluice.vendors.gaussdb.capture.slot.records import Field, Form
from sluice.vendors.gaussdb.catalog.tables import Described

# Two spellings of one type, by the function that prints them with and without modifiers.
_ALIKE = {"bpchar": "character", "varchar": "character varying"}
_INTERVAL = re.compile(r"interval\b.*")


def images(form: Form, table: Described, new: pa.ListArray, old: pa.ListArray) -> tuple[pa.Array, pa.Array]:
    """The new and the old images of changes of one form, with the columns of the table in their order.

    Raises:
        StrangeSource: SLC-404, the log has other columns than were recorded.
        SluiceError: SLC-405, a value is neither in the new image nor in the old one.
    """
    _expect_fit(form, table)
    count = len(new)
    names = [column.name for column in table.layout.columns]
    before = _columns(form.old, old, count)
    after: pa.Array = pa.nulls(count, ROW)
    if form.action in (Action.INSERT, Action.UPDATE):
        values = _columns(form.new, new, count)
        for field in form.unchanged:
            if field.name not in before:
                raise SluiceError(
                    405,
                    f"an update of {table.name} left {field.name} alone, and the log does not have its value",
                    "nothing of it was published. The replica identity of the table is not FULL, or was not when this "
                    "was written: trigger the DAG bootstrap with rebase, then initial_update for all slaves",
                )
            values[field.name] = before[field.name]
        if missing := [name for name in names if name not in values]:
            raise _altered(table, f"a new row without {', '.join(missing)}")
        after = row_lists([values[name] for name in names], count) if names else _empty(count)
    if form.action not in (Action.UPDATE, Action.DELETE):
        return after, pa.nulls(count, ROW)
    # What an old image leaves out is NULL.
    nothing = pa.nulls(count, pa.string())
    return after, row_lists([before.get(name, nothing) for name in names], count)


def _expect_fit(form: Form, table: Described) -> None:
    known = {column.name: plain for column, plain in zip(table.layout.columns, table.plain, strict=True)}
    for field in (*(form.new or ()), *(form.old or ()), *form.unchanged):
        if field.name not in known:
            raise _altered(table, f"a column {field.name}")
        if isinstance(field.type, str) and _type(field.type) != _type(known[field.name]):
            raise _altered(table, f"{field.name} as {field.type}")


def _altered(table: Described, has: str) -> StrangeSource:
    columns = ", ".join(f"{column.name} {column.type}" for column in table.layout.columns)
    return altered(f"the log has {has} of {table.name}, and recorded are {columns}")


def altered(fact: str) -> StrangeSource:
    """The error for a table that is not what is recorded of it."""
    return StrangeSource(
        404,
        fact,
        "what was published stays in the change log; rows since then are in the slot until bootstrap makes it anew. "
        "Trigger the DAG bootstrap with rebase, then initial_update for all slaves of this source",
    )


def _type(name: str) -> str:
    bare = _INTERVAL.sub("interval", re.sub(r"\([^)]*\)", "", name))
    return _ALIKE.get(bare, bare)


def _columns(fields: tuple[Field, ...] | None, rows: pa.ListArray, count: int) -> dict[str, pa.StringArray]:
    """The values of each column that the image has."""
    if not fields:
        return {}
    values, width = rows.flatten(), len(fields)
    return {field.name: values.take(pa.array(np.arange(count) * width + place)) for place, field in enumerate(fields)}


def _empty(count: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
