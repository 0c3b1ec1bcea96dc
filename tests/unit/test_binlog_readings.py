"""Statements of a binary log in each way in which the server may have read them: character sets, quotes, comments."""

from __future__ import annotations

import pytest

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.alterations import Does
from sluice.vendors.mariadb.capture.binlog.definitions import Bound, may_name, understood
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, is_about_a_transaction
from sluice.vendors.mariadb.charsets import Charsets

A = TableName("d", "a")
ALTERED, UNREAD = ((A, Does.ALTERED),), ((A, Does.UNREAD),)


class Latin(Charsets):
    """Numbers of collations as a server has them; the bytes of two character sets."""

    def __init__(self) -> None:
        self.decoder = lambda collation: {8: lambda raw: raw.decode("cp1252")}.get(collation)

    def name(self, collation):
        return {8: "latin1", 28: "gbk", 45: "utf8mb4"}.get(collation, f"number {collation}")

    def width(self, collation):
        return {8: 1, 28: 2}.get(collation, 1)


@pytest.mark.parametrize(
    ("raw", "collation", "table"),
    [
        ("TRUNCATE \u00e9t\u00e9".encode("latin1"), 8, "\u00e9t\u00e9"),
        ("TRUNCATE \u00e9t\u00e9".encode(), 45, "\u00e9t\u00e9"),
        (b"TRUNCATE a", 28, "a"),
        # What the server has made itself is in UTF-8, and bytes may be both.
        ("TRUNCATE \u00e9t\u00e9".encode(), 8, None),
        (b"TRUNCATE c\xa0", 8, None),
        # A sign of gbk may have a quote in it, and it is not certain that a prepared statement is in gbk.
        (b"TRUNCATE `c\x81` , a ``", 28, None),
        (b"TRUNCATE a /* \xb0\xa1 */", 28, "a"),
        (b"TRUNCATE a -- [", 10, "a"),
        (b"TRUNCATE a\xb0\xa1", 28, None),
        ("TRUNCATE \u00e9t\u00e9".encode("latin1"), 45, None),
        ("TRUNCATE \u00e9t\u00e9".encode("latin1"), 999, None),
        ("TRUNCATE \u00e9t\u00e9".encode(), None, None),
    ],
)
def test_names_are_read_in_the_character_set_of_the_client(raw, collation, table):
    query = Query("d", raw, 0, collation)
    if table:
        assert understood(query, Latin).tables == ((TableName("d", table), Does.EMPTIED),)
    else:
        with pytest.raises(NotUnderstood):
            understood(query, Latin)


@pytest.mark.parametrize(
    ("raw", "tables"),
    [
        (b"CREATE TABLE a (x int COMMENT '\xb0\x5c')", ALTERED),
        (b"CREATE TABLE a (x int) /* 99999 /* */", ALTERED),
        (b"CREATE TABLE IF NOT EXISTS d.a (x int DEFAULT '", UNREAD),
        (b"CREATE PROCEDURE p() SELECT '\xb0\xa1' INTO @a", ()),
        (b"CREATE VIEW v AS SELECT 1 /* 99999 /* */", ()),
        (b"CREATE TABLE a\xb0\xa1 (x int)", None),
        (b"ALTER TABLE a COMMENT '\xb0\xa1'", ALTERED),
        (b"ALTER TABLE a ADD x int \0", None),
        (b"INSERT INTO c VALUES ('\xb0\xa1')", ()),
    ],
)
def test_a_statement_is_read_as_far_as_its_names_go(raw, tables):
    query = Query("d", raw, 0, 28)
    if tables is None:
        with pytest.raises(NotUnderstood):
            understood(query, Latin)
    else:
        assert understood(query, Latin).tables == tables


@pytest.mark.parametrize(
    ("schema", "raw", "is_meant"),
    [
        ("d", b"DROP TABLE `A` x", True),
        ("d", b"DROP TABLE c x", False),
        ("own", b"DROP TABLE a x", False),
        ("own", b"DROP TABLE D. /* */ `a` x", True),
        ("own", b"DROP DATABASE d x", True),
        ("own", b"CREATE OR REPLACE SCHEMA `d` \0", True),
        ("own", b"SET STATEMENT sql_mode = '' FOR DROP DATABASE d", True),
        ("own", b"DROP DATABASE other x", False),
        ("own", b"ALTER TABLE /*!50101 x /* d.a database */ */ ADD c int (", False),
        ("own", b"ALTER TABLE x\xb0\xa1 /* d.a database */ COMMENT 'd.a schema'", False),
        ("own", b"ALTER TABLE .schema\xb0\xa1 ADD d int, ADD a int", False),
        ("own", b"ALTER TABLE x\xb0\xa1 RENAME TO d.a", True),
        ("own", b"ALTER TABLE /*!50101 d.a /* x */ */ ADD c int, x \xb0\xa1 (", True),
        ("own", b"SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR ALTER TABLE x COMMENT \"d.a database\"", False),
        ("own", b'SET STATEMENT sql_mode = \'ANSI_QUOTES\' FOR TRUNCATE "d"."a"', True),
        ("own", b"TRUNCATE x, d.a \0", True),
    ],
)
def test_a_statement_that_is_not_understood_may_be_about_tables_that_it_names(schema, raw, is_meant):
    assert may_name(Query(schema, raw, 0, 28), Latin, [A]) == ({A} if is_meant else set())


