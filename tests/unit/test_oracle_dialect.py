"""Portable statements in the words of Oracle, and the texts that mean something else there."""

from __future__ import annotations

import pytest
from support.oracle_slave import ISSUED, SEEN, issued, spoken

from sluice.errors import SluiceError
from sluice.vendors.oracle.statements.dialect import OracleDialect, expect_no_odd_text
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Among, Compared, Name, Number, Text

LONG = "DBMS_LOB.GETLENGTH"


@pytest.mark.parametrize("text", ISSUED)
def test_a_statement_is_made_anew_from_its_parts(text):
    assert spoken(text) == ISSUED[text]


def test_an_insert_of_several_rows_is_several_and_each_is_a_statement_of_the_grammar():
    inserts = [one for one in issued().values() if one.startswith("INSERT")]
    assert len(inserts) == 2
    assert [one.partition(" VALUES ")[2][:5] for one in inserts] == ["('a',", "(NULL"]


def test_a_text_that_is_longer_than_a_literal_is_put_together():
    words = OracleDialect({"w"})
    long = "'" * 1001
    assert words.text("x" * 1000) == f"'{'x' * 1000}'"
    assert words.text(long) == f"(TO_CLOB('{'x' * 2000}') || TO_CLOB('xx'))".replace("x", "'")
    compared = words.condition(Compared("=", Name("v"), Name("w")))
    assert compared.endswith('ELSE DBMS_LOB.COMPARE(TO_CLOB("v"), "w") END = 0)')
    assert f"{LONG}({words.text(long)})" in words.condition(Compared("=", Name("w"), Text(long)))


def test_a_list_of_more_values_than_the_server_takes_is_several_of_them():
    many = Among(Name("n"), tuple(Number(str(one)) for one in range(1001)))
    assert OracleDialect(()).condition(many).endswith('998, 999)) OR ("n" IN (1000)))')
    few = OracleDialect({"w"}).condition(Among(Name("w"), (Text("a"), Text("b"))))
    assert few.count("DBMS_LOB.COMPARE") == 2
    assert " OR CASE WHEN" in few


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t SET w = ''",
        "DELETE FROM t WHERE NOT (v = 'a' OR v IN ('b', ''))",
        "INSERT INTO t (v) VALUES ('')",
        "SELECT id FROM t WHERE v = ''",
        "UPDATE t SET d = '1582-10-05'",
        "DELETE FROM t WHERE at > '1582-10-14 00:00:00'",
    ],
)
def test_what_oracle_takes_otherwise_is_refused(text):
    with pytest.raises(SluiceError, match=r"SLC-577: .*Oracle"):
        expect_no_odd_text(portable(text, "public"))
    expect_no_odd_text(portable(f"UPDATE {SEEN.table} SET d = '1582-10-15', w = 'x'", "public"))
