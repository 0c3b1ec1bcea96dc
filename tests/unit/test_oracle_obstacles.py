"""What keeps a table on Oracle from being written or watched: the queries, on a catalog that is made up in SQLite."""

from __future__ import annotations

import sqlite3

import pytest
from support.oracle_session import INFO, NAME, RIGHTS, TABLE, catalog_of, refusal, source

from sluice.errors import ConfigError, SluiceError
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.read import rows

TABLES = (
    "all_triggers (table_owner, table_name, trigger_name, status)",
    "all_constraints (owner, table_name, constraint_name, constraint_type, status, search_condition_vc, r_owner,"
    " r_constraint_name, index_name)",
    "all_tab_cols (owner, table_name, column_name, nullable, data_type, hidden_column)",
    "all_indexes (table_owner, table_name, index_name, uniqueness, index_type)",
    "all_tables (owner, table_name, temporary, nested, iot_type, secondary, dropped)",
    "all_policies (object_owner, object_name, policy_name, sel, enable)",
    "redaction_policies (object_owner, object_name, policy_name, enable)",
    "session_privs (privilege)",
    "all_mviews (owner, container_name)",
    "all_views (owner, view_name)",
    "all_mview_logs (log_owner, log_table)",
    "all_external_tables (owner, table_name)",
)


NAMED = {"schema": "APP", "name": "T"}


def catalog(*more):
    """A table with two columns, and what else the catalog has, as values of its tables."""
    database = sqlite3.connect(":memory:")
    for one in TABLES:
        database.execute(f"CREATE TABLE {one}")
    database.execute("INSERT INTO all_tables VALUES ('APP', 'T', 'N', 'NO', NULL, 'N', 'NO')")
    columns = "('APP', 'T', 'A', 'N', 'NUMBER', 'NO'), ('APP', 'T', 'B', 'Y', 'NUMBER', 'NO')"
    database.execute(f"INSERT INTO all_tab_cols VALUES {columns}")
    for one in more:
        database.execute(one if one.startswith("UPDATE") else f"INSERT INTO {one}")
    return database


def asked(database, name, values=NAMED):
    return [row[0] for row in database.execute(composed(name), values)]


def obstacles(checks):
    database = catalog()
    made = [("APP", "T", f"C{number}", "C", "ENABLED", text, None, None, None) for number, text in enumerate(checks)]
    made.append(("APP", "T", "K", "P", "ENABLED", None, None, None, "K"))
    database.executemany("INSERT INTO all_constraints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", made)
    database.execute("INSERT INTO all_indexes VALUES ('APP', 'T', 'K', 'UNIQUE', 'NORMAL')")
    return asked(database, "catalog/obstacles")


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


def test_a_view_is_no_table_of_a_slave():
    assert asked(catalog("all_views VALUES ('APP', 'OTHER'), ('SYS', 'T')"), "catalog/obstacles") == []
    assert asked(catalog("all_views VALUES ('APP', 'T')"), "catalog/obstacles") == ["the query of a view"]


IN_INDEX = "UPDATE all_tables SET iot_type = 'IOT'"
LONG = "all_tab_cols VALUES ('APP', 'T', 'L', 'Y', 'LONG RAW', 'NO')"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], None),
        ([IN_INDEX], None),
        ([LONG], None),
        (["all_mviews VALUES ('APP', 'OTHER')"], None),
        (["all_mviews VALUES ('APP', 'T')"], "which a refresh writes"),
        (["all_mview_logs VALUES ('APP', 'T')"], "the log of"),
        (["UPDATE all_tables SET iot_type = 'IOT_OVERFLOW'"], "a part of an index-organized"),
        (["UPDATE all_tables SET secondary = 'Y'"], "a part of an index of"),
        ([IN_INDEX, LONG], "no address that stays"),
        (["all_tab_cols VALUES ('APP', 'T', 'ORA_ARCHIVE_STATE', 'N', 'VARCHAR2', 'YES')"], "ROW ARCHIVAL"),
    ],
)
def test_a_table_that_the_server_writes_by_itself_or_does_not_show_is_refused(monkeypatch, more, said):
    database = catalog(*more)
    found = asked(database, "catalog/unwatchable")
    assert [said in one for one in found] == ([True] if said else [])
    taken = database.execute(composed("catalog/eligible"), {"schema": "APP"}).fetchall()
    # Of the others wildcards take those that are tables of the application; `exclude` leaves them out.
    assert bool(taken) == (said is None or "address" in said or "ARCHIVAL" in said)
    _, capture, _ = source(monkeypatch, **catalog_of(TABLE), catalog__unwatchable=[(one,) for one in found])
    if said:
        with pytest.raises(SluiceError, match=r"SLC-477: .*cannot be watched"):
            capture.install({NAME: Watch("IUD")}, WatchSettings())


