"""Which columns of a table on Oracle are captured: the query, on a catalog that is made up in SQLite."""

from __future__ import annotations

import sqlite3

import pytest
from support.oracle_session import ID, NAME, catalog_of, source

from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.catalog.tables import table
from sluice.vendors.oracle.names import composed

COLUMNS = """owner, table_name, column_name, data_type, data_type_owner, data_length, data_precision, data_scale,
    char_length, char_used, nullable, virtual_column, hidden_column, user_generated, internal_column_id"""
# Each with: is it virtual, hidden, made by a user.
KINDS = {
    "PLAIN": ("NO", "NO", "YES"),
    "INVISIBLE": ("NO", "YES", "YES"),
    "COMPUTED": ("YES", "NO", "YES"),
    "COMPUTED_INVISIBLE": ("YES", "YES", "YES"),
    "SYS_NC00007$": ("YES", "YES", "NO"),
    "SYS_OF_A_TYPE": ("NO", "YES", "NO"),
}


@pytest.fixture
def described():
    """The rows that the catalog gives of a table with a column of each kind."""
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE all_tab_cols ({COLUMNS})")
    for number, (name, kind) in enumerate(KINDS.items()):
        row = ("APP", "T", name, "NUMBER", None, 22, 9, 0, 0, None, "Y", *kind, number)
        database.execute(f"INSERT INTO all_tab_cols VALUES ({', '.join('?' * len(row))})", row)
    return database.execute(composed("catalog/columns"), {"schema": "APP", "name": "T"}).fetchall()


def test_invisible_columns_are_captured_and_computed_ones_and_those_of_the_server_are_not(monkeypatch, described):
    assert [row[0] for row in described] == ["PLAIN", "INVISIBLE", "COMPUTED", "COMPUTED_INVISIBLE"]
    answers = catalog_of(CapturedTable(NAME, 7, (ID,), ("PLAIN",))) | {"catalog__columns": described}
    session, *_ = source(monkeypatch, **answers)
    found = table(session, NAME)
    assert [one.name for one in found.columns] == ["PLAIN", "INVISIBLE"]
    assert layout_of(found).key_names == ("PLAIN",)


def test_a_key_with_a_computed_column_tells_no_rows_apart(monkeypatch, described):
    answers = catalog_of(CapturedTable(NAME, 7, (ID,), ("PLAIN", "COMPUTED"))) | {"catalog__columns": described}
    session, *_ = source(monkeypatch, **answers)
    assert layout_of(table(session, NAME)).key == ()
    assert OracleColumn("PLAIN", "NUMBER", precision=9, scale=0) in table(session, NAME).columns
