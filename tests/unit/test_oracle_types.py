"""Types of Oracle: which logical type holds each, and the canonical text of what the server gives of a value (R7)."""

from __future__ import annotations

import re

import pytest
from support.oracle import COLUMNS
from support.oracle_values import VALUES

from sluice.errors import SluiceError
from sluice.model.logical_type import logical_type
from sluice.model.names import TableName
from sluice.values.canonical_text import is_canonical
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.types import Captured, NotCaptured, captured
from sluice.vendors.oracle.values import canonical

REFUSED = {
    "BFILE": OracleColumn("C", "BFILE", length=530),
    "VECTOR": OracleColumn("C", "VECTOR", length=8200),
    "an object": OracleColumn("C", "ADDRESS", type_owner="APP"),
    "a collection": OracleColumn("C", "NUMBERS", type_owner="APP"),
    "ANYDATA": OracleColumn("C", "ANYDATA", type_owner="SYS"),
    "SDO_GEOMETRY": OracleColumn("C", "SDO_GEOMETRY", type_owner="MDSYS"),
    "a type to come": OracleColumn("C", "QUATERNION"),
}
NO_VALUES = {
    "NUMBER(10,2)": ("1.005", "1.005 has more than 2 digits behind the point"),
    "NUMBER": ("1,5", "'1,5' is no number"),
    "FLOAT(126)": ("NaN", "'NaN' is no number"),
    "NUMBER(9)": ("1_0", "'1_0' is no number"),
    "DATE": ("01-JAN-24", "'01-JAN-24' is no moment"),
    "INTERVAL YEAR(2) TO MONTH": ("1_0", "'1_0' is no number of months"),
    "INTERVAL DAY(2) TO SECOND(6)": ("0 86400", "'0 86400' is no interval of days and seconds"),
    "INTERVAL DAY(9) TO SECOND(9)": ("+01 02:03:04", "'+01 02:03:04' is no interval of days and seconds"),
    "BINARY_DOUBLE": ("0.1", "'0.1' has not 64 bits"),
    "BINARY_FLOAT": ("3DCC", "'3DCC' has not 32 bits"),
}


def how(kind: str) -> Captured:
    found = captured(COLUMNS[kind])
    assert isinstance(found, Captured)
    return found


def test_every_type_has_values():
    assert COLUMNS.keys() == VALUES.keys()


@pytest.mark.parametrize("kind", VALUES)
def test_a_type_has_one_logical_type_and_its_values_one_text(kind):
    name, pairs = VALUES[kind]
    assert how(kind).type == name
    text = canonical(how(kind))
    assert [text(given) for given, _ in pairs] == [meant for _, meant in pairs]
    # What no logical type keeps exactly is a text.
    assert [meant for _, meant in pairs if not is_canonical(logical_type(name), meant)] == []


@pytest.mark.parametrize("kind", NO_VALUES)
def test_what_is_no_value_of_a_type_is_not_taken_for_one(kind):
    given, why = NO_VALUES[kind]
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        canonical(how(kind))(given)


@pytest.mark.parametrize("kind", REFUSED)
def test_a_type_that_no_other_database_holds_is_refused_with_its_reason(kind):
    column = REFUSED[kind]
    found = captured(column)
    assert isinstance(found, NotCaptured)
    assert column.type in found.why
    with pytest.raises(SluiceError) as error:
        _ = CapturedTable(TableName("APP", "T"), 1, (column,)).kinds
    assert error.value.code == 477


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        *(
            (COLUMNS[kind], kind)
            for kind in COLUMNS
            if kind.startswith(("VARCHAR", "N", "CHAR", "RAW", "TIME")) and "," in kind
        ),
        (COLUMNS["CHAR(5 BYTE)"], "CHAR(5 BYTE)"),
        (COLUMNS["NVARCHAR2(40)"], "NVARCHAR2(40)"),
        (COLUMNS["NUMBER(4)"], "NUMBER(4,0)"),
        (COLUMNS["NUMBER"], "NUMBER"),
        (COLUMNS["FLOAT(126)"], "FLOAT(126)"),
        (COLUMNS["RAW(16)"], "RAW(16)"),
        (COLUMNS["XMLTYPE"], "SYS.XMLTYPE"),
    ],
)
def test_errors_name_a_type_as_it_was_declared(column, declared):
    assert column.declared == declared
