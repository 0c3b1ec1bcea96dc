"""The comparison of a slave on Oracle, from our side: where it reads, and what becomes of the values that come."""

from __future__ import annotations

import struct
from contextlib import contextmanager

import oracledb
import pyarrow as pa
import pytest
from cryptography.fernet import Fernet
from support.oracle_session import INFO
from support.oracle_slave import IMAGE, LAYOUT, NAME, UNKEYED, depot, refused, server

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import KEY_FILE_ENV, seal
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.position import Position
from sluice.values.copy_text import lines_of
from sluice.vendors import text_compare
from sluice.vendors.oracle.catalog.slave_tables import table_of
from sluice.vendors.oracle.read import compare
from sluice.vendors.oracle.read.slave_rows import canonical_texts, selecting
from sluice.vendors.oracle.slave_columns import stored, values_of
from sluice.vendors.protocol.compare import Comparison, Side
from sluice.vendors.registry import vendor
from sluice.verify.difference import Keeping

AT = Position(3, 41)
# As the server prints the values of a row of ours: columns, and behind them which large objects are empty.
PRINTED = {
    "C0": ["1", "2"],
    "C1": ["a long text", None],
    "C2": ["x", None],
    "C3": [" 2024-02-29 12:00:00.500000000", None],
    "C4": [" 2024-02-29 00:00:00", None],
    "C5": [b"\x0a", None],
    "E1": [None, "E"],
    "E5": [None, "E"],
}
ROWS = [IMAGE, ["2", "", None, None, None, "\\x"]]


def lines(*rows):
    return lines_of([pa.array(column, pa.string()) for column in zip(*rows, strict=True)])


def printed(**changed):
    return pa.table({name: pa.array(values) for name, values in (PRINTED | changed).items()})


@pytest.fixture
def compared(monkeypatch, tmp_path):
    """Compares what a master's lines have with what a slave prints."""
    (tmp_path / "key").write_bytes(Fernet.generate_key())
    monkeypatch.setenv(KEY_FILE_ENV, str(tmp_path / "key"))

    def compare_these(*rows, frame=None, layout=LAYOUT, **answers):
        class Master:
            def table(self, name, columns):
                assert (name, list(columns)) == (layout.name, [one.name for one in layout.columns])
                return [lines(*rows)]

        @contextmanager
        def read(info, snapshot_id, trusted):
            yield Master()

        session = server(**({"compare__rows": [printed() if frame is None else frame]} | answers))
        monkeypatch.setattr(compare, "connect", lambda info, application: session)
        monkeypatch.setattr(text_compare, "master", lambda name: type("Port", (), {"read": staticmethod(read)}))
        sides = Side("any", "hub", "7"), Side("oracle", "depot", "900")
        seen, sealed = view(Mapper({}, {}), layout), seal({"hub": INFO, "depot": INFO})
        job = Comparison(sealed, "depot", seen, *sides, keeping=Keeping(10, values=True))
        return vendor("oracle").compare_table(job), session

    return compare_these


def test_a_slave_is_read_as_of_a_change_number_at_which_it_is_at_the_point_and_nothing_is_held(monkeypatch):
    numbers, ordinals = iter(["900", "901"]), {900: 40, 901: 41}
    monkeypatch.setattr(compare, "_LOOK_S", 0)
    session, slave = depot(
        monkeypatch,
        capture__queue__scn=lambda values: [(next(numbers),)],
        compare__position=lambda values: [(ordinals[values["scn"]],)],
    )
    with slave.aligned(AT, 60) as place:
        assert place == "901"
        assert session.said == [*["capture/queue/scn", "compare/position", "compare/intended"] * 2, "CLOSE"]


@pytest.mark.parametrize(("ordinal", "code"), [(40, 91), (42, 92)])
def test_a_slave_that_does_not_come_to_the_point_or_is_beyond_it_is_not_compared(monkeypatch, ordinal, code):
    _, slave = depot(monkeypatch, compare__position=[(ordinal,)])
    with pytest.raises(TransientError) as error, slave.aligned(AT, -1):
        pass
    assert error.value.code == code


def test_a_slave_without_a_position_is_at_the_begin(monkeypatch):
    _, slave = depot(monkeypatch, compare__position=[])
    with slave.aligned(Position(0, 0), 60) as place:
        assert place == "900"


