"""Whether values of rows are the same behind an ALTER: the log has no word of those that the server bends."""

from __future__ import annotations

import re

from sluice.model.layout import Column
from sluice.model.logical_type import Kind, logical_type
from sluice.vendors.mariadb.capture.binlog.column_words import SaidColumn
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood

# Types that bend values of others, or of their own with another size, without an error.
_BENDING = {"char", "year", "binary", "inet4", "inet6"}
_FINEST = 6
# The bytes of texts, and of a sign at most.
_SIZES = {"tinytext": 255, "text": 65_535, "mediumtext": 16_777_215}
_SIGN = 4
# Kinds whose wider types hold all values.
_WIDENED = {Kind.INTEGER, Kind.DECIMAL, Kind.TEXT}
_VARYING = re.compile(r"character varying\((\d+)\)")


def expect_kept(before: Column, said: SaidColumn) -> None:
    """See that each value has the same text behind a change, or one that a cast gives. Raises NotUnderstood."""
    if said.kind in _SIZES and not _holds_signs(before, _SIZES[said.kind]):
        # Blanks at the end are cut without an error, and the log does not say how long a text may be.
        raise NotUnderstood(f"it may have cut blanks of {before.name}")
    if said.kind in ("enum", "set") and not _has_members(before, said):
        # A member that is not there any more may be taken for the number of another one, and case may not count.
        raise NotUnderstood(f"{said.name} may not have all members of {before.name} where they were")
    if said.kind in _BENDING or (said.kind in ("time", "datetime", "timestamp") and _is_coarser(before, said)):
        raise NotUnderstood(f"it may have changed values of {before.name}")
    if before.type == said.type or _widened(before.type, said.type):
        return
    raise NotUnderstood(f"values of {before.name} may be others as {said.type}")


def expect_no_moments(before: Column) -> None:
    """A TIMESTAMP that may be NULL no more gets the time of now, with no error, where the table is copied. Raises
    NotUnderstood.
    """
    if not before.not_null and logical_type(before.type).kind is Kind.TIMESTAMP_WITH_ZONE:
        raise NotUnderstood(f"NULL in {before.name} may have become the time of the ALTER")


def _has_members(before: Column, said: SaidColumn) -> bool:
    return bool(before.members) and said.members[: len(before.members)] == before.members


def _is_coarser(before: Column, said: SaidColumn) -> bool:
    """Whether fractions of seconds may be cut; the log does not say how many digits a TIME had."""
    return said.digits < _FINEST if said.kind == "time" else before.type != said.type and said.digits < _FINEST


def _holds_signs(before: Column, size: int) -> bool:
    length = _VARYING.fullmatch(before.type)
    return length is not None and int(length[1]) * _SIGN <= size


def _widened(before: str, after: str) -> bool:
    old, new = logical_type(before), logical_type(after)
    return old.kind is new.kind and old.kind in _WIDENED and new.holds(old)
