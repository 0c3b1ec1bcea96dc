"""What a file makes of every value of every type: the value itself, or its text (R7)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from psycopg import sql
from support.exactly import text_of
from support.values import GROUPS

from sluice.model.layout import Column
from sluice.model.logical_type import logical_type
from sluice.values.canonical_text import is_canonical
from sluice.values.copy_text import columns_of
from sluice.vendors.parquet.types import TEXT, kept_as, tokens, typed
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]
VALUES = {kind: values for group in GROUPS.values() for kind, values in group.items()}


@pytest.fixture(scope="module")
def session(server):
    info = server.create_database()
    with connect(info, "types", autocommit=True) as opened:
        opened.execute("SET search_path = public")
        opened.prepare_threshold = None
        yield opened
    server.drop_databases([info])


@pytest.fixture
def written(session):
    """Writes values of a type into a table; what the catalog, COPY and an ordinary query say of them."""

    def write(kind):
        session.execute("DROP TABLE IF EXISTS t")
        session.execute(f"CREATE TABLE t (place int, v {kind}, other text)".encode())
        for place, value in enumerate([*VALUES[kind], None]):
            insert = sql.SQL("INSERT INTO t VALUES ({}, {}::{})")
            session.execute(insert.format(place, value, sql.SQL(kind)))
        declared = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass"
        (name,) = session.execute(f"{declared} AND attname = 'v'".encode()).fetchone()
        with session.cursor().copy("COPY (SELECT v, other FROM t ORDER BY place) TO STDOUT") as copy:
            lines = b"".join(map(bytes, copy))
        texts = session.execute(sql.SQL("SELECT {} FROM t ORDER BY place").format(text_of("v"))).fetchall()
        return [Column("v", name), Column("other", "text")], lines, [text for (text,) in texts]

    return write


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_or_its_text_arrives(session, written, kind):
    columns, lines, texts = written(kind)
    arrays = columns_of(lines, 2)
    assert arrays[0].to_pylist() == texts
    rows = typed(columns, arrays)
    own = kept_as(columns[0].type)
    logical = logical_type(columns[0].type)
    assert not [text for text in texts if text is not None and not is_canonical(logical, text)]
    assert rows["v"].type == own
    assert len(set(tokens(rows, ["v"]).to_pylist())) == len(set(texts)), "rows are told apart as the texts are"
    for row, text in zip(rows.to_pylist(), texts, strict=True):
        beside = dict(row[TEXT] or ())
        assert not (beside and row["v"] is not None)
        if own == pa.string() or row["v"] is None:
            assert beside.get("v", row["v"]) == text
        else:
            printed = f"SELECT concat(%s::{columns[0].type})"
            assert session.execute(printed.encode(), [row["v"]]).fetchone() == (text,)


NATIVE = {"numeric(38,2)": pa.decimal128(38, 2), "numeric(39,2)": pa.string(), "numeric(3,5)": pa.string()}
NATIVE |= {"timestamp(3) with time zone": pa.timestamp("us", "UTC"), "timestamp without time zone": pa.timestamp("us")}
NATIVE |= {"numeric": pa.string(), "integer[]": pa.string(), "public.mood": pa.string(), "bigint": pa.int64()}


@pytest.mark.parametrize("declared", NATIVE)
def test_a_column_has_a_type_of_its_own_only_where_that_is_exact(declared):
    assert kept_as(declared) == NATIVE[declared]
