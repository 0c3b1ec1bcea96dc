"""An expression gives what the database gives for it: the same values, printed alike, for the same rows."""

from __future__ import annotations

from functools import cache

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sluice.errors import SluiceError
from sluice.expressions import parse
from sluice.model.layout import Column
from sluice.vendors.postgresql.capture.queue.row_images import fields
from sluice.vendors.postgresql.session import PINNED

pytestmark = [pytest.mark.postgres]

COLUMNS = {
    "i": "integer",
    "n": "bigint",
    "d": "numeric",
    "p": "numeric(12,2)",
    "f": "double precision",
    "r": "real",
    "t": "text",
    "v": "character varying(20)",
    "c": "character(5)",
    "b": "boolean",
    "day": "date",
    "at": "timestamp without time zone",
    "tz": "timestamp with time zone",
    "u": "uuid",
}
# fmt: off
ROWS = [
    (0, 0, "0", "0", "0", "0", "", "", "", "f", "2000-01-01", "2000-01-01", "2000-01-01 00:00:00+00", None),
    (1, 9223372036854775807, "1.50", "1.5", "0.1", "0.1", "a", "b", "a", "t",
     "2013-01-31", "2013-01-31 12:59:59.5", "2013-01-31 12:59:59.000001+02", "00000000-0000-0000-0000-000000000001"),
    (-7, -9223372036854775807, "-1234567890123456789012345678901234567890.12345", "-99.99", "1e15", "16777216",
     "Ab_c%", "ab_c%", "Ab_c%", "f", "0044-03-15 BC", "0044-03-15 01:02:03 BC", "0044-03-15 01:02:03+00 BC", None),
    (2147483647, 5, "NaN", "10", "NaN", "NaN", "Müller ÀÉ ß ẞ İ ŉ Σς ᾳ", "  x  ", "é", None,
     "infinity", "infinity", "-infinity", None),
    (3, -5, "Infinity", "0.01", "-Infinity", "1e-20", "a\nb\\c", "a b ", "a b", "t",
     "12013-01-01", "12013-01-01 00:00:00", "12013-01-01 00:00:00+00", None),
    (-2147483648, 1000000, "-Infinity", "12.34", "123456789.125", "1e20", "z", "\U0001F600\uffee", "  y", "t",
     "-infinity", "-infinity", "infinity", None),
    (12, 12, "0.00001", "12", "1e-5", "12", "12", " 12 ", "12", "t",
     "0001-01-01", "0001-01-01 00:00:00", "0001-01-01 00:00:00+00", None),
    (None,) * 14,
]
# fmt: on
EXPRESSIONS = """
i = 1
i = '1' AND b
n > 5.5 OR t = 'z'
NOT (i > 0)
i BETWEEN -7 AND 2 + 1
i NOT BETWEEN n AND 5
i IN (1, 2, NULL)
i NOT IN (1, 2, NULL)
t IN ('a', 'z')
d = 1.5
d >= n
d < 'Infinity'
d = 'nan'
p <> 12.34
f = 0.1
f > d
f <> 'NaN'
f >= 'NaN'
r = 0.1
r = '0.1'
r = f
r < d
t < v
t >= 'Z'
t <> v
c = 'a  '
c = t
c::text = v
c < 'b'
t LIKE 'A__c\\%'
t LIKE '%\\_%'
t LIKE 'a%c'
t LIKE ''
t NOT LIKE '%a%'
t ILIKE 'AB%'
t ILIKE '%ß İ%'
t ILIKE 'MÜLLER àé%'
v NOT ILIKE '%B%'
b
NOT b
b = true
b = 'yes'
b < TRUE
b IS TRUE
b IS NOT FALSE
b IS NULL
b IS NOT NULL AND t IS NOT NULL
u IS NULL
u::text = '00000000-0000-0000-0000-000000000001'
day = '2013-01-31'
day < '0044-03-16 BC'
day > at
day < tz
at >= '2013-01-31 12:59:59.5'
at = tz
tz < '2013-01-31 14:59:59.000002+04'
tz = '-infinity'
tz > timestamp '1999-12-31 23:59:59'
t IS DISTINCT FROM v
i IS NOT DISTINCT FROM n
i IS DISTINCT FROM NULL
i <> 0 AND 10 / i > 0
CASE WHEN i = 0 THEN false ELSE 10 % i = 1 END
i IS NULL = (t IS NULL)
NULL
i
c
u
i + 1::bigint
v::varchar(2) || c::varchar(2) || i::varchar(2)
12.345::numeric(4, 2) - i::numeric(13, 3)
n - 1
i::bigint * -3
concat(9999.9999999999999999999999999999999999 / 9999, ' ', 99999999999999999999999999999999999999.99::numeric(40, 2))
-7 / 2
-7 % 3
i::bigint % 5
-i::bigint
abs(i::bigint)
d + 1.25
d - p
d * p
d % 7
-d
abs(d)
p / 7
1 / 3.0
p / 0.0003
1e3
0.000001 / 12345678901234567890
round(p, 1)
round(p)
round(d, 3)
round(-2.5)
round(12345.678, -2)
round(f)
f + 1
f * 2.5
f / 3
-f
abs(f)
f::text
r::text
d::double precision
d::text || '!'
b::text
b::integer
i::boolean
tz::date
at::date
day::timestamp
tz::text
at::text
day::text
c || '|'
t || v || c
t || i
'<' || 1 + 2 || '>'
concat(t, i, NULL, b, d, f, day, '-')
length(t)
length(c)
lower(t)
upper(t)
upper(v)
substr(t, 2)
substr(t, 0, 3)
substr(t, -1, 3)
substr(t, 2, 100)
substring(t from 2 for 2)
trim(v)
trim(both 'ab' from t)
ltrim(v)
rtrim(v, ' x')
trim(t, '')
trim(v)::text
COALESCE(t, v, 'none')
COALESCE(NULL, 'none')
COALESCE(i, d)
COALESCE(b, false)
COALESCE(day, '2000-02-29')
COALESCE(tz, at, '2001-01-01 10:00:00+01')
COALESCE(u, NULL)
NULLIF(i, 1)
NULLIF(t, 'a')
CASE WHEN b THEN 'yes' WHEN NOT b THEN 'no' END
CASE i WHEN 1 THEN 1.10 WHEN 3 THEN i ELSE n END
CASE WHEN t = 'a' THEN c END
CASE WHEN f > 1 THEN r::double precision ELSE d END
CASE WHEN i = 12 THEN trim(v)::integer END
CASE WHEN i = 12 THEN t::numeric END
'12'::integer
' 1.50 '::numeric
CAST('2013-01-31' AS date)
'it''s'
'a\\nb'
f < 1 OR NULL
f * 48221501100546704
COALESCE(r, '9007199791611904')
p = 10
""".strip().splitlines()


