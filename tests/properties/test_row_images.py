"""Whatever a row holds, its image as the database prints it is read back value by value, and so is its literal (R7)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from sluice.messages import column_literal
from sluice.vendors.postgresql.capture.queue.row_images import fields

pytestmark = [pytest.mark.postgres]

TYPES = """
CREATE TYPE pair AS (a text, b text[]);
CREATE TYPE span AS RANGE (SUBTYPE = text, COLLATION = "C");
"""
# Everything that means something to a record, an array, a composite, a range, to CSV or to XML.
SIGNS = [chr(code) for code in (*range(1, 0x21), 0x7F, 0x85, 0xFEFF, 0xFFFE, 0xFFFF, 0x1F600)]
SIGNS += ['"', "'", "\\", ",", ";", "(", ")", "{", "}", "[", "]", "<", ">", "&", "]]>", "NULL", "\\N", "\\.", "a"]
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.lists(st.one_of(st.sampled_from(SIGNS), ANY), max_size=6).map("".join)
CELLS = st.none() | TEXTS
ROWS = st.tuples(CELLS, st.none() | st.lists(CELLS, max_size=3), CELLS, CELLS, st.booleans())
COLUMNS = ["text", "text[]", "pair", "pair[]", "span", "boolean", "boolean[]", "bytea"]
NAMES = st.lists(TEXTS.filter(bool), min_size=len(COLUMNS), max_size=len(COLUMNS), unique=True)

# A text, an array, a composite that holds both, an array of those, a range, booleans, and bytes.
WRITTEN = """
    WITH given AS (
        SELECT %(text)s::text AS text, %(array)s::text[] AS list, %(low)s::text AS low, %(high)s::text AS high,
               nullif(%(composite)s, %(text)s IS NULL) AS truth
    ), made AS (
        SELECT text, list, CASE WHEN %(composite)s THEN ROW(text, list)::pair END AS one,
               ARRAY[ROW(low, list)::pair, NULL, ROW(NULL, NULL)::pair] AS many,
               span(low, high, '[]') AS span, truth, ARRAY[truth, NULL, true] AS truths,
               convert_to(text, 'UTF8') AS bytes
        FROM given
    )
    SELECT textin(record_out(made)),
           ARRAY[text, list::text, one::text, many::text, span::text, left(truth::text, 1), truths::text, bytes::text]
    FROM made
"""
READ_BACK = """SELECT textin(record_out(ROW(%s::text, %s::text[], %s::pair, %s::pair[], %s::span, %s::boolean,
    %s::boolean[], %s::bytea)))"""
LITERAL = "SELECT repl_col2xml(%s, %s)"


@pytest.fixture(scope="module")
def session(server):
    """A session of a database that has the DbResources' functions, and types of its own."""
    from sluice.config.configuration import Config
    from sluice.context import Context

    info = server.create_database()
    raw = {
        "sources": {"one": {"connection": "one", "tables": {"public.t": {}}}},
        "slaves": {},
        "replications": [],
    }
    context = Context(Config.model_validate(raw), {"one": info})
    with server.connect(info) as made:
        made.execute("CREATE TABLE t (id int)" + ";" + TYPES)
        source = context.source("one")
        source.capture.install(context.watched_tables("one"), context.watch_settings("one"))
        source.close()
        yield made


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.none() | ROWS, min_size=1, max_size=6), names=NAMES)
@example(
    rows=[("\ufeff", ["\ufeff"], "", "", True), None, (None, None, None, None, False)], names=SIGNS[: len(COLUMNS)]
)
def test_images_and_literals_give_back_every_value(session, rows, names):
    written = [row and image(session, row) for row in rows]
    read = fields(pa.array([row and row[0] for row in written], pa.string()), len(COLUMNS)).to_pylist()
    assert read == [row and row[1] for row in written]
    for row, cells in zip(written, read, strict=True):
        if row is None:
            continue
        assert session.execute(READ_BACK, cells).fetchone() == (row[0],)
        *texts, truth, truths, raw = cells
        word = {"t": "true", "f": "false", None: None}[truth]
        values = [*texts, word, truths, raw and bytes.fromhex(raw[2:])]
        literal = column_literal.render(names, values)
        columns = Jsonb([[name, type_] for name, type_ in zip(names, COLUMNS, strict=True)])
        assert session.execute(LITERAL, [columns, row[0]]).fetchone() == (literal,)
        assert column_literal.parse(literal) == dict(zip(names, values, strict=True))


def image(session, row):
    """The image of a row, and the texts of its values, as the database writes both."""
    text, array, *ends, composite = row
    if None not in ends:
        ends.sort(key=str.encode)
    low, high = ends
    given = {"text": text, "array": array, "low": low, "high": high, "composite": composite}
    return session.execute(WRITTEN, given).fetchone()
