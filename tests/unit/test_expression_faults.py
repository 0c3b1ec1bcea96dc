"""What is wrong with an expression is said when it is read or meets its columns, and not when rows come."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sluice.expressions import Fault, parse
from sluice.model.layout import Column

COLUMNS = [
    Column(name, type_)
    for name, type_ in {
        "id": "integer",
        "price": "numeric(12,2)",
        "ratio": "real",
        "name": "text",
        "code": "character(3)",
        "label": "character varying(9)",
        "mood": "app.mood",
        "flag": "boolean",
        "day": "date",
        "Odd name": "integer",
    }.items()
]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id = ", "no expression"),
        ("id = 1 name", "no expression"),
        ("", "no expression"),
        ("id = 1; name = 'x'", "not part of the language"),
        ("id IN (SELECT 1)", "not part of the language"),
        ("id IN ()", "no expression|holds nothing"),
        ("EXISTS (SELECT 1)", "not part of the language"),
        ("id = ANY(name)", "not part of the language"),
        ("name ~ 'x'", "not part of the language"),
        ("name COLLATE \"C\" = 'x'", "not part of the language"),
        ("name LIKE 'x!%' ESCAPE '!'", "not part of the language"),
        ("id BETWEEN SYMMETRIC 2 AND 1", "not part of the language"),
        ("length(name, 'UTF8')", "not part of the language"),
        ("now() > day", "not part of the language"),
        ("current_date > day", "not part of the language"),
        ("name = E'a'", "not part of the language"),
        ("DELETE FROM t", "no expression|not part of the language"),
        ("t.id = 1", "after `new.` or `old.`"),
        ("1 < id < 3", "compares what is a comparison"),
        ("pg_sleep(1)", "no function pg_sleep"),
        ("code::character(2) = 'x'", "nothing can be cast to"),
        ("id::integer(2) = 1", "nothing can be cast to"),
        ("price::numeric(2, 3) = 1", "there is no numeric of this size here"),
        ("code::varchar(0) = 'x'", "there is no character varying of this size here"),
        ("mood::app.mood = 'x'", "nothing can be cast to"),
        ("missing = 1", "no column missing; there is id, price"),
        ('ID = 1 AND "ID" = 2', "no column ID"),
        ("id = 'one'", "'one' beside integer: a text is no whole number"),
        ("day > '2013-02-30'", "no day of the calendar"),
        ("day > 'tomorrow'", "no date in the form"),
        ("id = name", "integer and text are not of one kind"),
        ("id AND flag", "AND: integer is not boolean"),
        ("NOT name", "not cannot be used with text"),
        ("mood = 'happy'", "cast to text: x::text"),
        ("mood || 'x' = 'x'", "cast it to text first"),
        ("ratio + 1 = 1", "x::double precision"),
        ("day + 1 > day", "cannot be used with date and bigint"),
        ("id || price = 'x'", "neither integer nor numeric"),
        ("code LIKE 'a%'", "ends in blanks"),
        ("code = label", "differ in their blanks"),
        ("name LIKE label", "a text in quotes"),
        ("name LIKE 'a\\'", "ends in the backslash"),
        ("'1' + '2' = 3", "cast one"),
        ("substr(name) = 'x'", "substr does not take 1 arguments"),
        ("round(id) = 1", "needs no rounding"),
        ("COALESCE(id, 'x') = 1", "'x' beside integer"),
        ("CASE WHEN id THEN true END", "WHEN: integer is not boolean"),
        ("CASE WHEN flag THEN id ELSE name END = 1", "not of one kind"),
        ("flag::date = day", "boolean cannot be cast to date"),
        ("id", "no condition, but integer"),
        ("'t'", "no condition"),
        ("(" * 2000 + "flag" + ")" * 2000, "nested too deeply"),
        ("id" + " + 1" * 100 + " = 1", "nested too deeply: 102 levels, of at most 100"),
        ("flag" + " OR flag" * 5000, "it is too long: 40004 signs, of at most 20000"),
        (f"{'NULLIF(' * 20}id{', 1)' * 20} = 1", r"it is too large: \d+ parts, of at most 10000"),
        (f"{'(' * 20}flag{' BETWEEN false AND true)' * 20}", r"it is too large: \d+ parts, of at most 10000"),
        ("-7 / 92233720368571e+30808 = 1", "more than 1000 digits before the point"),
        ("1e-1001 = 1", "more than 1000 digits before the point, or after it"),
        ("'1e1000'::numeric = 1", "more than 1000 digits"),
        (f"name ILIKE '{'%a' * 501}'", "ILIKE: the pattern has more than 1000 signs"),
    ],
)
def test_a_fault_is_told_before_any_row(text, why):
    with pytest.raises(Fault, match=why):
        parse(text).condition(COLUMNS)


def test_what_one_may_write_is_evaluated_in_time():
    digits = pa.array([["1" * 131_000, "3." + "1" * 16_000]] * 20)
    two = [Column("one", "numeric"), Column("other", "numeric")]
    assert len(parse("one / other").value(two).texts(digits)) == 20
    listed = parse(f"id IN ({', '.join(map(str, range(3_000)))})").condition(COLUMNS[:1])
    assert listed.holds(pa.array([["2999"], ["3000"]])).to_pylist() == [True, False]


def test_names_are_folded_as_in_sql_and_new_and_old_are_images():
    expression = parse('new."Odd name" > OLD.Id OR NAME IS NULL')
    assert expression.columns == {"Odd name", "id", "name"}
    assert expression.images == {"row", "new", "old"}


def test_a_change_is_judged_by_its_images_and_a_missing_one_holds_nulls():
    moved = parse("new.id > old.id").condition(COLUMNS[:1])
    new, old = (
        pa.array(rows, pa.list_(pa.string())) for rows in ([["5"], ["1"], ["9"], None], [["1"], ["5"], None, ["9"]])
    )
    assert moved.holds(new, new=new, old=old).to_pylist() == [True, False, False, False]
    assert moved.holds(new, new=new).to_pylist() == [False] * 4
    assert parse("new.id IS NULL").condition(COLUMNS[:1]).holds(new).to_pylist() == [True] * 4


def test_the_type_of_what_is_computed_is_told():
    types = {
        text: parse(text).value(COLUMNS).type
        for text in ("label", "id + 1", "COALESCE(label, 'x')", "'x'", "price / 3", "price::numeric(4, 1)")
    }
    assert types == {
        "label": "character varying(9)",
        "id + 1": "bigint",
        "COALESCE(label, 'x')": "character varying(9)",
        "'x'": "text",
        "price / 3": "numeric",
        "price::numeric(4, 1)": "numeric(4,1)",
    }


def test_rows_come_in_chunks_and_there_may_be_none():
    chunks = pa.chunked_array([pa.array([["1"]]), pa.array([["2"], None], pa.list_(pa.string()))])
    of_one = parse("CASE WHEN id = 1 THEN 10 / id > 1 END AND id <> 5").condition(COLUMNS[:1])
    assert of_one.holds(chunks).to_pylist() == [True, False, False]
    assert of_one.holds(chunks.slice(0, 0)).to_pylist() == []


@pytest.mark.parametrize("text", ["COALESCE(price, 1) = 1", "price IS NULL", "NULLIF(price, 1) IS NOT DISTINCT FROM 2"])
def test_there_may_be_no_rows_of_any_kind(text):
    rows = pa.array([], pa.list_(pa.string()))
    assert parse(text).condition(COLUMNS).holds(rows).to_pylist() == []
