"""Updates that say nothing of what a row was, but that its key stayed: what they come to, and who cannot take them."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest
from pydantic import ValidationError

from sluice.apply.mapping.table_view import BoundView, mapped_and_filtered, view
from sluice.apply.transform.transform import ColumnTransform, copy_column, transform_changes
from sluice.changelog.schema import CHANGES, SWEPT
from sluice.config.configuration import Config
from sluice.config.slave import Slave
from sluice.errors import SluiceError
from sluice.expressions import parse
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.publish.queue_guard import QueueGuard

COLUMNS = (Column("a", "integer"), Column("b", "integer"), Column("v", "text"))
LAYOUT = Layout(7, TableName("public", "t"), COLUMNS, key=(0, 1))


def changes(*of):
    """Changes of one layout: action, new row, old row."""
    rows = [(key, "9", key, 7, *change) for key, change in enumerate(of, 1)]
    return pa.Table.from_pylist([dict(zip(CHANGES.names, row, strict=True)) for row in rows], CHANGES)


def test_a_row_that_is_made_otherwise_is_an_update_still_and_nobody_says_what_it_was():
    doubled = ColumnTransform(
        (COLUMNS[0], Column("twice", "bigint")), (copy_column(0), parse("b * 2").value(COLUMNS).texts)
    )
    batch = changes(("I", ["0", "1", "x"], None), ("U", ["1", "2", "x"], None), ("U", ["2", "3", "x"], ["1", "2", "x"]))
    found = [
        tuple(row[name] for name in ("action", "new", "old"))
        for row in transform_changes(batch, doubled.transform).to_pylist()
    ]
    assert found == [("I", ["0", "2"], None), ("U", ["1", "4"], None), ("U", ["2", "6"], ["1", "4"])]


ENOUGH = [{}, {"mask": {"v": "redact"}}, {"compute": {"w": "a + 1"}}, {"columns": {"a": "c"}}, {"actions": "IU"}]
ENOUGH += [{"exclude_columns": ["v"]}, {"mask": {"a": "hash"}}]
TOO_LITTLE = [{"where": "b > 1"}, {"when": "new.b > 1"}, {"searchable": ["v"]}, {"exclude_columns": ["a"]}]
TOO_LITTLE += [{"compute": {"a": "a + b"}}, {"mask": {"b": "redact"}}]


def sight(entry, *, lasting=False):
    slave = Slave(connection="x", salt="y", tables={"public.t": entry})
    return {7: BoundView(view(slave.mapper, LAYOUT), b"", lasting=lasting)}


@pytest.mark.parametrize("entry", ENOUGH, ids=str)
def test_a_slave_that_keeps_the_key_takes_them(entry):
    batch = changes(("U", ["1", "2", "x"], None))
    assert mapped_and_filtered(batch, sight(entry))["action"].to_pylist() == ["U"]
    assert mapped_and_filtered(batch, sight(entry))["old"].to_pylist() == [None]


@pytest.mark.parametrize("entry", TOO_LITTLE, ids=str)
def test_a_slave_that_needs_more_stops_in_front_of_them(entry):
    before = changes(("I", ["1", "2", "x"], None), ("U", ["1", "3", "y"], ["1", "2", "x"]))
    assert len(mapped_and_filtered(before, sight(entry))) == 2
    with pytest.raises(SluiceError, match=r"SLC-226: .* rows of public\.t were .* the change 2 does not say it"):
        mapped_and_filtered(changes(("I", ["1", "2", "x"], None), ("U", ["1", "2", "x"], None)), sight(entry))


def test_a_history_stops_in_front_of_them():
    with pytest.raises(SluiceError, match=r"SLC-226: .* for its history"):
        mapped_and_filtered(changes(("U", ["1", "2", "x"], None)), sight({}, lasting=True))


@pytest.mark.parametrize(
    ("key", "deferrable", "genuine"), [((0,), False, True), ((0,), True, False), ((), False, False)], ids=str
)
def test_the_queue_may_have_them_of_tables_alone_whose_key_tells_their_rows(key, deferrable, genuine):
    row = {"last": 1, "trans_key": "1", "repl_key": 1, "layout": 7, "action": "U", "new": ["1", "2", "x"], "old": None}
    layout = Layout(7, LAYOUT.name, COLUMNS, key, deferrable)
    sweep = SimpleNamespace(layouts=lambda: {7: layout}, deletion=lambda *_: "DELETE ...")
    batch = pa.RecordBatch.from_pylist([row], SWEPT)
    if genuine:
        QueueGuard(lambda _: None, lambda *_: None).expect(batch, sweep)
        row |= {"action": "D", "new": None}
        batch = pa.RecordBatch.from_pylist([row], SWEPT)
    with pytest.raises(SluiceError, match=r"SLC-068: .* it has no old content"):
        QueueGuard(lambda _: None, lambda *_: None).expect(batch, sweep)


def config(tables, slave, **source):
    return Config.model_validate(
        {
            "sources": {"s": {"connection": "x", "tables": tables, **source}},
            "slaves": {"zurich": {"connection": "z", **slave}},
            "replications": [{"source": "s", "slave": "zurich"}],
        }
    )


KEYED = {"public.t": {"old_images": "key"}, "public.u": {}}
ALL = {"public.*": {"old_images": "key"}, "public.u": {}}
REFUSED = [
    pytest.param(KEYED, {"tables": {"public.t": {"where": "b > 1"}}}, "where", id="where"),
    pytest.param(KEYED, {"tables": {"public.*": {"when": "new.b > 1"}}}, "when", id="when, by a wildcard"),
    pytest.param(KEYED, {"tables": {"public.t": {"veto": "x:y"}}}, "veto", id="veto"),
    pytest.param(KEYED, {"tables": {"public.t": {"plugin": "x:y"}}}, "plugin", id="plugin"),
    pytest.param(KEYED, {"tables": {"public.t": {"searchable": ["v"]}}}, "searchable", id="searchable"),
    pytest.param(KEYED, {"stylesheets": {"directory": "/x"}}, "stylesheets", id="stylesheet"),
    pytest.param(KEYED, {"vendor": "parquet", "keeps": "history"}, "keeps: history", id="history"),
    pytest.param(ALL, {"tables": {"public.t": {"where": "b > 1"}}}, "where", id="under a wildcard"),
    pytest.param(ALL, {"tables": {"public.t*": {"where": "b > 1"}}}, "where", id="wildcard under a wildcard"),
    pytest.param(ALL, {"tables": {"public.*": {"where": "b > 1"}}}, "where", id="the same wildcard"),
]
TAKEN = [
    pytest.param(KEYED, {"tables": {"public.u": {"where": "b > 1"}}}, id="of another table"),
    pytest.param(KEYED, {"tables": {"public.*": {"where": "b > 1"}, "public.t": {}}}, id="not of this one"),
    pytest.param(ALL, {"tables": {"public.u": {"where": "b > 1"}}}, id="not under the wildcard"),
    pytest.param(KEYED, {"tables": {"public.t": {"mask": {"v": "redact"}}}}, id="mask"),
    pytest.param(
        KEYED, {"stylesheets": {"directory": "/x"}, "tables": {"public.t": {"stylesheet": False}}}, id="no stylesheet"
    ),
]


@pytest.mark.parametrize(("tables", "slave", "what"), REFUSED)
def test_the_configuration_refuses_a_slave_that_needs_more(tables, slave, what):
    with pytest.raises(ValidationError, match=rf"slave zurich: public\.\S+ has `old_images: key`, and {what} of the"):
        config(tables, slave)


@pytest.mark.parametrize(("tables", "slave"), TAKEN)
def test_the_configuration_takes_one_that_does_not(tables, slave):
    config(tables, slave)


def test_updates_that_change_nothing_cannot_be_withheld_without_old_images():
    withheld = {"send_unchanged_updates": False}
    with pytest.raises(ValidationError, match=r"public\.t has `old_images: key`: which of its updates change nothing"):
        config(KEYED, {}, messages=withheld)
    config({"public.u": {}}, {}, messages=withheld)
