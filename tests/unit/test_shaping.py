"""What the configuration says of a table's rows, and what becomes of its columns and its key."""

from __future__ import annotations

import hashlib
import hmac
import pickle

import pyarrow as pa
import pytest
from pydantic import ValidationError

from sluice.apply.mapping.table_view import shape_lines, view
from sluice.config.mapper import Mapper
from sluice.config.slave import Slave
from sluice.config.slave_table import SlaveTableSettings
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.watched import split_pattern
from sluice.values.copy_text import columns_of, lines_of

COLUMNS = (
    Column("id", "integer", True),
    Column("name", "character varying(2)", True),
    Column("born", "date", True),
    Column("mood", "app.mood"),
)
LAYOUT = Layout(3, TableName("public", "people"), COLUMNS, (0,))
ROWS = [["1", "ann", "2000-01-01", "glad"], ["2", "bo", "2001-02-03", None]]


def seen(**entry):
    mapper = Mapper({}, {split_pattern("public.people"): SlaveTableSettings.model_validate(entry)})
    # As it travels to the tasks.
    return pickle.loads(pickle.dumps(view(mapper, LAYOUT)))


def made(**entry):
    return seen(**entry).shape(b"salt").transform(pa.array(ROWS, pa.list_(pa.string()))).rows.to_pylist()


def digest(text):
    return hmac.new(b"salt", text.encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("entry", "rows"),
    [
        ({"mask": {"id": "hash"}}, [[digest("1"), *ROWS[0][1:]], [digest("2"), *ROWS[1][1:]]]),
        ({"mask": {"mood": "hash"}}, [[*ROWS[0][:3], digest("glad")], ROWS[1]]),
        (
            {"mask": {"name": "redact", "born": "redact", "mood": "redact"}},
            [["1", "**", None, None], ["2", "**", None, None]],
        ),
        (
            {"mask": {"name": "x", "born": " 1999-12-31", "mood": "sad"}},
            [["1", "x", "1999-12-31", "sad"], ["2", "x", "1999-12-31", "sad"]],
        ),
        ({"mask": {"mood": None}, "exclude_columns": ["born", "name"]}, [["1", None], ["2", None]]),
        (
            {"compute": {"name": "upper(name)", "next": "id + 1"}, "exclude_columns": ["born", "mood"]},
            [["1", "ANN", "2"], ["2", "BO", "3"]],
        ),
        ({"where": "mood IS NULL", "columns": {"id": "number"}}, [ROWS[1]]),
    ],
)
def test_rows_are_chosen_computed_and_masked(entry, rows):
    assert made(**entry) == rows


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"where": "id > 0"}, (0,)),
        ({"mask": {"id": "hash"}, "columns": {"id": "who"}}, (0,)),
        ({"mask": {"id": "redact"}}, ()),
        ({"compute": {"id": "id / 2"}}, ()),
        ({"compute": {"x": "id"}, "exclude_columns": ["id"]}, ()),
    ],
)
def test_a_key_remains_a_key_where_its_columns_are_there_as_they_are_or_hashed(entry, key):
    assert seen(**entry).layout.key == key


def test_columns_have_the_types_of_what_they_hold():
    layout = seen(mask={"id": "hash", "born": "redact"}, compute={"half": "id / 2.0", "name": "lower(name)"}).layout
    assert [(column.name, column.type, column.not_null) for column in layout.columns] == [
        ("id", "text", True),
        ("name", "text", False),
        ("born", "date", False),
        ("mood", "app.mood", False),
        ("half", "numeric", False),
    ]


def test_a_hash_needs_a_salt_and_a_column_that_is_left_out_no_mask():
    tables = {"public.people": {"mask": {"id": "hash"}}}
    with pytest.raises(ValidationError, match="has no `salt`"):
        Slave(connection="c", tables=tables)
    assert Slave(connection="c", tables=tables, salt="s").connections == ["c", "s"]
    with pytest.raises(ValidationError, match="left out needs no mask: id"):
        SlaveTableSettings(exclude_columns=["id"], mask={"id": "redact"})


def test_lines_of_a_copy_are_read_and_written_alike():
    values = [pa.array(["a\tb", "c\\N\n", None, "\ufeff\r", "", "\\"]), pa.array([None, "x", "", "\\N", "\b\f\v", "ä"])]
    lines = lines_of(values)
    assert lines.splitlines()[0] == b"a\\tb\t\\N"
    assert columns_of(lines, 2) == values
    assert shape_lines(seen(where="id = 5"), seen(where="id = 5").shape(b""), b"1\ta\t2000-01-01\t\\N\n", ["id"]) == (
        b"",
        0,
    )
