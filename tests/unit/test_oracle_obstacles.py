"""What of a slave's table on Oracle keeps it from being written: the query, on a catalog that is made up in SQLite."""

from __future__ import annotations

import sqlite3

import pytest

from sluice.vendors.oracle.names import composed

TABLES = (
    "all_triggers (table_owner, table_name, trigger_name, status)",
    "all_constraints (owner, table_name, constraint_name, constraint_type, status, search_condition_vc, r_owner,"
    " r_constraint_name, index_name)",
    "all_tab_cols (owner, table_name, column_name, nullable)",
    "all_indexes (table_owner, table_name, index_name, uniqueness, index_type)",
    "all_tables (owner, table_name, temporary, nested)",
)


def obstacles(checks):
    database = sqlite3.connect(":memory:")
    for one in TABLES:
        database.execute(f"CREATE TABLE {one}")
    database.execute("INSERT INTO all_tables VALUES ('APP', 'T', 'N', 'NO')")
    database.execute("INSERT INTO all_tab_cols VALUES ('APP', 'T', 'A', 'N'), ('APP', 'T', 'B', 'Y')")
    made = [("APP", "T", f"C{number}", "C", "ENABLED", text, None, None, None) for number, text in enumerate(checks)]
    made.append(("APP", "T", "K", "P", "ENABLED", None, None, None, "K"))
    database.executemany("INSERT INTO all_constraints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", made)
    database.execute("INSERT INTO all_indexes VALUES ('APP', 'T', 'K', 'UNIQUE', 'NORMAL')")
    return [row[0] for row in database.execute(composed("catalog/obstacles"), {"schema": "APP", "name": "T"})]


@pytest.mark.parametrize(
    ("check", "refused"),
    [
        ('"A" IS NOT NULL', False),
        # The catalog calls the column nullable all the same.
        ('"B" IS NOT NULL', True),
        ('a > 0 OR "A" IS NOT NULL', True),
        ("a > 0", True),
    ],
)
def test_a_check_is_in_the_way_unless_it_is_the_not_null_of_a_column(check, refused):
    assert obstacles([check]) == (["the constraint C0"] if refused else [])
