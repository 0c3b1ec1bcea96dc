"""Ranges of keys are compared by checksums; whatever differs is found exactly, and nothing else (R10)."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import SEALED_ENV, seal, sealed_text
from sluice.model.key_sample import KeySample
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import definition
from sluice.vendors.postgresql.read import checksums, cut_tables
from sluice.vendors.postgresql.read.checksums import ChecksumSide
from sluice.vendors.postgresql.read.row_bytes import forms, image
from sluice.vendors.postgresql.session import connect, exported
from sluice.vendors.protocol.compare import Comparison, Side
from sluice.vendors.registry import vendor
from sluice.verify import ranges
from sluice.verify.difference import Keeping

pytestmark = [pytest.mark.postgres]

ROWS = 400
# Each table with the expression that makes its key of a number.
TABLES = {
    "narrow": ("id int PRIMARY KEY", "{0}"),
    "wide": ("id bigint PRIMARY KEY", "{0}::bigint * 10000000000"),
    "named": ("id text PRIMARY KEY", "chr(65 + {0} % 58) || 'ä' || {0}"),
    "exact": ("id numeric PRIMARY KEY", "{0} / 7.0"),
    "two": ("a int, id int, PRIMARY KEY (a, id)", "{0} / 9, {0}"),
    "late": ("id int PRIMARY KEY DEFERRABLE", "{0}"),
    "heap": ("id int", "{0}"),
}


@pytest.fixture(scope="module")
def pair(server):
    """Two databases with the same tables, whose ranges are small."""
    infos = {name: server.create_database() for name in ("master", "zurich")}
    sessions = {name: server.connect(info) for name, info in infos.items()}
    for session in sessions.values():
        for table, (columns, key) in TABLES.items():
            session.execute(
                f"CREATE TABLE {table} ({columns.split(', PRIMARY')[0]}, no int, note text, score float8"
                f"{', PRIMARY' + columns.split(', PRIMARY')[1] if ', PRIMARY' in columns else ''});"
                f"INSERT INTO {table} SELECT {key.format('g')}, g, 'note ' || g, g / 10.0 "
                f"FROM generate_series(1, {ROWS}) AS g;"
                f"CREATE TABLE kept_{table} AS TABLE {table}"
            )
        session.execute("ALTER TABLE narrow ALTER note TYPE varchar(50)")
    sessions["zurich"].execute("ALTER TABLE narrow ALTER id TYPE bigint, ALTER note TYPE text")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(infos))
        patch.setattr(checksums, "LEAF_ROWS", 10)
        patch.setattr(checksums, "FAN_OUT", 4)
        patch.setattr(cut_tables, "_BLOCKS", 3)
        patch.setattr(cut_tables, "_PARTS", 12)
        yield SimpleNamespace(infos=infos, sessions=sessions)
    for session in sessions.values():
        session.close()
    server.drop_databases(infos.values())


def compared(pair, table, most=1000, percent=100, least=None, fine=False):
    """The difference of a table, as tasks find it."""
    name = TableName("public", table)
    with ExitStack() as stack:
        opened = [stack.enter_context(connect(info, "verify", autocommit=True)) for info in pair.infos.values()]
        for session in opened:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        layout = definition.read(opened[0], name).layout
        sides = [
            Side("postgresql", side, exported(session)[0]) for side, session in zip(pair.infos, opened, strict=True)
        ]
        kept = Keeping(most)
        sample = (KeySample.draw(percent), least)
        job = Comparison(sealed_text(), "zurich", view(Mapper(), layout), *sides, *sample, keeping=kept)
        jobs = ranges.cut([job], 2, fine=fine)
        found = [(one, vendor("postgresql").compare_table(one)) for one in jobs]
    (_, difference) = ranges.by_table(found)[0]
    return difference, len(jobs)


def harmed(pair, table, statement, side="zurich"):
    """The difference after some harm, which is undone."""
    session = pair.sessions[side]
    session.execute(statement)
    try:
        return compared(pair, table)[0]
    finally:
        session.execute(f"TRUNCATE {table}; INSERT INTO {table} TABLE kept_{table}")


def rows(pair, side, table):
    """The rows of a side by their keys, both as texts."""
    key = "a::text, id::text" if table == "two" else "id::text"
    found = pair.sessions[side].execute(f"SELECT ARRAY[{key}], t::text FROM {table} AS t").fetchall()
    return {tuple(key): row for key, row in found}


def wanted(pair, table):
    """(kind, key) of each row that differs, found by looking at all rows."""
    ours, theirs = (rows(pair, side, table) for side in ("master", "zurich"))
    found = {("missing", key) for key in ours.keys() - theirs.keys()}
    found |= {("extra", key) for key in theirs.keys() - ours.keys()}
    return found | {("changed", key) for key in ours.keys() & theirs.keys() if ours[key] != theirs[key]}


@pytest.mark.full
@pytest.mark.parametrize("table", TABLES)
def test_equal_tables_are_equal_and_only_tables_that_sort_alike_are_cut(pair, table):
    difference, tasks = compared(pair, table)
    assert (difference.compared, difference.different, difference.rows) == (ROWS, 0, [])
    assert (tasks > 1) == (table != "heap")
    assert (difference.share_moved < 0.5) == (table != "heap")


# The harm by its name, and how many rows then differ: missing, extra, changed.
HARMS = {
    "one byte": ("UPDATE {} SET note = 'note 20!' WHERE no = 200", (0, 0, 1)),
    "NULL": ("UPDATE {} SET note = NULL WHERE no = 100", (0, 0, 1)),
    "last digit": ("UPDATE {} SET score = 0.1::float8 + 0.2::float8 WHERE no = 3", (0, 0, 1)),
    "swapped": ("UPDATE {} SET note = 'note ' || 15 - no WHERE no IN (7, 8)", (0, 0, 2)),
    "first key": ("DELETE FROM {} WHERE no = 1", (1, 0, 0)),
    "last key": ("DELETE FROM {} WHERE no = 400", (1, 0, 0)),
    "each edge": ("UPDATE {} SET note = 'x' WHERE no % 10 IN (0, 1, 9)", (0, 0, 120)),
    "whole table": ("DELETE FROM {}", (ROWS, 0, 0)),
    "every row": ("UPDATE {} SET score = score + 1", (0, 0, ROWS)),
}


@pytest.mark.parametrize("table", ["two", "heap"])
@pytest.mark.parametrize(("harm", "counts"), HARMS.values(), ids=HARMS)
def test_seeded_harm_is_found_exactly(pair, table, harm, counts):
    difference = harmed(pair, table, harm.format(table))
    if table == "heap":
        counts = (counts[0] + counts[2], counts[1] + counts[2], 0)
    assert (difference.missing, difference.extra, difference.changed) == counts
    assert len(difference.rows) == sum(counts)
    assert difference.more == 0


def test_all_rows_of_a_slave_are_extra_if_the_master_has_none(pair):
    difference = harmed(pair, "narrow", "DELETE FROM narrow", side="master")
    assert (difference.missing, difference.extra, difference.changed) == (0, ROWS, 0)


def test_keys_beyond_those_of_the_master_are_found_even_if_his_type_has_none_of_them(pair):
    many = "INSERT INTO narrow SELECT g, g, 'x', 0 FROM generate_series(3000000001, 3000000100) AS g"
    before = "INSERT INTO narrow SELECT -g, g, 'x', 0 FROM generate_series(0, 99) AS g;"
    difference = harmed(pair, "narrow", before + many.replace("g, g,", "g, 1,"))
    assert (difference.missing, difference.extra, difference.changed) == (0, 200, 0)


@pytest.mark.full
def test_each_comparison_adds_up_other_hashes_and_both_sides_the_same(pair, monkeypatch):
    plain, sums = ChecksumSide.checksums, []

    def summed(side, within):
        found = plain(side, within)
        sums.append(sorted((rows, one, other) for rows, one, other, _ in found.values()))
        return found

    monkeypatch.setattr(ChecksumSide, "checksums", summed)
    for _ in range(2):
        assert compared(pair, "narrow")[0].different == 0
    each = {str(one) for one in sums}
    assert len(each) == len(sums) / 2
    assert not any(one == other for some in sums for _, one, other in some)


# Values whose forms are easily taken for one another, by types.
ODD = {
    "text": ["", "0", " ", "\\x00"],
    "varchar": ["", "0"],
    "bytea": ["", "\\x00", "\\x0000"],
    "numeric": ["1", "1.0", "NaN", "-1", "0"],
    "jsonb": ['""', '"0"'],
    "int4": ["0", "1"],
    "float8": ["0", "-0", "NaN"],
    "name": ["", "0"],
}


def test_bytes_of_rows_differ_where_their_texts_do(pair):
    names = list(ODD)
    made = image(names, forms(names, ["text" if one == "name" else one for one in names]))
    rows = sql.SQL(" CROSS JOIN ").join(
        sql.SQL("unnest({}::{}[]) AS {} ({})").format(
            sql.Literal([None, *values]), sql.SQL(kind), sql.Identifier(f"of_{kind}"), sql.Identifier(kind)
        )
        for kind, values in ODD.items()
    )
    counted = "SELECT count(*), count(DISTINCT made), count(*) - count(made) FROM (SELECT {} AS made FROM {}) AS t"
    count, different, without = pair.sessions["master"].execute(sql.SQL(counted).format(made, rows)).fetchone()
    assert (different, without) == (count, 0)
    # More columns than a function of the server has arguments.
    many = sql.SQL("SELECT octet_length({}) FROM {}").format(image(["int4"] * 250, ["int4send"] * 250), rows)
    lengths = pair.sessions["master"].execute(sql.SQL("SELECT DISTINCT * FROM ({}) AS t").format(many)).fetchall()
    assert sorted(lengths) == [(250,), (1 + 4 * 250,)]


def test_rows_of_a_slave_whose_key_is_null_are_found(pair):
    slave = pair.sessions["zurich"]
    slave.execute("ALTER TABLE narrow DROP CONSTRAINT narrow_pkey, ALTER id DROP NOT NULL")
    difference = harmed(pair, "narrow", "INSERT INTO narrow VALUES (NULL, 1, 'x', 0); DELETE FROM narrow WHERE id = 9")
    slave.execute("ALTER TABLE narrow ADD PRIMARY KEY (id)")
    assert {(row.kind, row.key) for row in difference.rows} == {("extra", (None,)), ("missing", ("9",))}


def test_rows_alike_without_a_key_are_counted(pair):
    difference = harmed(pair, "heap", "INSERT INTO heap TABLE heap; DELETE FROM heap WHERE no = 5")
    assert (difference.missing, difference.extra, difference.changed) == (1, ROWS - 1, 0)


def test_beyond_the_limit_the_ranges_are_named(pair):
    session = pair.sessions["zurich"]
    session.execute("UPDATE narrow SET note = 'x' WHERE no BETWEEN 100 AND 200")
    difference, _ = compared(pair, "narrow", most=10)
    session.execute("TRUNCATE narrow; INSERT INTO narrow TABLE kept_narrow")
    assert (difference.changed, len(difference.rows), difference.more) == (101, 10, 91)
    low, high = difference.ranges[0][0], difference.ranges[-1][1]
    # Where ranges begin follows the server's estimates, which others renew when they like.
    assert int(low[0]) <= 110
    assert 200 < int(high[0]) < int(low[0]) + ROWS / 2


def test_a_sample_is_the_same_on_both_sides(pair):
    session = pair.sessions["zurich"]
    session.execute("UPDATE narrow SET note = 'x'")
    difference, _ = compared(pair, "narrow", percent=20)
    session.execute("TRUNCATE narrow; INSERT INTO narrow TABLE kept_narrow")
    assert 0 < difference.compared < 200
    assert difference.changed == difference.compared


@pytest.mark.full
def test_a_throttled_comparison_has_more_ranges(pair, monkeypatch):
    monkeypatch.setattr(ranges, "_MOST", 2)
    monkeypatch.setattr(cut_tables, "_BLOCKS", 1)
    (difference, tasks), (_, fewer) = (compared(pair, "two", fine=fine) for fine in (True, False))
    assert (difference.compared, difference.different) == (ROWS, 0)
    assert tasks > fewer > 1


@pytest.mark.parametrize(
    ("table", "least", "most"), [("narrow", 40, 250), ("two", 40, 250), ("narrow", 300, ROWS), ("heap", 40, ROWS)]
)
def test_as_many_keys_are_drawn_as_suffice_and_all_if_there_are_too_few_or_none(pair, table, least, most):
    difference, tasks = compared(pair, table, least=least)
    assert least <= difference.compared <= most
    assert (difference.compared == ROWS) == (most == ROWS)
    assert (difference.different, tasks > 1) == (0, table != "heap")


@pytest.mark.full
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    table=st.sampled_from(["narrow", "wide", "named", "exact", "two"]),
    gone=st.sets(st.integers(1, ROWS), max_size=30),
    altered=st.sets(st.integers(1, ROWS), max_size=30),
    span=st.tuples(st.integers(1, ROWS), st.integers(0, 120)),
    lost=st.sets(st.integers(1, ROWS), max_size=10),
)
def test_whatever_differs_is_found_and_nothing_else(pair, table, gone, altered, span, lost):
    first, count = span
    master, slave = pair.sessions["master"], pair.sessions["zurich"]
    try:
        slave.execute(f"DELETE FROM {table} WHERE no = ANY(%s)", [list(gone)])
        slave.execute(f"UPDATE {table} SET note = note || ' ' WHERE no = ANY(%s)", [list(altered)])
        slave.execute(f"DELETE FROM {table} WHERE no BETWEEN %s AND %s", [first, first + count - 1])
        master.execute(f"DELETE FROM {table} WHERE no = ANY(%s)", [list(lost)])
        difference, _ = compared(pair, table)
        right = wanted(pair, table)
        assert {(row.kind, row.key) for row in difference.rows} == right
        assert len(difference.rows) == difference.different == len(right)
    finally:
        for session in (master, slave):
            session.execute(f"TRUNCATE {table}; INSERT INTO {table} TABLE kept_{table}")
