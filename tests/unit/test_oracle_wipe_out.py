"""Wiping out the schema of a slave on Oracle: what goes by which switch, in which order, and what refuses it."""

from __future__ import annotations

import sqlite3

import pytest
from support.oracle_session import refusal
from support.oracle_slave import LAYOUT, SCHEMA, depot

from sluice.config.models import WipeOut
from sluice.errors import FencedError, SluiceError
from sluice.log import record_events
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.oracle.names import composed, literal
from sluice.vendors.protocol.plain_table import PlainTable

CATALOG = (
    "user_objects (object_type, object_name)",
    "user_tables (table_name, nested, secondary, iot_type)",
    "user_mviews (container_name)",
    "user_mview_logs (log_table)",
    "user_indexes (index_name, index_type)",
    "user_constraints (index_name)",
    "user_triggers (trigger_name, table_owner, base_object_type)",
)
# One of each kind, in the order in which they go.
KINDS = {
    "TRIGGER": "triggers",
    "MATERIALIZED VIEW": "views",
    "VIEW": "views",
    "SYNONYM": "synonyms",
    "PACKAGE": "packages",
    "PROCEDURE": "procedures",
    "FUNCTION": "functions",
    "SEQUENCE": "sequences",
    "INDEX": "indexes",
    "TABLE": "tables",
}
OURS = [("TABLE", "SLUICE_POSITION"), ("TABLE", "SLUICE_LOADED")]
THERE = [(kind, f"A {kind}") for kind in sorted(KINDS)] + OURS
OWN = Layout(7, TableName(SCHEMA, "T"), LAYOUT.columns, (0,))


def wanting(**switches):
    return WipeOut(schema=SCHEMA, **switches)


def emptied(monkeypatch, **answers):
    return depot(monkeypatch, **{"load__wipeable": THERE, "load__connected": [], **answers})


def test_what_is_a_part_of_something_else_or_of_others_or_in_the_recycle_bin_is_not_dropped_by_itself():
    database = sqlite3.connect(":memory:")
    for one in CATALOG:
        database.execute(f"CREATE TABLE {one}")
    kept = [
        *(("TABLE", "T"), ("TABLE", "IN_INDEX"), ("INDEX", "I"), ("MATERIALIZED VIEW", "M"), ("SEQUENCE", "S")),
        *(("TRIGGER", "OF_T"), ("TRIGGER", "OF_V")),
    ]
    parts = [
        *(("TABLE", name) for name in ("NESTED", "SECOND", "OVER", "M", "MLOG$_T", "BIN$x==$0")),
        *(("INDEX", name) for name in ("LOBS", "TOP", "OF_KEY")),
        *(("SEQUENCE", "ISEQ$$_7"), ("TABLE PARTITION", "T"), ("PACKAGE BODY", "P"), ("TYPE", "KIND")),
        *(("TRIGGER", name) for name in ("OF_ANOTHER", "LOGON", "AUDIT")),
    ]
    rows = {
        "user_objects": [*kept, *parts],
        "user_tables": [
            *(("T", "NO", "N", None), ("IN_INDEX", "NO", "N", "IOT"), ("NESTED", "YES", "N", None)),
            *(("SECOND", "NO", "Y", None), ("OVER", "NO", "N", "IOT_OVERFLOW")),
        ],
        "user_mviews": [("M",)],
        "user_mview_logs": [("MLOG$_T",)],
        "user_indexes": [("I", "NORMAL"), ("LOBS", "LOB"), ("TOP", "IOT - TOP"), ("OF_KEY", "NORMAL")],
        "user_constraints": [("OF_KEY",), (None,)],
        "user_triggers": [
            *(("OF_T", SCHEMA, "TABLE"), ("OF_V", SCHEMA, "VIEW"), ("OF_ANOTHER", "APP", "TABLE")),
            *(("LOGON", "SYS", "DATABASE        "), ("AUDIT", SCHEMA, "SCHEMA")),
        ],
    }
    for table, values in rows.items():
        places = ", ".join("?" * len(values[0]))
        database.executemany(f"INSERT INTO {table} VALUES ({places})", values)
    assert database.execute(composed("load/wipeable"), {"schema": SCHEMA}).fetchall() == sorted(kept)


@pytest.mark.parametrize("switch", sorted(set(KINDS.values())))
def test_each_kind_goes_by_its_switch_and_ours_stay(monkeypatch, switch):
    _, slave = emptied(monkeypatch)
    chosen = dict.fromkeys(KINDS.values(), False) | {switch: True}
    expected = [f"{kind.lower()} {SCHEMA}.A {kind}" for kind, its in KINDS.items() if its == switch]
    assert slave.wiped(wanting(**chosen)) == expected


def apart(statement):
    return composed("load/apart", statement=literal(statement))


def dropping(name, kind="TABLE"):
    return apart(f'DROP {kind} "{SCHEMA}"."{name}"')


