"""The columns of a table behind a CREATE or an ALTER of the binary log, as far as they are certain."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.table_definition import TableChange
from sluice.vendors.mariadb.capture.binlog.carried import of_alter
from sluice.vendors.mariadb.capture.binlog.definitions import definition
from sluice.vendors.mariadb.capture.binlog.derivation import Reading, altered, created
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, is_read_as_written, readings

T = TableName("d", "t")
TEXT = "character varying(9)"
BEFORE = Layout(
    1, T, (Column("id", "integer", True), Column("v", TEXT), Column("n", "numeric(6,2)"), Column("b", "bytea")), (0,)
)
MORE = replace(
    BEFORE,
    columns=(
        *BEFORE.columns,
        Column("at", "timestamp(0) with time zone"),
        Column("long", "text"),
        Column("m", "integer"),
    ),
)


def said(text):
    return definition("d", readings(Query("d", text.encode(), 0), dict)[0]).rest


def changed(text, *, before=BEFORE, **how):
    return altered(before, said(f"ALTER TABLE t {text}"), Reading(**how))


def columns(derived):
    return [(one.column.name, one.column.type, one.column.not_null) for one in derived.columns]


ID = ("id", "integer", True)
CREATED = {
    "(id int AUTO_INCREMENT PRIMARY KEY, v varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL)": (
        [ID, ("v", TEXT, True)],
        ("id",),
    ),
    "(id int(11) unsigned, KEY k (id), `key` enum('a','b') COMMENT 'c', CONSTRAINT p PRIMARY KEY USING BTREE (id))"
    " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4": ([("id", "bigint", True), ("key", "text", False)], ("id",)),
    "(a decimal(9,2), f double precision unsigned, at datetime(3) DEFAULT current_timestamp(3) ON UPDATE now(3), "
    "b bool, j json CHECK (json_valid(j)), u uuid, raw varbinary(5), x bit(3) DEFAULT b'101', c char)": (
        [
            ("a", "numeric(9,2)", False),
            ("f", "double precision", False),
            ("at", "timestamp(3) without time zone", False),
            ("b", "smallint", False),
            ("j", "text", False),
            ("u", "uuid", False),
            ("raw", "bytea", False),
            ("x", "bit(3)", False),
            ("c", "character varying(1)", False),
        ],
        (),
    ),
    "LIKE other": None,
    "(LIKE other)": None,
    "(id int, g int AS (id + 1))": None,
    "(id serial)": None,
    "(at timestamp)": None,
    "(v varchar(9)) DEFAULT CHARSET = binary": None,
    "(id int, PRIMARY KEY (v(3)))": None,
    "(id int) WITH SYSTEM VERSIONING": None,
    "(v varchar(20000))": None,
    "(v varchar(9) CHARACTER SET binary)": None,
}


@pytest.mark.parametrize("text", CREATED)
def test_a_new_table_has_the_columns_of_its_statement_or_is_not_followed(text):
    rest = said(f"CREATE TABLE t {text}")
    if CREATED[text] is None:
        with pytest.raises(NotUnderstood):
            created(rest)
        return
    found = created(rest)
    assert (columns(found), found.key) == CREATED[text]


V, N, B = ("v", TEXT, False), ("n", "numeric(6,2)", False), ("b", "bytea", False)
ALTERED = {
    "ADD c int": ([ID, V, N, B, ("c", "integer", False)], {"c": None}),
    "ADD COLUMN c int NOT NULL AFTER id": ([ID, ("c", "integer", True), V, N, B], {"c": "0"}),
    "ADD COLUMN (c decimal(5,2) DEFAULT 1.5, d varchar(3) NOT NULL), ADD INDEX (v), ALGORITHM=INSTANT": (
        [ID, V, N, B, ("c", "numeric(5,2)", False), ("d", "character varying(3)", True)],
        {"c": "1.50", "d": ""},
    ),
    "ADD c char(5) DEFAULT 'it''s  ', ADD d enum('x','y') NOT NULL FIRST": (
        [("d", "text", True), ID, V, N, B, ("c", "character varying(5)", False)],
        {"c": "it's", "d": "x"},
    ),
    "ADD c tinyint(1) NOT NULL DEFAULT TRUE, ADD d double DEFAULT -3, ADD e bigint DEFAULT '07'": (
        [ID, V, N, B, ("c", "smallint", True), ("d", "double precision", False), ("e", "bigint", False)],
        {"c": "1", "d": "-3", "e": "7"},
    ),
    "ADD c date DEFAULT '2024-02-29', ADD d timestamp NULL, ADD e decimal(4,1) DEFAULT -0": (
        [ID, V, N, B, ("c", "date", False), ("d", "timestamp(0) with time zone", False), ("e", "numeric(4,1)", False)],
        {"c": "2024-02-29", "d": None, "e": "0.0"},
    ),
    "DROP v, DROP COLUMN IF EXISTS none": ([ID, N, B], {}),
    "ADD COLUMN IF NOT EXISTS V int": ([ID, V, N, B], {}),
    "RENAME COLUMN id TO key_, CHANGE v w text NOT NULL FIRST": (
        [("w", "text", True), ("key_", "integer", True), N, B],
        {},
    ),
    "MODIFY id bigint AUTO_INCREMENT, MODIFY n decimal(9,3)": (
        [("id", "bigint", True), V, ("n", "numeric(9,3)", False), B],
        {},
    ),
    "MODIFY b longblob NOT NULL, COMMENT 'x, DROP v'": ([ID, V, N, ("b", "bytea", True)], {}),
    "DROP PRIMARY KEY, ADD CONSTRAINT p PRIMARY KEY (v, id)": ([ID, ("v", TEXT, True), N, B], {}),
    "ADD PARTITION (PARTITION p VALUES LESS THAN (9), PARTITION q VALUES LESS THAN (10))": ([ID, V, N, B], {}),
    "ADD c enum('a ','b') NOT NULL, ADD d double DEFAULT -0, ADD e enum('x ') DEFAULT 'x'": (
        [ID, V, N, B, ("c", "text", True), ("d", "double precision", False), ("e", "text", False)],
        {"c": "a", "d": "0", "e": "x"},
    ),
    "DROP PRIMARY KEY": ([ID, V, N, B], {}),
    "DROP INDEX v, ADD CONSTRAINT UNIQUE (v), ALTER v SET DEFAULT 'x', ENGINE=InnoDB": ([ID, V, N, B], {}),
}


@pytest.mark.parametrize("text", ALTERED)
def test_an_alter_says_what_becomes_of_columns_and_of_rows_that_are_there(text):
    found = changed(text)
    shown, filled = ALTERED[text]
    assert columns(found) == shown
    assert {one.column.name: one.filled for one in found.columns if one.was is None} == filled


@pytest.mark.parametrize(
    "text",
    [
        "ADD c int DEFAULT (1 + 1)",
        "ADD c datetime DEFAULT current_timestamp",
        "ADD c timestamp",
        "ADD c timestamp NULL DEFAULT '2024-01-01 00:00:00'",
        "ADD c int AUTO_INCREMENT UNIQUE",
        "ADD c date NOT NULL",
        "ADD c varchar(9) DEFAULT 'a\\n'",
        "ADD c varchar(9) DEFAULT 'é'",
        "ADD c varchar(9) DEFAULT 'a' 'b'",
        "ADD c varchar(9) DEFAULT x'41'",
        "ADD c enum('a') DEFAULT 'A'",
        "ADD c int AS (id) STORED",
        "ADD v int",
        "DROP none",
        "DROP id, DROP v, DROP n, DROP b, DROP at, DROP `long`, DROP m",
        "DROP v, MODIFY v text",
        "RENAME COLUMN v TO n",
        "ADD PRIMARY KEY (v)",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (v(3))",
        "MODIFY b binary(8)",
        "MODIFY v char(9)",
        "MODIFY v varchar(8)",
        "MODIFY id varchar(20)",
        "MODIFY v enum('a')",
        "MODIFY n double",
        "ADD PERIOD FOR p (a, b)",
        "ADD SYSTEM VERSIONING",
        "MODIFY v tinytext, ADD c int DEFAULT 5. NOT NULL",
        "CONVERT TO CHARACTER SET binary",
        "DROP INDEX `PRIMARY`",
        "MODIFY at timestamp NOT NULL",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (at)",
        "MODIFY `long` tinytext",
        "MODIFY `long` text",
        "MODIFY n int NOT NULL AUTO_INCREMENT",
        "ADD c int DEFAULT 1, ALTER c SET DEFAULT 2",
        "ALTER COLUMN C DROP DEFAULT, ADD c int NOT NULL DEFAULT 1",
        "ADD c enum('x','y') DEFAULT 'y', ALTER COLUMN IF EXISTS c SET DEFAULT 'x'",
        "DROP PRIMARY KEY, ADD c int, ADD PRIMARY KEY (id, c)",
    ],
)
def test_an_alter_that_is_not_certain_is_not_followed(text):
    with pytest.raises(NotUnderstood):
        changed(text, before=MORE)


CHOSEN = replace(
    BEFORE,
    columns=(Column("id", "integer", True), Column("e", "text", members=("a", "1", "it's")), Column("o", "text")),
)


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("enum('a','1','it''s','more')", True),
        ("set('a','1','it''s') NOT NULL", True),
        # It would be taken for the number of the first one, without an error.
        ("enum('a','more')", False),
        ("enum('A','1','it''s')", False),
        ("enum('1','a','it''s','more')", False),
        ("varchar(3)", False),
    ],
)
def test_members_that_follow_those_of_before_bend_no_value(kind, kept):
    if not kept:
        with pytest.raises(NotUnderstood):
            changed(f"MODIFY e {kind}", before=CHOSEN)
        return
    found = changed(f"MODIFY e {kind}, ADD n enum('x')", before=CHOSEN).layout(2, T)
    assert found.columns[1].members[:3] == ("a", "1", "it's")
    assert found.columns[3].members == ("x",)
    with pytest.raises(NotUnderstood):
        changed("MODIFY o enum('a')", before=CHOSEN)


def test_a_default_of_a_session_that_bends_values_is_not_certain():
    changed("ADD c int", strict=False)
    with pytest.raises(NotUnderstood):
        changed("ADD c int DEFAULT 1", strict=False)


def test_a_column_that_may_number_a_row_with_0_anew_is_not_certain():
    with pytest.raises(NotUnderstood, match="number a row anew"):
        changed("MODIFY id bigint AUTO_INCREMENT", keeps_zeros=False)
    # The server keeps a 0 where it has numbered rows before.
    counting = altered(BEFORE, said("ALTER TABLE t MODIFY id int AUTO_INCREMENT"), Reading()).layout(2, T)
    assert columns(changed("MODIFY id bigint AUTO_INCREMENT, ADD c int", before=counting, keeps_zeros=False))[0] == (
        "id",
        "bigint",
        True,
    )
    renamed = changed("CHANGE id k int", before=counting, keeps_zeros=False).layout(3, T)
    with pytest.raises(NotUnderstood, match="number a row anew"):
        changed("MODIFY k bigint AUTO_INCREMENT", before=renamed, keeps_zeros=False)


def test_what_a_setting_decides_is_certain_where_it_decides_nothing():
    changed("DROP PRIMARY KEY, ADD PRIMARY KEY (id)", strict=False)
    with pytest.raises(NotUnderstood, match="values for NULL"):
        changed("DROP PRIMARY KEY, ADD PRIMARY KEY (v)", strict=False)
    with pytest.raises(NotUnderstood, match="0 or NULL"):
        changed("MODIFY m int NOT NULL AUTO_INCREMENT", before=MORE)


def test_names_that_differ_in_more_than_case_are_told_apart():
    both = replace(BEFORE, columns=(Column("id", "integer", True), Column("ß", "integer"), Column("ss", "integer")))
    assert columns(changed("DROP ss", before=both)) == [ID, ("ß", "integer", False)]
    with pytest.raises(NotUnderstood, match="one column or another"):
        changed("DROP SS", before=both)


@pytest.mark.parametrize("mode", [1 << 9, 1 << 31, 1 << 32, None])
def test_a_session_of_another_mode_may_mean_other_values(mode):
    assert not is_read_as_written(Query("d", b"", mode))
    assert is_read_as_written(Query("d", b"", 1 << 21))


def test_a_command_has_definitions_whose_numbers_tell_columns_apart():
    derived = changed("DROP b, RENAME COLUMN v TO w, ADD c int NOT NULL FIRST")
    text = of_alter(BEFORE, derived.layout(2, T), derived)
    change = TableChange.from_json(text)
    assert [(one.number, one.name, one.filled) for one in change.after.columns] == [
        (5, "c", "0"),
        (1, "id", None),
        (2, "w", None),
        (3, "n", None),
    ]
    assert change.after.key == ("id",)
    assert "ALTER" not in text
    assert json.loads(text)["before"]["columns"][3]["number"] == 4
