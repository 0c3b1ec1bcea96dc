"""Tables of an Oracle master in blocks, each as of the change number of its point: from our side of a session."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import pyarrow as pa
import pytest
from support.oracle import COLUMNS
from support.oracle_session import ID, INFO, NAME, TABLE, catalog_of, refusal, source

from sluice.errors import SluiceError, TransientError
from sluice.vendors.oracle import vendor
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.read import rows
from sluice.vendors.oracle.read.key_order import key_order, relation_of
from sluice.vendors.oracle.read.rows import reading
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.registry import master

SIGN = '7. "ID" number'
HERE = {**catalog_of(TABLE), "read__called": [("APP", "T")]}


def keyed(*kinds: str) -> CapturedTable:
    """A table whose key has these columns."""
    columns = tuple(OracleColumn(**{**vars(COLUMNS[kind]), "name": f"K{n}"}) for n, kind in enumerate(kinds))
    return CapturedTable(NAME, 7, columns, tuple(one.name for one in columns))


def opened(monkeypatch, **answers):
    session, *_ = source(monkeypatch, **answers)
    monkeypatch.setattr(rows, "connect", lambda info, application: session)
    return session


def test_a_block_is_read_as_of_the_change_number_of_its_point(monkeypatch):
    session = opened(monkeypatch, **HERE)
    end = rows.composed(
        "read/end",
        columns="TO_CHAR(source.\"ID\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''') AS \"C0\"",
        table='"APP"."T"',
        within='AND source."ID" > :key0',
        sorted='source."ID"',
    )
    session.answers[end] = [("30",)]
    frames = []
    session.fetch_df_batches = lambda statement, values, size: (
        frames.append((statement, values)) or [pa.table({"C0": ["12", "30"], "C1": ["a", None]})]
    )
    within = KeyRange(0, NAME, SIGN, reached=("10",))
    with reading(INFO, "900@REPL_/REPL") as found:
        assert found.shape(within) == layout_of(TABLE)
        block, last = found.block(within, ["ID", "V"], 20)
        assert (b"".join(block), last) == (b"12\ta\n30\t\\N\n", ("30",))
        session.answers[end] = []
        assert found.block(within, ["ID", "V"], 20)[1] is None
        with pytest.raises(SluiceError) as other:
            found.block(KeyRange(0, NAME, '6. "ID" number'), ["ID"], 20)
    assert other.value.code == 79
    assert "another primary key" in other.value.fact
    assert session.values_of(end)[0] == {"scn": 900, "before": 19, "key0": Decimal(10)}
    ((statement, values),) = frames
    assert statement.endswith('AS OF SCN :scn source WHERE 1 = 1 AND source."ID" > :key0 AND source."ID" <= :key1')
    assert values == {"scn": 900, "key0": Decimal(10), "key1": Decimal(30)}


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ('ORA-01555: snapshot too old: rollback segment number 1 with name "X" too small', 482),
        ("ORA-01466: unable to read data - table definition has changed", 95),
    ],
)
def test_a_block_that_is_not_shown_any_more_is_put_off_to_a_later_point(monkeypatch, said, code):
    session = opened(monkeypatch, **HERE)
    answer = session.answer
    session.answer = lambda statement, values: (
        refusal(said)(values) if "OFFSET" in statement else answer(statement, values)
    )
    with reading(INFO, "900@REPL_/REPL") as found, pytest.raises(TransientError) as error:
        found.block(KeyRange(0, NAME, SIGN), ["ID"], 20)
    assert error.value.code == code


@pytest.mark.parametrize("called", [[], [("APP", "OTHER")], [("APP", "BIN$x==$0")]])
def test_a_table_that_is_gone_has_no_rows_left_and_one_that_is_hidden_has(monkeypatch, called):
    opened(monkeypatch, **{**HERE, "read__called": called})
    with reading(INFO, "900@REPL_/REPL") as found:
        assert found.shape(KeyRange(0, NAME, SIGN)) is None
    opened(monkeypatch, **{**HERE, "catalog__table": []})
    with reading(INFO, "900@REPL_/REPL") as found, pytest.raises(TransientError, match="not shown") as error:
        found.shape(KeyRange(0, NAME, SIGN))
    assert error.value.code == 95
    assert "cannot be read as it was" in error.value.fact


def test_a_large_table_is_cut_at_keys_of_a_sample_and_one_in_an_index_is_not(monkeypatch):
    session, _, owner = source(monkeypatch, **HERE, catalog__size=[(100_000, "NO")])
    answer = session.answer
    session.answer = lambda statement, values: (
        [("17",), ("30",)] if "numbered" in statement else answer(statement, values)
    )
    with owner.dump_snapshot([[NAME]], lambda: "log end") as snapshot:
        within = KeyRange(0, NAME, snapshot.order(NAME) or "")
        snapshot.expect_bounds(within)
        assert (within.order, relation_of(within.order)) == (SIGN, 7)
        assert snapshot.cuts(within, 3) == [("17",), ("30",)]
        assert snapshot.cuts(within, 30) == []
        session.answers["catalog/size"] = [(100_000, "YES")]
        assert snapshot.cuts(within, 3) == []
        with pytest.raises(SluiceError) as error:
            snapshot.expect_bounds(KeyRange(0, NAME, SIGN, first=("1",)))
    assert error.value.code == 99
    assert "ranges of keys" in error.value.fact


@pytest.mark.parametrize("kind", [*COLUMNS])
def test_only_keys_that_come_back_exactly_sort_a_table(kind):
    if COLUMNS[kind].type.startswith("LONG"):
        return
    sorts = ("NUMBER", "FLOAT", "VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "DATE", "RAW")
    found = key_order(keyed(kind))
    assert (found is not None) == (COLUMNS[kind].type in sorts or kind in ("TIMESTAMP(6)", "TIMESTAMP(9)"))
    assert key_order(CapturedTable(NAME, 7, (ID,), ("ID",), deferrable=True)) is None
    assert key_order(CapturedTable(NAME, 7, (ID,))) is None


@pytest.mark.parametrize(
    ("kind", "text", "bound"),
    [
        ("NUMBER", "11" + "0" * 124, Decimal("1.1E125")),
        ("NUMBER", "-" + "9" * 37 + ".101", Decimal("-" + "9" * 37 + ".101")),
        ("NUMBER(10,2)", "-0.50", Decimal("-0.5")),
        ("VARCHAR2(40 CHAR)", "it's :x", "it's :x"),
        ("NVARCHAR2(40)", "a\\漢😀", "a\\005c\\6f22\\d83d\\de00"),
        ("DATE", "0044-03-15 00:00:00 BC", "-0044-03-15 00:00:00"),
        ("DATE", "2024-02-29 12:00:01", " 2024-02-29 12:00:01"),
        ("TIMESTAMP(9)", "2024-01-01 00:00:00.123456789", " 2024-01-01 00:00:00.123456789"),
        ("TIMESTAMP(6)", "2024-01-01 00:00:00", " 2024-01-01 00:00:00.000000000"),
        ("RAW(16)", "\\x00ff", "00ff"),
    ],
)
def test_a_bound_is_handed_over_whole_and_never_as_a_piece_of_the_statement(kind, text, bound):
    order = key_order(keyed(kind))
    assert order
    found = order.bounds(KeyRange(0, NAME, order.sign, reached=(text,)))
    assert found.values == {"key0": bound}
    assert text not in found.condition


@pytest.mark.parametrize(("kind", "text"), [("NUMBER", "1 OR 1"), ("DATE", "2024-01-01"), ("RAW(16)", "\\x0g")])
def test_a_text_that_is_no_key_is_not_handed_over(kind, text):
    order = key_order(keyed(kind))
    assert order
    with pytest.raises(ValueError, match=r"no|are"):
        order.bounds(KeyRange(0, NAME, order.sign, reached=(text,)))


def test_blocks_of_a_range_have_each_row_once():
    """Another server than Oracle shows it, which knows the same comparisons."""
    order = key_order(keyed("NUMBER(9)", "VARCHAR2(40 CHAR)", "NUMBER(9)"))
    assert order
    held = sqlite3.connect(":memory:")
    held.execute("CREATE TABLE t (K0 int, K1 text, K2 int)")
    every = [(a, b, c) for a in range(4) for b in ("a", "a ", "B", "ä") for c in (-1, 0, 7)]
    held.executemany("INSERT INTO t VALUES (?, ?, ?)", every)
    for until in (None, ("2",), ("2", "B"), ("2", "a", "0")):
        within, found, blocks = KeyRange(0, NAME, order.sign, until=until), [], 0
        while True:
            left = order.bounds(within)
            rest = _asked(held, f"{left.condition} ORDER BY {order.sorted} LIMIT 1 OFFSET 4", left.values)
            last = tuple(map(str, rest[0])) if rest else None
            block = order.bounds(within, last)
            found += _asked(held, block.condition, block.values)
            blocks += 1
            if last is None:
                break
            within = KeyRange(0, NAME, order.sign, reached=last, until=until)
        wanted = _asked(held, *vars(order.bounds(KeyRange(0, NAME, "", until=until))).values())
        assert sorted(found) == sorted(wanted)
        assert len(set(found)) == len(found)
        assert blocks == len(found) // 5 + 1
    held.close()


def _asked(held, condition, values):
    given = {name: int(value) if isinstance(value, Decimal) else value for name, value in values.items()}
    return held.execute(f"SELECT K0, K1, K2 FROM t AS source WHERE 1 = 1 {condition}", given).fetchall()


def test_the_master_is_asked_how_many_sessions_of_others_are_active(monkeypatch):
    session, *_ = source(monkeypatch, read__active=[(3,)])
    monkeypatch.setattr(vendor, "connect", lambda info, application: session)
    assert master("oracle").active(INFO) == 3
    session.answers["read/active"] = refusal("ORA-00942: table or view does not exist")
    with pytest.raises(SluiceError) as error:
        master("oracle").active(INFO)
    assert error.value.code == 236
    assert "max_active" in error.value.fact
    assert master("oracle").foresee(INFO, [KeyRange(0, NAME, SIGN)], ()) == []