def test_an_update_drops_all_of_it_in_order_and_holds_the_fence_during_each(monkeypatch):
    session, slave = emptied(monkeypatch, write__delete_gone=0)
    statements = [dropping(f"A {kind}", kind) for kind in KINDS]
    # What went with something else is not missed.
    session.answers[statements[-2]] = refusal("ORA-01418: specified index does not exist\nORA-06512: at line 4")
    loading = slave.loading(5, None, wanting())
    loading.begin()
    del session.said[:], session.given[:]
    with record_events() as lines:
        loading.prepare([PlainTable(Layout(9, TableName(SCHEMA, "N"), LAYOUT.columns, (0,)))])
    done = session.said[: session.said.index(statements[-1]) + 2]
    assert done == [
        *("load/connected", "load/wipeable", "catalog/references"),
        *(said for one in statements[:-2] for said in ("position/lock", one, "COMMIT")),
        *("position/lock", statements[-2], "ROLLBACK", "position/lock", statements[-1], "COMMIT"),
    ]
    assert any("wipes out" in line and "kind=view" in line for _, line in lines)
    session.answers["position/lock"] = [(6, 2, 40, None)]
    del session.said[:], session.given[:]
    with pytest.raises(FencedError):
        loading.prepare([PlainTable(OWN)])
    assert not any("DROP" in one for one in session.said)


def test_tables_go_after_those_that_refer_to_them_and_no_foreign_key_of_others_is_dropped(monkeypatch):
    # D refers to A, B and C to each other; and to C a table that the user is not shown.
    keys = {"D_A": ("D", "A"), "B_C": ("B", "C"), "C_B": ("C", "B"), "S_C": ("S", "C")}
    shown = [(table, key) for key, (table, _) in keys.items() if table != "S"]
    session, slave = emptied(monkeypatch, load__wipeable=[("TABLE", name) for name in "ABCD"], load__foreign_keys=shown)

    def table_dropped(name):
        if any(to == name for _, to in keys.values()):
            return refusal("ORA-02449: unique/primary keys in table referenced by foreign keys")(None)
        for key in [key for key, (table, _) in keys.items() if table == name]:
            del keys[key]
        return 0

    key_dropped = {key: apart(f'ALTER TABLE "{SCHEMA}"."{table}" DROP CONSTRAINT "{key}"') for table, key in shown}
    session.answers |= {dropping(name): lambda values, name=name: table_dropped(name) for name in "ABCD"}
    session.answers |= {said: lambda values, key=key: keys.pop(key) and 0 for key, said in key_dropped.items()}
    loading = slave.loading(5, None, wanting())
    loading.begin()
    with pytest.raises(SluiceError, match=rf"{SCHEMA}.C cannot be dropped.* not shown") as error:
        loading.prepare([PlainTable(OWN)])
    assert error.value.code == 215
    assert "cannot be wiped out" in error.value.fact
    order = [dropping(name) for name in "ABCDABCBC"] + [key_dropped["B_C"], key_dropped["C_B"], *map(dropping, "BCC")]
    assert [one for one in session.said if one.startswith("DECLARE")] == order
    assert keys == {"S_C": ("S", "C")}


def test_an_update_that_goes_on_wipes_out_nothing(monkeypatch):
    session, slave = emptied(monkeypatch, load__progress=[(0, 2)])
    loading = slave.loading(5, 4, wanting())
    loading.begin()
    loading.prepare([PlainTable(OWN)])
    assert "load/wipeable" not in session.said


def test_a_table_that_goes_first_need_not_take_the_rows(monkeypatch):
    session, slave = emptied(monkeypatch, catalog__obstacles=[("the trigger T1",)])
    slave.loadable([PlainTable(OWN)], wanting())
    for how in ({"wanted": wanting(), "resume": True}, {"wanted": wanting(tables=False)}, {}):
        with pytest.raises(SluiceError, match="the trigger T1"):
            slave.loadable([PlainTable(OWN)], **how)
    assert not any("DROP" in one for one in session.said)


@pytest.mark.parametrize(
    ("answers", "switches", "fault"),
    [
        ({}, {"schema": "OTHER"}, "SLC-214"),
        (
            {"load__connected": [(17, "sqlplus"), (18, None)]},
            {"if_connected": "refuse"},
            "SLC-215: others are connected",
        ),
        ({"load__connected": [(17, "sqlplus")]}, {}, None),
        (
            {"load__connected": refusal("ORA-00942: no such view")},
            {"if_connected": "refuse"},
            "SLC-215: others are connected",
        ),
        ({"load__connected": refusal("ORA-00942: no such view")}, {}, None),
        ({"catalog__references": [("APP", "ORDERS")]}, {}, "SLC-215: .*a foreign key of"),
        ({"catalog__references": [("APP", "ORDERS")]}, {"tables": False}, None),
        ({"catalog__references": [(SCHEMA, "A TABLE")]}, {}, None),
    ],
)
def test_what_refuses_it(monkeypatch, answers, switches, fault):
    session, slave = emptied(monkeypatch, **answers)
    wanted = WipeOut(**{"schema": SCHEMA, **switches})
    for asked in (lambda: slave.wiped(wanted), lambda: slave.loadable([PlainTable(OWN)], wanted)):
        if fault is None:
            asked()
            continue
        with pytest.raises(SluiceError, match=fault):
            asked()
    assert not any("DROP" in one for one in session.said)