@pytest.fixture(scope="module")
def session(server):
    """A session with the settings that every session of ours has."""
    with server.connect(server.create_database()) as made:
        for name, value in PINNED.items():
            made.execute("SELECT set_config(%s, %s, false)", [name, value])
        yield made


def columns(types):
    return [Column(name, type_) for name, type_ in types.items()]


def table_of(types):
    """A table of those columns, whose texts have the order and the letters that expressions have."""
    folded = {"text", "character varying(20)", "character(5)"}
    listed = [f"{name} {type_} {'COLLATE pg_c_utf8' * (type_ in folded)}" for name, type_ in types.items()]
    return f"CREATE TEMP TABLE given ({', '.join(listed)})"


def images(session, count):
    """The rows of the table as images hold them."""
    found = session.execute("SELECT textin(record_out(given)) FROM pg_temp.given ORDER BY ctid").fetchall()
    return fields(pa.array([image for (image,) in found], pa.string()), count)


def printed(session, expressions):
    """What the database makes of expressions, a list for each of them."""
    listed = ", ".join(f"concat(({one}), NULL), ({one}) IS NULL" for one in expressions)
    found = session.execute(f"SELECT {listed} FROM pg_temp.given ORDER BY ctid").fetchall()
    return [[None if row[2 * place + 1] else row[2 * place] for row in found] for place in range(len(expressions))]


@pytest.fixture(scope="module")
def rows(session):
    session.execute(table_of(COLUMNS))
    with session.cursor() as cursor:
        places = ", ".join(f"%s::{type_}" for type_ in COLUMNS.values())
        cursor.executemany(f"INSERT INTO pg_temp.given VALUES ({places})", ROWS)
    return images(session, len(COLUMNS))


