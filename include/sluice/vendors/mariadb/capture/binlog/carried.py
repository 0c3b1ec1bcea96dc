"""Commands of the stream, made of definitions that were derived from statements of the log (R7).

A command has definitions before and after it, and never the text of the statement: no slave executes that, and what a
session of the master wrote may hold values.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors import table_commands
from sluice.vendors.mariadb.capture.binlog import derivation
from sluice.vendors.mariadb.capture.binlog.alterations import Does
from sluice.vendors.mariadb.capture.binlog.definitions import Definition
from sluice.vendors.mariadb.capture.binlog.derivation import Derived
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.layouts import REBASE, Layouts, UnclearTable, unclear
from sluice.vendors.mariadb.capture.binlog.statements import (
    NotUnderstood,
    is_read_as_written,
    is_strict,
    keeps_zeros,
)

# Why a table is left out from its first row on.
NOT_MADE = (
    "SLC-446: {} was made in a way that is not carried out on slaves, such as LIKE, with a generated column, or with a "
    "type that is not known"
)


class Sent(NamedTuple):
    """A command for the stream."""

    action: Action
    text: str


def followed(
    layouts: Layouts, name: TableName, does: Does, said: Definition, query: Query
) -> tuple[Layout | None, Sent | None]:
    """How a table is behind a definition, and what goes into the stream; None if it has no rows and that is not known.

    Raises:
        UnclearTable: SLC-446, rows that are there already would have values that are not known.
    """
    if not layouts.carried:
        return None, None
    layout = layouts.current.get(name)
    if layout is not None and (does is Does.EMPTIED or (said.creates and does is Does.ALTERED)):
        # Its columns are as they were.
        return None if name in layouts.altered else layout, None
    if said.creates:
        return _made(layouts, name, said, query)
    if layout is None or does is Does.GONE:
        return None, None
    try:
        derived = _derived_behind(layouts, layout, said, query)
    except NotUnderstood as error:
        raise _not_followed(layout, str(error), query.short) from None
    after = derived.layout(_number_behind(layout), name)
    if (after.columns, after.key) == (layout.columns, layout.key):
        return replace(layout, columns=after.columns), None
    return after, Sent(Action.ALTER, of_alter(layout, after, derived))


def expect_values_kept(layouts: Layouts, layout: Layout, said: Definition, query: Query) -> None:
    """Raises UnclearTable SLC-446, the values of rows may be others behind this, without a word in the log."""
    try:
        _derived_behind(layouts, layout, said, query)
    except NotUnderstood as error:
        raise unclear(layout.name, f"an ALTER may have changed values: {error}: {query.short}", "") from None


def _made(layouts: Layouts, name: TableName, said: Definition, query: Query) -> tuple[Layout | None, Sent | None]:
    """The table of a CREATE, if it is followed."""
    try:
        if said.rest is None or not is_read_as_written(query):
            raise NotUnderstood("it is not certain how the server has read it")
        made = derivation.created(said.rest).layout(_number_behind(layouts.current.get(name)), name)
    except NotUnderstood as error:
        event("a table is not made on slaves", table=name, why=error)
        return None, None
    return (made, Sent(Action.CREATE, table_commands.create(made))) if layouts.is_table(name) else (None, None)


def _derived_behind(layouts: Layouts, layout: Layout, said: Definition, query: Query) -> Derived:
    """A table behind an ALTER. Raises NotUnderstood, that is not certain, or values of rows may be others behind it."""
    if said.rest is None or layout.name in layouts.altered or not is_read_as_written(query):
        raise NotUnderstood("it is not certain how the server has read it, or how the table was before")
    how = derivation.Reading(
        strict=is_strict(query), keeps_zeros=keeps_zeros(query), has_documents=query.server.has_documents
    )
    return derivation.altered(layout, said.rest, how)


def _number_behind(before: Layout | None) -> int:
    """The number of a layout that follows another one."""
    return max(time.time_ns(), before.id + 1 if before else 0)


def of_alter(before: Layout, after: Layout, derived: Derived) -> str:
    """The text of an ALTER, with columns that were derived."""
    was = [one.was for one in derived.columns]
    return table_commands.alter(
        before, after, was, [one.filled if one.was is None else None for one in derived.columns]
    )


def _not_followed(layout: Layout, why: str, statement: str) -> UnclearTable:
    """An ALTER whose effect on rows that are there already is not certain."""
    error = SluiceError(
        446,
        f"an ALTER of {layout.name} in the binary log cannot be carried out on slaves: {why}: {statement}",
        f"{REBASE}. With `detect_ddl: false` for the source no ALTER is carried out, and you alter the slaves by hand",
    )
    return UnclearTable(layout.name, error)
