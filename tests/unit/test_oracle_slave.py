"""A slave on Oracle, from our side: its statements to the letter, their order, and what becomes of the answers."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from pathlib import Path

import oracledb
import pyarrow as pa
import pytest
from support import plsql
from support.oracle_slave import (
    COLUMNS,
    IMAGE,
    LAYOUT,
    NAME,
    UNKEYED,
    depot,
    refused,
    server,
    statements,
)

from sluice.apply.net.effects import Netted
from sluice.apply.net.net_effect import CountedNet, net
from sluice.changelog.schema import CHANGES, images_of
from sluice.errors import ConfigError, FencedError, SluiceError, UnfitTable
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.position import Position, Snapshot
from sluice.model.row_conflict import RowConflict
from sluice.model.statement import Statement
from sluice.vendors.oracle.catalog.slave_tables import table_of
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.slave_columns import stored, values_of
from sluice.vendors.oracle.write import array_insert
from sluice.vendors.oracle.write.writer import alike_of
from sluice.vendors.protocol.plain_table import PlainTable

GOLDEN = Path(__file__).parents[1] / "golden" / "oracle_slave.sql"
END = Position(3, 41)
MOST = " AND ROWNUM <= :most"


def changes(*given):
    """A batch of changes: action, new image, old image."""
    rows = {
        "ordinal": pa.array([41] * len(given), pa.int64()),
        "action": pa.array([action for action, _, _ in given], pa.string()),
        "new": images_of([new for _, new, _ in given]),
        "old": images_of([old for _, _, old in given]),
    }
    columns = [rows.get(field.name, pa.nulls(len(given), field.type)) for field in CHANGES]
    return pa.Table.from_arrays(
        [column.cast(field.type) for column, field in zip(columns, CHANGES, strict=True)], schema=CHANGES
    )


def effect(*given, layout=LAYOUT):
    batch = changes(*given)
    return Netted(net(layout, batch), batch)


def row(id_, note="n", label="x"):
    return [id_, note, label, *IMAGE[3:]]


def taken_over(monkeypatch, **answers):
    session, slave = depot(monkeypatch, **answers)
    slave.take_over(5)
    del session.said[:], session.given[:]
    return session, slave


def test_every_statement_to_the_letter():
    written = "\n/\n".join(f"-- {name}\n{text}" for name, text in sorted(statements().items()))
    assert written + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_no_place_of_a_statement_has_a_reserved_word_for_its_name():
    binds = {bind.lower() for text in statements().values() for bind in re.findall(r":([a-z_]+)", text)}
    assert not binds & plsql.RESERVED


def test_a_batch_is_one_transaction_with_its_position_and_nothing_in_it_commits(monkeypatch):
    session, slave = taken_over(monkeypatch, write__delete_gone=1, write__count_changed=[(1,)])
    given = effect(("U", row("1"), row("1", "o")), ("I", row("2", ""), None), ("D", None, row("3")))
    assert not slave.apply([[given]], END)
    insert = [said for said in session.said if said.startswith("INSERT")]
    assert [one for one in session.said if not one.startswith(("INSERT", "CREATE"))] == [
        "position/lock",
        "ddl/intended",
        "write/hold",
        "catalog/columns",
        "catalog/obstacles",
        "catalog/primary_key",
        *("write/transaction", "write/stage", "write/transaction"),
        "write/empty of the stage",
        "write/delete_gone",
        "write/count_changed",
        "write/merge",
        "position/advance",
        "durable commit",
        "COMMIT",
    ]
    # What is gone; what is there; and what has an empty text, which no place can take.
    assert len(insert) == 3
    assert ["EMPTY_CLOB()" in one for one in insert] == [False, False, True]
    assert session.values_of("position/advance") == [
        {"source": "sales", "slave": "depot", "segment": 3, "ordinal": 41, "epoch": 5, "moved_from": 40}
    ]


def test_a_server_that_commits_when_a_stage_is_made_gets_no_further(monkeypatch):
    ids = iter(["1.2.3", None])
    session, slave = taken_over(monkeypatch, write__transaction=lambda values: [(next(ids),)])
    with pytest.raises(SluiceError) as error:
        slave.apply([[effect(("I", row("1"), None))]], END)
    assert error.value.code == 524
    assert session.said[-3:] == ["write/stage", "write/transaction", "ROLLBACK"]


def test_rows_that_the_slave_lacks_are_counted(monkeypatch):
    _, slave = taken_over(monkeypatch, write__delete_gone=0, write__count_changed=[(0,)])
    given = effect(("U", row("1"), row("1", "o")), ("D", None, row("3")))
    assert slave.apply([[given]], END) == {(NAME, RowConflict.MISSING): 2}


def test_what_another_job_took_over_is_rolled_back(monkeypatch):
    session, slave = taken_over(monkeypatch, position__advance=0)
    with pytest.raises(FencedError):
        slave.apply([[effect(("I", row("1"), None))]], END)
    assert session.said[-1] == "ROLLBACK"
    session.answers["position/lock"] = [(6, 2, 40, None)]
    with pytest.raises(FencedError):
        slave.apply([[effect(("I", row("1"), None))]], END)
    assert session.said[-2:] == ["position/lock", "ROLLBACK"]
    with pytest.raises(FencedError):
        slave.take_over(5)


def test_a_takeover_raises_the_epoch_before_it_waits_for_those_who_load(monkeypatch):
    session, slave = depot(monkeypatch, position__tables=[("SLUICE_POSITION",)], position__lock=[(4, 2, 40, "9:1.2.3")])
    assert slave.take_over(5) == (Position(2, 40), Snapshot("9:1.2.3"))
    said = session.said[session.said.index("position/tables") + 1 :]
    assert said[:2] == ["position/loaded", "ddl/intents"]
    assert said[3:] == [
        *("COMMIT", "position/lock", "position/take_over", "COMMIT", "position/holders", "COMMIT"),
        # By now nobody executes a command any more.
        "ddl/intended",
    ]


def test_an_error_names_the_row_of_the_array(monkeypatch):
    session, slave = taken_over(monkeypatch)
    session.refused = [refused("ORA-12899", "ORA-12899: value too large")]
    with pytest.raises(SluiceError, match=r"storing row 2 of those that came for APP\.T") as error:
        slave.apply([[effect(("I", row("1"), None), ("I", row("2"), None))]], END)
    assert error.value.code == 431
    assert session.said[-1] == "ROLLBACK"


def test_rows_without_a_key_are_found_by_all_their_values(monkeypatch):
    session, slave = taken_over(monkeypatch)
    alike, values, _ = alike_of(table_of(UNKEYED), IMAGE)
    statement = composed("write/delete_alike", table='"APP"."U"', alike=alike)
    session.answers |= {statement: 1, statement.replace("DELETE", "SELECT COUNT(*)").removesuffix(MOST): [(1,)]}
    assert not slave.apply([[Netted(CountedNet(UNKEYED, False, [(IMAGE, -1, 0)]), changes())]], END)
    assert session.values_of(statement) == [{**values, "most": 1}]
    assert 'DBMS_LOB.COMPARE(held."note", :v1) = 0' in statement
    assert session.typed[-1]["v1"] is oracledb.DB_TYPE_CLOB


@pytest.mark.parametrize(
    ("type_", "declared", "texts", "values"),
    [
        ("boolean", "NUMBER(1,0)", ["t", "f", None], [1, 0, None]),
        ("bigint", "NUMBER(19,0)", ["-9223372036854775808"], [-(2**63)]),
        ("numeric(5,2)", "NUMBER(5,2)", ["-1.50"], [Decimal("-1.50")]),
        ("numeric(40,0)", "CLOB", ["1"], ["1"]),
        ("numeric", "CLOB", ["1.50", "NaN"], ["1.50", "NaN"]),
        ("double precision", "BINARY_DOUBLE", ["1e+300", "0.1"], [1e300, 0.1]),
        ("real", "BINARY_FLOAT", ["0.5", "-Infinity"], [0.5, float("-inf")]),
        ("character varying(1000)", "VARCHAR2(1000 CHAR)", ["ä\n"], ["ä\n"]),
        ("character varying(1001)", "CLOB", [""], [""]),
        ("text", "CLOB", ["", None], ["", None]),
        ("bytea", "BLOB", ["\\x", "\\x00ff"], [b"", b"\x00\xff"]),
        ("date", "DATE", ["0001-01-01"], [datetime.datetime(1, 1, 1)]),
        ("timestamp without time zone", "TIMESTAMP(6)", ["9999-12-31 23:59:59.999999"], [datetime.datetime.max]),
        (
            "timestamp with time zone",
            "TIMESTAMP(6) WITH TIME ZONE",
            ["2024-02-29 12:00:00.5+00"],
            [datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)],
        ),
        ("time without time zone", "VARCHAR2(15 CHAR)", ["24:00:00"], ["24:00:00"]),
        ("uuid", "VARCHAR2(36 CHAR)", ["a" * 36], ["a" * 36]),
        ("jsonb", "CLOB", ["{}"], ["{}"]),
        ("integer[]", "CLOB", ["{1}"], ["{1}"]),
        ("interval", "CLOB", ["1 day"], ["1 day"]),
    ],
)
def test_a_value_has_one_exact_counterpart(type_, declared, texts, values):
    column = stored(Column("c", type_), key=False)
    assert column is not None
    assert column.type == declared
    assert values_of(NAME, column, pa.array(texts, pa.string())) == values


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("character varying(9)", ""),
        ("double precision", "-0"),
        ("real", "-0"),
        ("numeric(3,1)", "NaN"),
        ("date", "infinity"),
        ("date", "0044-03-15 BC"),
        ("date", "10000-01-01"),
        ("date", "1582-10-05"),
        ("timestamp without time zone", "1582-10-14 00:00:00"),
        ("timestamp with time zone", "-infinity"),
    ],
)
def test_a_value_that_a_column_cannot_hold_is_refused_and_a_clob_holds_it(type_, text):
    column = stored(Column("c", type_), key=False)
    assert column is not None
    with pytest.raises(SluiceError) as error:
        values_of(NAME, column, pa.array([None, text], pa.string()))
    assert error.value.code == 431
    assert values_of(NAME, column.as_text, pa.array([text], pa.string())) == [text]


def test_rows_with_empty_objects_stay_apart_from_those_with_none(monkeypatch):
    session = server()
    table = table_of(LAYOUT)
    rows = [row("1", "", None), row("2", None), row("3", "x" * 5000), [*row("4")[:5], "\\x"]]
    texts = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    array_insert.insert(session, '"APP"."T"', NAME, table.columns, texts)
    places = [said.partition("VALUES ")[2] for said in session.said]
    # Large objects come last.
    assert places == [
        "(:1, :2, FROM_TZ(:3, '+00:00'), CAST(:4 AS DATE), EMPTY_CLOB(), :5)",
        "(:1, :2, FROM_TZ(:3, '+00:00'), CAST(:4 AS DATE), :5, :6)",
        "(:1, :2, FROM_TZ(:3, '+00:00'), CAST(:4 AS DATE), :5, EMPTY_BLOB())",
    ]
    assert [[one[0] for one in given] for given in session.given] == [[1], [2, 3], [4]]
    assert session.typed[1][-2:] == [oracledb.DB_TYPE_LONG, oracledb.DB_TYPE_LONG_RAW]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"catalog__obstacles": [("the trigger T1",)]}, "the trigger T1"),
        ({"catalog__columns": COLUMNS[1:]}, "the columns id"),
        ({"catalog__primary_key": []}, "its primary key is"),
        (
            {"catalog__columns": [*COLUMNS[:4], ("day", "TIMESTAMP(6)", *COLUMNS[4][2:]), COLUMNS[5]]},
            "day is a TIMESTAMP",
        ),
        ({"catalog__columns": [COLUMNS[0], (*COLUMNS[1][:8], "N", "NO", "NO"), *COLUMNS[2:]]}, "note is NOT NULL"),
        ({"catalog__columns": [(*COLUMNS[0][:9], "YES", "NO"), *COLUMNS[1:]]}, "id is computed"),
    ],
)
def test_a_table_that_does_not_take_the_rows_exactly_is_refused(monkeypatch, changed, said):
    _, slave = taken_over(monkeypatch, **changed)
    with pytest.raises(UnfitTable, match=said) as error:
        slave.apply([[effect(("I", row("1"), None))]], END)
    assert error.value.code == 73
    assert "does not take" in error.value.fact


def test_a_table_may_have_more_room_and_a_clob_for_every_value(monkeypatch):
    wider = [
        (*COLUMNS[0][:4], 38, *COLUMNS[0][5:]),
        COLUMNS[1],
        ("label", "VARCHAR2", None, 400, None, None, 100, "C", "Y", "NO", "NO"),
        COLUMNS[3],
        ("day", "CLOB", *COLUMNS[1][2:]),
        COLUMNS[5],
    ]
    session, slave = taken_over(monkeypatch, catalog__columns=wider)
    slave.apply([[effect(("I", row("1"), None))]], END)
    (stage,) = [one for one in session.said if one.startswith("CREATE")]
    assert '"id" NUMBER(38,0) NOT NULL' in stage
    assert '"label" VARCHAR2(100 CHAR)' in stage
    assert '"day" CLOB' in stage


@pytest.mark.parametrize(
    ("columns", "key", "said"),
    [
        ([Column('a"b', "integer")], (), "no name there"),
        ([Column("ä" * 65, "integer")], (), "more than 128 bytes"),
        ([Column("SLUICE_MARK", "text")], (), "a column of ours"),
        ([Column("id", "text")], (0,), "no index there"),
        ([Column("id", "timestamp with time zone")], (0,), "no index there"),
        ([Column("a", "integer", generated=True)], (), "computes a"),
        ([], (), "1 to 999 columns"),
    ],
)
def test_a_table_that_oracle_cannot_have_is_refused(columns, key, said):
    with pytest.raises(SluiceError, match=said) as error:
        table_of(Layout(1, NAME, tuple(columns), key))
    assert error.value.code == 432
    assert "Oracle cannot have" in error.value.fact


def test_a_server_that_cannot_be_a_slave_is_refused_before_anything_is_made(monkeypatch):
    session, slave = depot(monkeypatch)
    for version, characters, code in (("12.2.0.1.0", "AL32UTF8", 430), ("19.3.0.0.0", "WE8ISO8859P1", 430)):
        session.version, session.answers["catalog/character_set"] = version, [(characters,)]
        with pytest.raises(SluiceError) as error:
            slave.take_over(1)
        assert error.value.code == code
    _, elsewhere = depot(monkeypatch, schema="public")
    with pytest.raises(ConfigError, match="the user REPL") as error:
        elsewhere.take_over(1)
    assert error.value.code == 523
    assert "position/position" not in session.said


def test_a_user_who_may_not_ask_for_the_change_number_is_refused_before_anything_is_emptied(monkeypatch):
    def hidden(values):
        raise oracledb.DatabaseError(refused("ORA-00904", 'ORA-00904: "DBMS_FLASHBACK": invalid identifier'))

    session, slave = depot(monkeypatch, schema="APP", position__user=[("APP",)], capture__queue__scn=hidden)
    for asked in (lambda: slave.loadable([PlainTable(LAYOUT)]), lambda: slave.take_over(1)):
        with pytest.raises(SluiceError) as error:
            asked()
        assert error.value.code == 33
        assert "newest change number" in error.value.fact
    assert session.said == [*["catalog/character_set", "position/user", "capture/queue/scn"] * 2]


def test_features_that_such_a_slave_has_not_are_refused_by_name(monkeypatch):
    session, slave = taken_over(monkeypatch)
    for action, code in ((Action.CREATE, 68), (Action.STATEMENT, 68)):
        with pytest.raises(SluiceError) as error:
            slave.apply([Command(action, LAYOUT, "x", 41, 9)], END, answered=lambda *said: None)
        assert error.value.code == code
        assert session.said[-1] == "ROLLBACK"
    with pytest.raises(SluiceError) as error:
        slave.carry_out([], [], None, None)
    assert error.value.code == 438
    assert "is not supported" in error.value.fact
    for text in ("CREATE INDEX ON t (v)", "UPDATE t SET v = ''"):
        with pytest.raises(SluiceError) as error:
            slave.understands(Statement(1, text, "public", reads=False, max_rows=1))
        assert error.value.code == 577