def test_values_are_what_the_database_prints_and_conditions_hold_where_they_are_true(session, rows):
    for text, answers in zip(EXPRESSIONS, printed(session, EXPRESSIONS), strict=True):
        read = parse(text)
        value = read.value(columns(COLUMNS))
        assert value.texts(rows).to_pylist() == answers, text
        if value.type == "boolean":
            assert read.condition(columns(COLUMNS)).holds(rows).to_pylist() == [one == "t" for one in answers], text


NUMBERS = {"i": "bigint", "d": "numeric", "f": "double precision", "o": "numeric"}
WHOLE = st.integers(-(2**31), 2**31)
DECIMALS = st.one_of(
    st.decimals(min_value=-(10**25), max_value=10**25, places=places) for places in (0, 1, 4, 9, 20)
) | st.sampled_from(["NaN", "Infinity", "-Infinity", "0", "0.000", "1e-30"])
DOUBLES = st.floats(min_value=-1e100, max_value=1e100, allow_subnormal=False) | st.sampled_from(
    [float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308]
)
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
COMPUTED = [f"{one} {sign} {other}" for sign in OPERATORS for one, other in ("id", "if", "df", "do")]
COMPUTED += [f"{one} {sign} {other}" for sign in "+-*" for one, other in ("id", "do")]
COMPUTED += [f"{sign}({one}::numeric) / NULLIF(o, 0)" for sign in ("", "-") for one in "id"]
COMPUTED += ["d % NULLIF(o, 0)", "i % NULLIF(7 - i % 9, 0)", "i / NULLIF(i % 5, 0)", "round(d, 2)", "round(o, -3)"]
COMPUTED += ["f", "-f", "f::text", "d::double precision", "CASE WHEN abs(f) < 1e15 THEN round(f)::bigint END"]
given_once = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
read_once = cache(parse)


def compare(session, types, rows, expressions):
    """Evaluate the same on both sides."""
    session.execute("DROP TABLE IF EXISTS pg_temp.given")
    session.execute(table_of(types))
    places = ", ".join(f"%s::{type_}" for type_ in types.values())
    with session.cursor() as cursor:
        cursor.executemany(f"INSERT INTO pg_temp.given VALUES ({places})", rows)
    read = images(session, len(types))
    for text, answers in zip(expressions, printed(session, expressions), strict=True):
        assert read_once(text).value(columns(types)).texts(read).to_pylist() == answers, text


@given_once
@given(st.lists(st.tuples(WHOLE, DECIMALS, DOUBLES, DECIMALS), min_size=1, max_size=20))
def test_numbers_are_compared_and_computed_as_the_database_does(session, rows):
    compare(session, NUMBERS, [tuple(map(str, row)) for row in rows], COMPUTED)


@given_once
@given(
    st.lists(
        st.tuples(TEXTS := st.text(st.sampled_from("aAbÄß% _\\\n\U0001f600\uffee")), TEXTS), min_size=1, max_size=20
    )
)
def test_texts_are_compared_by_code_point(session, rows):
    signs = [f"s {sign} t" for sign in OPERATORS]
    compare(
        session,
        {"s": "text", "t": "text"},
        rows,
        [*signs, "s LIKE '_%\\_a'", "s ILIKE 'a%Ä'", "trim(s, t)", "upper(s)"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "1 / i",
        "n + 1",
        "-(-n - 2) + 1",
        "1.5 / d",
        "d % 0.0",
        "1 / f",
        "f * 1e300",
        "t::integer",
        "t::numeric",
        "t::date",
        "t::boolean",
        "n::integer",
        "n::numeric(18, 1)",
        "d::bigint",
        "substr(t, 1, -1)",
        "(d + 1e300)::double precision * 1e10",
    ],
)
def test_what_the_database_cannot_evaluate_is_an_error_that_tells_no_values(session, text):
    types = {"i": "integer", "n": "bigint", "d": "numeric", "f": "double precision", "t": "text"}
    session.execute("DROP TABLE IF EXISTS pg_temp.given")
    session.execute(table_of(types))
    session.execute("INSERT INTO pg_temp.given VALUES (0, 9223372036854775807, 0, 0, 'secret')")
    session.execute("UPDATE pg_temp.given SET d = 1e30, f = 1e30 WHERE %s ~ 'bigint|1e'", [text])
    with pytest.raises(psycopg.Error):
        printed(session, [text])
    with pytest.raises(SluiceError, match=r"SLC-162: .* cannot be evaluated") as raised:
        parse(text).value(columns(types)).texts(images(session, len(types)))
    assert "secret" not in str(raised.value)
    assert "1000000" not in str(raised.value)
