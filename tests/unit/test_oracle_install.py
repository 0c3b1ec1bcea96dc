"""What is installed on Oracle, as statements: their order, what is there already, and each to the letter."""

from __future__ import annotations

from pathlib import Path

import oracledb
import pytest
from oracledb import errors as driver
from support.oracle import PARTS, RESOURCES

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.oracle import grants
from sluice.vendors.oracle.capture.install import COMPILED_WITH_ERRORS, expect_own, missing
from sluice.vendors.oracle.capture.triggers import CapturedTable, for_ddl, statements
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.tables import column_of, expect_plain
from sluice.vendors.oracle.catalog.tables import missing as missing_table
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import resources

GOLDEN = Path(__file__).parents[1] / "golden" / "oracle.sql"
TABLE = CapturedTable(
    TableName("APP", "Flüge"),
    4711,
    (
        OracleColumn("ID", "NUMBER", precision=9, scale=0),
        OracleColumn("it's", "NVARCHAR2", length=20, chars=10, by_char=True),
        OracleColumn("D", "DATE"),
        OracleColumn("X", "XMLTYPE", type_owner="SYS"),
        OracleColumn("L", "LONG", length=0),
    ),
    ("ID",),
)


def written() -> str:
    """Everything that is executed for one watched table, with the rights of its user."""
    made = [
        *missing(RESOURCES, [], "23.5.0.24.07").values(),
        *statements(RESOURCES, PARTS, TABLE, "IUD", old_images="key", debug=1),
        *for_ddl(RESOURCES, PARTS, "APP", 107),
        grants.script("repl", [TABLE.name]),
    ]
    return "\n/\n".join(made)


def test_the_statements_are_those_that_were_reviewed():
    assert written() == GOLDEN.read_text(encoding="utf-8")


def test_what_is_there_is_not_made_again_but_functions_are():
    there = [("TABLE", "REPL_ITEMS", "VALID"), ("SEQUENCE", "REPL_SEQ", "VALID"), ("JOB", "REPL_JOB", "VALID")]
    there += [("INDEX", "REPL_ITEMS_TRANSACTIONS", "VALID"), ("FUNCTION", "REPL_COL2XML", "INVALID")]
    made, all_ = missing(RESOURCES, there, "12.1.0.2.0"), missing(RESOURCES, [], "23.5.0")
    gone = {name.rpartition("/")[2] for name in all_.keys() - made.keys()}
    assert gone == {"010_seq", "020_items", "025_items_by_transaction", "free_job", "json_text"}
    assert "capture/install/130_col2xml" in made


def test_an_update_that_keeps_its_key_has_no_old_image_if_that_can_be_told_by_bytes():
    def branches(kind: OracleColumn) -> str:
        table = CapturedTable(TableName("A", "T"), 1, (kind, OracleColumn("V", "DATE")), (kind.name,))
        return statements(RESOURCES, PARTS, table, "U", old_images="key")[1]

    assert "UTL_I18N.STRING_TO_RAW(:OLD.\"K\", 'AL32UTF8')" in branches(
        OracleColumn("K", "VARCHAR2", length=9, chars=9)
    )
    assert ':OLD."K" = :NEW."K"' in branches(OracleColumn("K", "NUMBER"))
    assert ':OLD."K" =' not in branches(OracleColumn("K", "TIMESTAMP(6) WITH TIME ZONE"))


def test_a_table_whose_trigger_would_be_too_long_and_one_of_a_long_alone_are_refused():
    wide = tuple(OracleColumn(f"{number:03d}{'x' * 100}", "NUMBER") for number in range(200))
    for columns, why in ((wide, "the server takes"), ((OracleColumn("L", "LONG"),), "nothing but a LONG")):
        with pytest.raises(SluiceError) as error:
            statements(RESOURCES, PARTS, CapturedTable(TableName("A", "T"), 1, columns), "IUD")
        assert error.value.code == 477
        assert why in error.value.fact


def test_the_owner_is_the_user_of_the_connection():
    expect_own(resources(None, "REPL_"), "repl")
    expect_own(resources("Repl", "REPL_"), '"Repl"')
    with pytest.raises(SluiceError) as error:
        expect_own(resources(None, "REPL_"), "app")
    assert error.value.code == 486


def test_code_that_does_not_compile_is_a_warning_of_the_driver():
    warning = driver._create_warning(driver.WRN_COMPILATION_ERROR)
    assert code_of(oracledb.DatabaseError(warning)) == COMPILED_WITH_ERRORS


def test_a_row_of_the_catalog_is_a_column():
    row = ("N", "NVARCHAR2", None, 20, None, None, 10, "C", "N", "NO", "YES")
    assert column_of(row) == OracleColumn(
        "N", "NVARCHAR2", length=20, chars=10, by_char=True, not_null=True, hidden=True
    )
    assert column_of(("V", "NUMBER", None, 22, 9, 0, 0, None, "Y", "YES", "NO")).virtual


@pytest.mark.parametrize("kinds", [("Y", "NO", "NO"), ("N", "YES", "NO"), ("N", "NO", "YES")])
def test_a_table_without_rows_of_its_own_is_refused(kinds):
    expect_plain(TABLE.name, "N", "NO", "NO")
    with pytest.raises(SluiceError) as error:
        expect_plain(TABLE.name, *kinds)
    assert error.value.code == 477
    assert "cannot be watched" in error.value.fact


def test_a_table_that_differs_in_case_alone_is_named():
    assert '"APP"."T"' in missing_table(TableName("APP", "t"), [TableName("APP", "T")]).fact