@pytest.mark.parametrize(
    ("policy", "exempt", "hides", "acts"),
    [
        (("T", "YES", "YES"), False, True, True),
        (("T", "YES", "YES"), True, False, False),
        (("T", "NO", "YES"), False, False, True),
        (("T", "YES", "NO"), False, False, False),
        (("OTHER", "YES", "YES"), False, False, False),
    ],
)
def test_a_policy_hides_rows_unless_the_user_is_exempt(policy, exempt, hides, acts):
    table, select, enabled = policy
    held = ["session_privs VALUES ('EXEMPT ACCESS POLICY')"] if exempt else []
    database = catalog(f"all_policies VALUES ('APP', '{table}', 'P', '{select}', '{enabled}')", *held)
    assert asked(database, "catalog/policies") == ["P"] * hides
    assert asked(database, "catalog/obstacles") == ["the policy P"] * acts


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ({"catalog__policies": [("P",)]}, "EXEMPT ACCESS POLICY"),
        ({"catalog__redactions": [("P",)]}, "EXEMPT REDACTION POLICY"),
        (
            {"catalog__policies": [("P",)], "catalog__redactions": refusal("ORA-00942: no such view")},
            "EXEMPT ACCESS POLICY",
        ),
    ],
)
def test_a_table_with_hidden_rows_is_neither_watched_nor_read(monkeypatch, answers, right):
    session, capture, owner = source(monkeypatch, **catalog_of(TABLE), **answers)
    monkeypatch.setattr(rows, "connect", lambda info, application: session)
    for attempt in (
        lambda: capture.install({NAME: Watch("IUD")}, WatchSettings()),
        lambda: owner.dumpable({NAME: Watch("IUD")}),
        lambda: read_all(NAME),
    ):
        with pytest.raises(SluiceError, match=r"the policy P of APP\.T") as error:
            attempt()
        assert error.value.code == 33
        assert "may hide rows" in error.value.fact
        assert right in error.value.hint
    assert not any('"APP"."T"' in one for one in session.said)


def read_all(name):
    with rows.reading(INFO, "900@REPL_/REPL") as found:
        return list(found.table(name, ["ID"]))


@pytest.mark.parametrize(
    ("answers", "lacking"),
    [
        ({"catalog__rights": [(one,) for one in RIGHTS if "ANY" not in one]}, "lacks CREATE ANY TRIGGER"),
        ({"capture__queue__scn": refusal("ORA-00904: invalid identifier")}, "lacks EXECUTE ON sys.dbms_flashback"),
        ({"catalog__every_object": refusal("ORA-00942: no such table")}, "lacks SELECT ON sys.dba_objects"),
        ({"catalog__room": []}, "QUOTA"),
    ],
)
def test_a_right_that_the_user_lacks_is_named_before_anything_is_made(monkeypatch, answers, lacking):
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE), **answers)
    with pytest.raises(SluiceError, match=lacking) as error:
        capture.install({NAME: Watch("IUD")}, WatchSettings())
    assert error.value.code == 33
    assert "lacks" in error.value.fact
    assert not any(one.startswith(("CREATE", "INSERT", "UPDATE")) for one in session.said)


def test_a_user_that_is_enabled_for_editions_gets_no_trigger(monkeypatch):
    others = [("VIEW", "MINE")]
    answers = {"catalog__editioned": [*others, ("FUNCTION", "REPL_COL2XML")]}
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE), **answers)
    with pytest.raises(SluiceError, match="REPL_COL2XML") as error:
        capture.install({NAME: Watch("IUD")}, WatchSettings())
    assert error.value.code == 400
    assert "enabled for editions" in error.value.fact
    assert not any('TRIGGER "REPL"' in one for one in session.said)
    session.answers["catalog/editioned"] = others
    capture.install({}, WatchSettings())


def test_the_name_of_a_trigger_is_measured_by_the_version_of_the_server(monkeypatch):
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE))
    session.version = "12.1.0.2.0"
    with pytest.raises(ConfigError, match="longer than 30 bytes") as error:
        capture.install({NAME: Watch("IUD", "T" * 31)}, WatchSettings())
    assert error.value.code == 41
    assert "is longer than" in error.value.fact
    session.version = "12.2.0.1.0"
    capture.install({}, WatchSettings())


@pytest.mark.parametrize(
    ("enabled", "exempt", "changes"), [("YES    ", False, True), ("YES", True, False), ("NO     ", False, False)]
)
def test_a_redaction_changes_values_unless_the_user_is_exempt(enabled, exempt, changes):
    held = ["session_privs VALUES ('EXEMPT REDACTION POLICY')"] if exempt else []
    database = catalog(f"redaction_policies VALUES ('APP', 'T', 'P', '{enabled}')", *held)
    statement = composed("catalog/redactions").replace("sys.", "")
    assert [row[0] for row in database.execute(statement, NAMED)] == ["P"] * changes


def test_who_may_not_look_at_redactions_is_not_told_of_them(monkeypatch):
    answers = {"catalog__redactions": refusal("ORA-00942: no such view")}
    _, _, owner = source(monkeypatch, **catalog_of(TABLE), **answers)
    assert [one.layout.name for one in owner.dumpable({NAME: Watch("IUD")})] == [NAME]
