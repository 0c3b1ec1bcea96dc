"""Commands of the stream, made of definitions that were derived from statements of the log (R7).

A command has definitions before and after it, and never the text of the statement: no slave executes that, and what a
session of the master wrote may hold values.
"""

from __future__ import annotations

import time

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
from sluice.vendors.table_commands import alter


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
    how = derivation.Reading(
        strict=is_strict(query), keeps_zeros=keeps_zeros(query), has_documents=query.server.has_documents
    )
    return derivation.altered(layout, said.rest, how)


def number_behind(before: Layout | None) -> int:
    """The number of a layout that follows another one."""
    return max(time.time_ns(), before.id + 1 if before else 0)


def of_alter(before: Layout, after: Layout, derived: Derived) -> str:
    """The text of an ALTER, with columns that were derived."""
    was = [one.was for one in derived.columns]
    return alter(before, after, was, [one.filled if one.was is None else None for one in derived.columns])


def not_followed(layout: Layout, why: str, statement: str) -> SluiceError:
    """An ALTER whose effect on rows that are there already is not certain."""
    return SluiceError(
        605,
        f"an ALTER of {layout.name} in the binary log cannot be carried out on slaves: {why}: {statement}",
        f"{REBASE}. With `detect_ddl: false` for the source no ALTER is carried out, and you alter the slaves by hand",
    )
