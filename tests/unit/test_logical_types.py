"""Logical types: which name in the log is which, and which texts are canonical."""

from __future__ import annotations

import pytest
from support.logical import VALUES
from support.values import GROUPS

from sluice.model.logical_type import Kind, LogicalType, logical_type
from sluice.values.canonical_text import is_canonical

NAMED = {
    "boolean": LogicalType(Kind.BOOLEAN),
    "smallint": LogicalType(Kind.INTEGER, 16),
    "numeric": LogicalType(Kind.DECIMAL),
    "numeric(9,2)": LogicalType(Kind.DECIMAL, 9, 2),
    "double precision": LogicalType(Kind.FLOAT, 64),
    "character varying(9)": LogicalType(Kind.TEXT, 9),
    "character(9)": LogicalType(Kind.TEXT, 9, native="character"),
    "timestamp(3) with time zone": LogicalType(Kind.TIMESTAMP_WITH_ZONE, 3),
    "time without time zone": LogicalType(Kind.TIME),
    "interval day to second(2)": LogicalType(Kind.INTERVAL, 2, native="day to second"),
    "bit varying(3)": LogicalType(Kind.BIT, 3),
    "integer[]": LogicalType(Kind.ARRAY, element=LogicalType(Kind.INTEGER, 32), native="integer[]"),
    "public.mood": LogicalType(Kind.OTHER, native="public.mood"),
    "numeric(3,-2)": LogicalType(Kind.OTHER, native="numeric(3,-2)"),
    "inet": LogicalType(Kind.OTHER, native="inet"),
}
ODD = {
    "boolean": ["true", "1", ""],
    "integer": ["+1", "01", "1.0", "-0", " 1"],
    "numeric": ["1e5", ".5", "1.", "nan", "+1", "00"],
    "double precision": ["inf", ".5", "1E5"],
    "text": ["a\0b"],
    "bytea": ["00ff", "\\xFF", "\\x0"],
    "date": ["24-1-1", "01/02/2024", "2024-01-01 AD"],
    "timestamp without time zone": ["2024-01-01T00:00:00", "2024-01-01 00:00:00+00", "2024-01-01 00:00:00.1234567"],
    "timestamp with time zone": ["2024-01-01 00:00:00", "2024-01-01 00:00:00+01", "2024-01-01 00:00:00Z"],
    "interval": ["", "P1Y", "1 year ago"],
    "uuid": ["{00000000-0000-0000-0000-000000000000}", "FFFFFFFF-ffff-ffff-ffff-ffffffffffff"],
    "bit varying": ["2", "0x1"],
    "integer[]": ["[1,2]", "1,2"],
}


@pytest.mark.parametrize(("name", "kind"), NAMED.items(), ids=NAMED)
def test_a_name_of_the_log_is_one_type(name, kind):
    assert logical_type(name) == kind


@pytest.mark.parametrize("name", VALUES)
def test_texts_of_the_value_matrix_are_canonical(name):
    assert not [text for text in VALUES[name] if not is_canonical(logical_type(name), text)]


@pytest.mark.parametrize("name", ODD)
def test_other_texts_for_a_value_are_not_canonical(name):
    assert not [text for text in ODD[name] if is_canonical(logical_type(name), text)]


@pytest.mark.parametrize("name", sorted({kind for group in GROUPS.values() for kind in group} | NAMED.keys()))
def test_a_type_holds_itself_and_no_other_vendors_type_is_taken_for_a_known_one(name):
    kind = logical_type(name)
    assert kind.holds(kind)
    other = LogicalType(Kind.OTHER, native="elsewhere")
    assert not kind.holds(other)
    assert not other.holds(kind)
