"""What a slave calls the master's tables and columns: one mapping for rows, statements and whatever is made."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest

from sluice.apply.mapping.table_view import BoundView, mapped_and_filtered, view
from sluice.changelog.schema import CHANGES
from sluice.config.mapper import Mapper
from sluice.config.slave import Slave
from sluice.errors import ConfigError, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import RESOURCES, Resources, TableName
from sluice.model.stylesheet import Stylesheet
from sluice.vendors.postgresql import migrations
from sluice.vendors.postgresql.statements import parser


def mapper(tables, schemas=None):
    return Slave(connection="x", schemas=schemas or {}, tables=tables).mapper


SEEN = {
    "public.t": {"as": "u"},
    "public.planes": {"as": 'far."a.b"'},
    "public.audit*": {"exclude_columns": ["who"]},
    "public.only_new": {"actions": "I"},
    "public.audit_log": {"columns": {"at": "moment"}},
    "public.pay*": {"exclude": True},
    "public.payable*": {},
    "public.payrolls": {"exclude": False, "exclude_columns": ["iban"]},
}
BRANCH = mapper(SEEN, {"public": "branch"})


def sights(views):
    return {number: BoundView(one, b"") for number, one in views.items()}


def name(table, schema="public"):
    return TableName(schema, table)


def test_a_schema_is_renamed_and_others_are_kept():
    found = Mapper({"public": "branch"})
    assert found.table(name("t")) == name("t", "branch")
    assert found.table(name("t", "sales")) == name("t", "sales")


def test_the_entry_that_is_closest_to_a_table_counts_and_it_alone():
    assert BRANCH.table(name("t")) == name("u", "branch")
    assert BRANCH.table(name("planes")) == name("a.b", "far")
    assert BRANCH.table(name("t", "sales")) == name("t", "sales")
    assert BRANCH.columns(name("audit_x"), ["who", "at"]) == {"at": "at"}
    assert BRANCH.columns(name("audit_log"), ["who", "at"]) == {"who": "who", "at": "moment"}


def test_what_is_excluded_is_so_by_the_closest_entry_and_is_not_there_at_all():
    excluded = {one for one in ("pay", "payroll", "payrolls", "payable_2", "t") if BRANCH.excludes(name(one))}
    assert excluded == {"pay", "payroll"}
    assert not BRANCH.whole(name("payroll"))
    assert not BRANCH.complete(name("payroll"))
    assert not BRANCH.excludes(name("pay", "x"))
    assert BRANCH.exclusions == ["public.pay*"]
    mapper({"public.t": {"as": "u"}, "public.u": {"exclude": True}}).keep_apart([name("t"), name("u")])


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"columns": {"a": "b"}}, "two columns of public.t would both be b"),
        ({"exclude_columns": ["a", "b"]}, "no column of public.t is left"),
    ],
)
def test_columns_that_cannot_be_told_apart_or_are_none_are_refused(said, fault):
    with pytest.raises(ConfigError, match=fault) as refused:
        mapper({"public.t": said}).columns(name("t"), ["a", "b"])
    assert refused.value.code == 7


def test_an_entry_that_names_a_column_which_its_table_has_not_is_told():
    found = mapper({"public.t": {"exclude_columns": ["c"]}, "public.*": {"exclude_columns": ["d"]}})
    found.refuse_unknown(name("other"), ["a"])
    with pytest.raises(ConfigError, match=r"public\.t has no column c"):
        found.refuse_unknown(name("t"), ["a", "b"])


def test_tables_that_would_be_one_are_refused():
    with pytest.raises(ConfigError, match=r"sales\.x and public\.t would both be public\.u"):
        mapper({"public.t": {"as": "u"}, "sales.x": {"as": "public.u"}}).keep_apart([name("x", "sales"), name("t")])


LAYOUT = Layout(1, name("t"), (Column("a", "text"), Column("b", "text"), Column("c", "text")), (2, 0))


def changes(*rows):
    return pa.Table.from_pylist([dict(zip(CHANGES.names, row, strict=True)) for row in rows], CHANGES)


def test_rows_lose_what_is_left_out_and_keep_their_order():
    other = Layout(2, name("other"), LAYOUT.columns)
    there = mapper({"public.t": {"exclude_columns": ["b"], "columns": {"c": "b"}}})
    views = {one.id: view(there, one) for one in (LAYOUT, other)}
    assert views[1].layout == Layout(1, name("t"), (Column("a", "text"), Column("b", "text")), (1, 0))
    batch = changes(
        (1, "7", 1, 1, "I", ["1", "x", None], None),
        (1, "7", 2, 2, "I", ["2", "y", "z"], None),
        (1, "7", 3, 1, "U", ["3", None, "4"], ["1", "x", None]),
        (2, "8", 4, 1, "A", ["{}"], None),
        (2, "8", 5, 1, "D", None, ["3", None, "4"]),
        (2, "8", 6, 1, "T", None, None),
    )
    found = mapped_and_filtered(batch, sights(views))
    assert [(row["repl_key"], row["new"], row["old"]) for row in found.to_pylist()] == [
        (1, ["1", None], None),
        (2, ["2", "y", "z"], None),
        (3, ["3", "4"], ["1", None]),
        (4, ["{}"], None),
        (5, None, ["3", "4"]),
        (6, None, None),
    ]
    assert mapped_and_filtered(batch, sights({2: views[2]})) is batch


@pytest.mark.parametrize(("actions", "left"), [("IUD", "IUDT"), ("iu", "IU"), ("D", "DT"), ("none", "")])
def test_changes_that_a_slave_does_not_apply_are_left_out(actions, left):
    views = {1: view(mapper({"public.t": {"actions": actions}}), LAYOUT)}
    row = ["1", "x", "y"]
    batch = changes(
        (1, "7", 1, 1, "I", row, None), (1, "7", 2, 1, "U", row, row), (1, "7", 3, 1, "D", None, row),
        (2, "8", 4, 1, "T", None, None), (2, "8", 5, 1, "A", ["{}"], None),
    )  # fmt: skip
    assert "".join(mapped_and_filtered(batch, sights(views))["action"].to_pylist()) == left + "A"
    assert mapper({"public.t": {"actions": actions}}).complete(name("t")) == (actions == "IUD")


def test_actions_are_those_that_a_condition_leaves_of_changes():
    found = mapper({"public.t": {"actions": "ID", "where": "b = 'in'"}})
    views = {1: view(found, LAYOUT)}
    there, gone = ["1", "in", None], ["1", "out", None]
    batch = changes(
        (1, "7", 1, 1, "U", there, gone), (1, "7", 2, 1, "U", there, there), (1, "7", 3, 1, "U", gone, there)
    )  # fmt: skip
    seen_of = mapped_and_filtered(batch, sights(views)).to_pylist()
    assert [(row["repl_key"], row["action"], row["new"], row["old"]) for row in seen_of] == [
        (1, "I", there, None),
        (3, "D", None, there),
    ]
    assert not found.complete(name("t"))


def test_a_table_whose_key_is_not_whole_has_none():
    assert view(mapper({"public.t": {"exclude_columns": ["a"]}}), LAYOUT).layout.key == ()


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("UPDATE t SET v = t.x", 'UPDATE "u" SET v = "u".x'),
        ("DELETE FROM t AS o WHERE o.x = 't1'", "DELETE FROM \"u\" AS o WHERE o.x = 't1'"),
        ("INSERT INTO public.t VALUES (1)", 'INSERT INTO "branch"."u" VALUES (1)'),
        ("UPDATE kept SET x = 1 FROM planes", 'UPDATE kept SET x = 1 FROM "far"."a.b"'),
        ("SELECT public.t.x FROM public.t", 'SELECT "branch"."u".x FROM "branch"."u"'),
        ("CREATE TABLE n (LIKE public.kind)", 'CREATE TABLE n (LIKE "branch".kind)'),
        ("ALTER TABLE t ADD COLUMN n int", 'ALTER TABLE "u" ADD COLUMN n int'),
        ("SELECT * FROM other.t", "SELECT * FROM other.t"),
    ],
)
def test_a_statement_is_put_under_the_slaves_names(text, there):
    assert parser.mapped(text, BRANCH, "public") == there


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE audit_log SET x = 1",
        "SELECT at FROM audit_x",
        "SELECT nextval('t')",
        "SELECT t(1)",
        "ALTER TABLE t RENAME TO s",
        "ALTER TABLE t SET SCHEMA public",
        "UPDATE only_new SET x = 1",
        "CREATE TABLE payments (id int)",
        "DELETE FROM t USING pay WHERE pay.id = t.id",
        "WITH t AS (SELECT 1) SELECT * FROM t",
        "COMMENT ON COLUMN planes.x IS 'y'",
        "TRUNCATE public...t CASCADE",
        "UPDATE a.b.c.t SET v = 1",
        "SELECT 1 FROM public..t",
    ],
)
def test_a_statement_on_what_the_slave_has_otherwise_is_refused(text):
    with pytest.raises(SluiceError) as refused:
        parser.mapped(text, BRANCH, "public")
    assert refused.value.code == 103


def test_a_statement_on_a_table_that_passes_a_stylesheet_is_refused():
    entries = Slave(connection="x", tables={"public.t": {"stylesheet": False}}).mapper.tables
    found = Mapper({}, entries, Stylesheet("any.xsl", b""))
    assert parser.mapped("UPDATE t SET v = 1", found, "public") == "UPDATE t SET v = 1"
    for text in ("UPDATE u SET v = 1", "GRANT SELECT ON s TO PUBLIC"):
        with pytest.raises(SluiceError, match="SLC-103"):
            parser.mapped(text, found, "public")


def test_what_the_parser_does_not_know_is_let_through_if_no_entry_could_take_a_word_of_it():
    found = mapper({"public.t": {"exclude_columns": ["x"]}})
    assert parser.mapped("GRANT SELECT ON s TO PUBLIC", found, "public") == "GRANT SELECT ON s TO PUBLIC"
    with pytest.raises(SluiceError):
        parser.mapped("ALTER TABLE t SET SCHEMA x", found, "public")


@pytest.mark.parametrize("taken", [*migrations.IN_SLAVE, *(f"repl_{name}" for name in RESOURCES)])
def test_no_table_is_called_as_one_that_sluice_keeps_unless_it_is_excluded(taken):
    ours = partial(migrations.is_ours, [Resources("repl", "repl_")])
    known = replace(mapper({"out.*": {"exclude": True}}, {"public": "repl", "out": "repl"}), ours=ours)
    with pytest.raises(SluiceError, match=f"SLC-370: .*public.{taken} .*repl.{taken} "):
        known.table(name(taken))
    assert known.table(name(taken, "out")) == name(taken, "repl")
    assert known.table(name(f"{taken}_2")) == name(f"{taken}_2", "repl")