def test_the_same_rows_are_the_same(compared):
    found, session = compared(*reversed(ROWS))
    assert (found.compared, found.different) == (2, 0)
    assert session.values_of("compare/rows") == [{"scn": 900}]


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"C1": ["another", None]}, "note"),
        # An empty large object is not NULL, whichever of them the driver gives as nothing.
        ({"E1": [None, None]}, "note"),
        ({"E5": ["E", "E"]}, "image"),
        # A DATE with a time is another one than the master's.
        ({"C4": [" 2024-02-29 00:00:01", None]}, "day"),
        ({"C4": ["-2024-02-29 00:00:00", None]}, "day"),
        ({"C2": ["x ", None]}, "label"),
    ],
)
def test_a_value_that_is_another_one_is_found(compared, changed, column):
    found, _ = compared(*ROWS, frame=printed(**changed))
    (row,) = found.rows
    assert (found.changed, row.columns) == (1, (column,))


def test_rows_without_a_key_are_counted_and_missing_ones_and_extra_ones_are_told_apart(compared):
    found, _ = compared(*ROWS, frame=pa.concat_tables([printed().slice(0, 1)] * 2), layout=UNKEYED)
    assert (found.missing, found.extra, found.changed) == (1, 1, 0)


def test_a_table_that_is_not_there_or_does_not_fit_is_not_compared(compared):
    for answers, code in (({"catalog__columns": []}, 70), ({"catalog__primary_key": []}, 73)):
        with pytest.raises(SluiceError) as error:
            compared(*ROWS, **answers)
        assert error.value.code == code


def test_rows_that_the_server_does_not_show_any_more_are_compared_again(compared):
    def gone(values):
        raise oracledb.DatabaseError(refused("ORA-01555", "ORA-01555: snapshot too old"))

    with pytest.raises(TransientError) as error:
        compared(*ROWS, compare__rows=gone)
    assert error.value.code == 482


def bits(code, value):
    return struct.pack(code, value).hex().upper()


@pytest.mark.parametrize(
    ("type_", "text", "shown"),
    [
        ("boolean", "t", "1"),
        ("boolean", "f", "0"),
        ("smallint", "-7", "-7"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("numeric(5,2)", "-1.50", "-1.5"),
        ("numeric(5,2)", "0.00", "0"),
        ("numeric(5,2)", "0.05", ".05"),
        ("numeric(38,0)", "9" * 38, "9" * 38),
        ("numeric", "1.50", "1.50"),
        ("double precision", "0.1", bits(">d", 0.1)),
        ("double precision", "1e+300", bits(">d", 1e300)),
        ("double precision", "NaN", bits(">d", float("nan"))),
        ("real", "0.1", bits(">f", 0.1)),
        ("real", "-Infinity", bits(">f", float("-inf"))),
        ("character varying(9)", "ä\n", "ä\n"),
        ("character(3)", "a  ", "a  "),
        ("uuid", "a" * 36, "a" * 36),
        ("date", "0001-01-01", " 0001-01-01 00:00:00"),
        ("time without time zone", "24:00:00", "24:00:00"),
        ("timestamp without time zone", "9999-12-31 23:59:59.999999", " 9999-12-31 23:59:59.999999000"),
        ("timestamp without time zone", "2024-02-29 00:00:00", " 2024-02-29 00:00:00.000000000"),
        ("timestamp with time zone", "2024-02-29 12:00:00.5+00", " 2024-02-29 12:00:00.500000000"),
    ],
)
def test_each_type_comes_back_as_the_text_that_was_written(type_, text, shown):
    column = Column("c", type_)
    made = stored(column, key=False)
    assert made is not None
    # It is one that the column takes, so what is printed here is of a value that we write.
    values_of(NAME, made, pa.array([text], pa.string()))
    table = table_of(Layout(7, NAME, (column,)))
    cells = {"C0": [shown, None]} | ({"E0": [None, None]} if made.is_long else {})
    (found,) = canonical_texts(
        table.columns, pa.table({name: pa.array(one, pa.string()) for name, one in cells.items()})
    )
    assert found.to_pylist() == [text, None]


def test_a_boolean_that_is_another_number_stays_one():
    table = table_of(Layout(7, NAME, (Column("c", "boolean"),)))
    assert canonical_texts(table.columns, pa.table({"C0": ["2"]}))[0].to_pylist() == ["2"]


def test_moments_are_read_in_utc_and_the_query_needs_no_function_of_ours():
    said = selecting(table_of(LAYOUT))
    assert "TO_CHAR(SYS_EXTRACT_UTC(held.\"at\"), 'SYYYY-MM-DD HH24:MI:SS.FF9')" in said
    assert "REPL_" not in said
    assert said.endswith('FROM "APP"."T" AS OF SCN :scn held')