def test_of_names_beyond_ascii_in_signs_of_several_bytes_each_may_be_meant():
    name = TableName("d", "\u4e2d")
    text = "TRUNCATE \u4e2d".encode("gbk")
    with pytest.raises(NotUnderstood):
        understood(Query("d", text, 0, 28), Latin)
    assert may_name(Query("d", text, 0, 28), Latin, [name, A]) == {name}
    assert may_name(Query("own", text, 0, 28), Latin, [name, A]) == set()


@pytest.mark.parametrize(
    ("raw", "collation", "bound"),
    [
        (b"BEGIN", 82, Bound.BEGINS),
        (b"COMMIT", 10, Bound.COMMITS),
        (b"ROLLBACK", 10, Bound.ROLLS_BACK),
        (b"XA START X'78',X'',1", 10, Bound.BEGINS),
        ("SAVEPOINT `\u00e9`".encode(), 10, Bound.SAVES),
        ("SAVEPOINT `\u00e9`".encode(), 8, Bound.SAVES),
        ("ROLLBACK TO `\u00e9`".encode(), 28, Bound.ROLLS_BACK_PART),
        ("ROLLBACK TO `\u00e9`".encode(), 999, Bound.ROLLS_BACK_PART),
        # A name may be none.
        (b"ROLLBACK TO `\xed\xa0\x80`", 8, Bound.ROLLS_BACK_PART),
    ],
)
def test_what_the_server_writes_about_transactions_is_in_utf_8_whatever_the_client_has(raw, collation, bound):
    query = Query("own", raw, 0, collation)
    # Whose transaction it is does not depend on the database of the session.
    assert is_about_a_transaction(query)
    found = understood(query, Latin)
    assert (found.bound, found.savepoint) == (bound, "\u00e9" if "\u00e9".encode() in raw else found.savepoint)


HIDDEN = rb"SET STATEMENT max_statement_time = 0 + '\' FOR TRUNCATE TABLE %s -- ' FOR %s"


@pytest.mark.parametrize("mode", [0, 1 << 20], ids=["backslashes escape", "backslashes do not"])
@pytest.mark.parametrize(
    "raw",
    [
        # A prepared statement, or one of a routine, was read under another sql_mode than the log has.
        HIDDEN % (b"own.z", b"DROP DATABASE d"),
        HIDDEN % (b"own.z", b"DROP TABLE d.a"),
        HIDDEN % (b"d.a", b"TRUNCATE own.z"),
        rb"ALTER TABLE own.z COMMENT '\', RENAME TO d.a -- '",
        # So a sign of gbk may hold the backslash.
        b"SET STATEMENT max_statement_time = 0 + '\xbf\\' FOR TRUNCATE TABLE d.a -- ' FOR TRUNCATE own.z",
        "ALTER TABLE `\u4e2d` ADD b int, COMMENT '` -- x'".encode(),
    ],
)
def test_what_two_readings_say_otherwise_is_carried_out_by_neither(raw, mode):
    for collation in (8, 45):
        query = Query("own", raw, mode, collation)
        with pytest.raises(NotUnderstood):
            understood(query, Latin)


def test_of_two_readings_both_tables_are_meant():
    query = Query("own", HIDDEN % (b"own.z", b"TRUNCATE d.a"), 0, 45)
    assert may_name(query, Latin, {A, TableName("own", "z"), TableName("d", "b")}) == {A, TableName("own", "z")}


@pytest.mark.parametrize(
    "raw",
    [
        rb"ALTER TABLE d.a COMMENT 'it\'s', ADD b text DEFAULT 'C:\\x'",
        rb"ALTER TABLE d.a COMMENT 'one\'s and two\'s' , ADD b int",
        b'ALTER TABLE d.a ADD b text COMMENT "a text"',
        "ALTER TABLE d.a ADD `\u8ba2\u5355` int COMMENT '\u4e2d'".encode(),
        "ALTER TABLE d.a ADD `caf\u00e9` int".encode(),
    ],
)
def test_ordinary_texts_have_one_reading(raw):
    assert understood(Query("d", raw, 0, 45), Latin).tables == ALTERED
