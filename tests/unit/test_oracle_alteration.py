"""An ALTER on Oracle, statement by statement: a catalog that refuses what the manual does is as each one says."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from support.oracle_catalog import Catalog, Table
from support.oracle_catalog import Column as Kept

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.committed_ddl import key_of
from sluice.vendors.oracle.catalog.slave_tables import table_of
from sluice.vendors.oracle.ddl.alteration import Alteration, described, without_defaults
from sluice.vendors.planned_ddl import Altered, Filled

T, U = TableName("S", "t"), TableName("S", "u")
ID = Column("id", "integer", True)
V, W = Column("v", "character varying(5)"), Column("w", "character varying(5)")
WIDER, TEXT = replace(V, type="character varying(9)"), Column("v", "text")


def layout(columns, key=(0,), name=T):
    return Layout(0, name, tuple(columns), key)


def alteration(before, after, *, twins=None, filled=(), rows=True, there=()):
    """From a layout to another, whose columns of one name are the same; `there`: types that somebody made otherwise."""
    was, becomes = table_of(before), table_of(after)
    names = [one.name for one in before.columns]
    twins = twins or tuple(one.name if one.name in names else None for one in after.columns)
    known = [[row[0], dict(there).get(row[0], row[1]), *row[2:]] for row in described(was.columns, was.key)]
    new = tuple(Filled(one, text) for one in after.columns for name, text in filled if one.name == name)
    return Alteration(Altered(known, before, after, tuple(twins), new, rows), was, becomes), known


def carried_out(before, after, **more):
    """The statements, with `T` for the table. After each the catalog is as it says."""
    found, known = alteration(before, after, **more)
    steps, catalog = found.steps(), Catalog("S")
    catalog.tables["t"] = Table(
        {str(name): Kept(str(kind), null == "N") for name, kind, null, _ in known},
        [row[0] for row in sorted((row for row in known if row[3]), key=lambda row: row[3])],
        more.get("rows", True),
    )
    for step in steps:
        catalog.define(step.statement)
        assert step.state == states(catalog, before.name, after.name)
    for one in without_defaults(after.name, [name for name, _ in more.get("filled", ())]):
        catalog.define(one)
    return [step.statement.replace('"S"."t"', "T").removeprefix("ALTER TABLE T ") for step in steps]


def states(catalog, *names):
    return {key_of(name): rows_of(catalog.tables.get(name.table)) for name in names}


def rows_of(table):
    if table is None:
        return None
    place = {name: str(number + 1) for number, name in enumerate(table.key)}
    return sorted(
        [name, one.kind, "N" if one.not_null else "Y", place.get(name)] for name, one in table.columns.items()
    )


def fresh(name):
    return replace(ID, name=name)


@pytest.mark.parametrize(
    ("before", "after", "more", "statements"),
    [
        (layout([ID]), layout([ID, V]), {}, ['ADD ("v" VARCHAR2(5 CHAR) NULL)']),
        (
            layout([ID]),
            layout([ID, Column("n", "bigint", True)]),
            {"filled": [("n", "7")]},
            ['ADD ("n" NUMBER(19,0) DEFAULT 7 NOT NULL)'],
        ),
        (layout([ID, V, W]), layout([ID]), {}, ['SET UNUSED ("v", "w")']),
        (layout([ID, V]), layout([ID, W]), {"twins": ("id", "v")}, ['RENAME COLUMN "v" TO "w"']),
        (
            layout([ID, V, W]),
            layout([ID, W, V]),
            {"twins": ("id", "v", "w")},
            [
                'RENAME COLUMN "v" TO "SLUICE_ON_THE_WAY_0"',
                'RENAME COLUMN "w" TO "v"',
                'RENAME COLUMN "SLUICE_ON_THE_WAY_0" TO "w"',
            ],
        ),
        (
            layout([ID, V, W]),
            layout([ID, W]),
            {"twins": ("id", "v")},
            ['SET UNUSED ("w")', 'RENAME COLUMN "v" TO "w"'],
        ),
        (
            layout([ID, V, Column("n", "numeric(6,2)")]),
            layout([ID, replace(V, type="character varying(9)", not_null=True), Column("n", "numeric(9,3)")]),
            {},
            ['MODIFY ("n" NUMBER(9,3), "v" VARCHAR2(9 CHAR) NOT NULL)'],
        ),
        (layout([ID, replace(V, not_null=True)]), layout([ID, V]), {}, ['MODIFY ("v" NULL)']),
        (layout([ID, fresh("n")]), layout([ID, Column("n", "bigint", True)]), {}, ['MODIFY ("n" NUMBER(19,0))']),
        # It has more room, and holds every value already.
        (layout([ID, V]), layout([ID, WIDER]), {"there": [("v", "VARCHAR2(99 CHAR)")]}, []),
        (layout([ID, V]), layout([ID, WIDER]), {"there": [("v", "CLOB")]}, []),
        (layout([ID, WIDER]), layout([ID, V]), {}, []),
        # No row is there, so a column may become any other.
        (layout([ID, V]), layout([ID, replace(V, type="date")]), {"rows": False}, ['MODIFY ("v" DATE)']),
        (layout([ID, V]), layout([ID, TEXT]), {"rows": False}, ['SET UNUSED ("v")', 'ADD ("v" CLOB NULL)']),
        # Of rows that are there a text becomes a longer one in another column.
        (
            layout([ID, V, W]),
            layout([ID, replace(TEXT, not_null=True)]),
            {},
            [
                'ADD ("SLUICE_ON_THE_WAY_0" CLOB NULL)',
                'BEGIN\n    UPDATE T SET "SLUICE_ON_THE_WAY_0" = "v";\n'
                '    EXECUTE IMMEDIATE \'ALTER TABLE T SET UNUSED ("v", "w")\';\nEND;',
                'RENAME COLUMN "SLUICE_ON_THE_WAY_0" TO "v"',
                'MODIFY ("v" NOT NULL)',
            ],
        ),
        # The last column goes once others are there.
        (
            layout([V], ()),
            layout([W, fresh("n")], ()),
            {"rows": False},
            ['ADD ("w" VARCHAR2(5 CHAR) NULL, "n" NUMBER(10,0) NOT NULL)', 'SET UNUSED ("v")'],
        ),
        (
            layout([ID, fresh("n")]),
            layout([ID, fresh("n")], (1, 0)),
            {},
            ["DROP PRIMARY KEY", 'ADD PRIMARY KEY ("n", "id")'],
        ),
        (layout([ID, V]), layout([V], ()), {}, ["DROP PRIMARY KEY", 'SET UNUSED ("id")']),
        (
            layout([ID, V]),
            layout([fresh("n"), V, W], name=U),
            {"twins": ("id", "v", None)},
            ['RENAME COLUMN "id" TO "n"', 'ADD ("w" VARCHAR2(5 CHAR) NULL)', 'RENAME TO "u"'],
        ),
    ],
)
def test_the_statements_of_an_alter(before, after, more, statements):
    assert carried_out(before, after, **more) == statements


@pytest.mark.parametrize(
    ("before", "after", "more", "match"),
    [
        ([ID, V], [ID, replace(V, type="date")], {}, r"SLC-140: .*v was a VARCHAR2\(5 CHAR\), and becomes a DATE"),
        ([ID, TEXT], [ID, V], {}, "SLC-140: .*v was a CLOB"),
        ([ID, Column("n", "numeric(6,2)")], [ID, Column("n", "numeric(6,3)")], {}, "SLC-140: .*becomes a NUMBER"),
        ([ID], [ID, fresh("n")], {}, "SLC-140: .*n is new and NOT NULL"),
        ([V, W], [fresh("n"), TEXT], {"rows": False}, "SLC-140: .*no column of it stays, and v comes again"),
    ],
)
def test_what_nobody_can_do_to_a_table_with_rows_is_refused(before, after, more, match):
    key = (0,) if before[0] is ID else ()
    twins = (None, None) if before[0] is V else None
    with pytest.raises(SluiceError, match=match):
        carried_out(layout(before, key), layout(after, key), twins=twins, **more)


@pytest.mark.parametrize(
    ("type_", "text", "written"),
    [
        ("integer", "-7", "-7"),
        ("boolean", "t", "1"),
        ("numeric(9,2)", "1.50", "1.50"),
        ("double precision", "0.5", "CAST(0.5 AS BINARY_DOUBLE)"),
        ("double precision", "1e+15", "CAST(1000000000000000 AS BINARY_DOUBLE)"),
        ("double precision", "0.1", None),
        ("double precision", "1e+300", None),
        ("real", "0.1", None),
        ("double precision", "Infinity", None),
        ("double precision", "NaN", None),
        ("text", "", "EMPTY_CLOB()"),
        ("text", "it's :a\n", "'it''s :a\n'"),
        ("text", "\u20ac" * 1334, None),
        ("bytea", "\\x", "EMPTY_BLOB()"),
        ("bytea", "\\x00", None),
        ("character varying(9)", "x", "'x'"),
        ("date", "0001-02-03", "DATE '0001-02-03'"),
        ("timestamp without time zone", "2024-02-29 01:02:03.5", "TIMESTAMP '2024-02-29 01:02:03.5'"),
        ("timestamp with time zone", "2024-02-29 01:02:03+00", "TIMESTAMP '2024-02-29 01:02:03 +00:00'"),
        ("uuid", "a-b", "'a-b'"),
    ],
)
def test_a_value_of_rows_of_before_is_written_exactly_or_refused(type_, text, written):
    after = layout([ID, Column("n", type_)])
    if written is None:
        with pytest.raises(SluiceError, match=r"SLC-140: .*the new column n has a value"):
            carried_out(layout([ID]), after, filled=[("n", text)])
        return
    (statement,) = carried_out(layout([ID]), after, filled=[("n", text)])
    assert statement.partition(" DEFAULT ")[2].removesuffix(" NULL)") == written


def expect_taken(was, becomes, twins, *, rows, changed):
    """What the last state has takes every value."""
    found, _ = alteration(was, becomes, twins=twins, rows=rows)
    last = [step.state for step in found.steps()][-1:]
    assert bool(last) == changed
    taken = {one.column.name: one for one in table_of(becomes).columns}
    for state in last:
        assert taken.keys() == {row[0] for row in state[key_of(becomes.name)]}
        assert all(taken[name].holds_as(kind) for name, kind, _, _ in state[key_of(becomes.name)])


@pytest.mark.parametrize("seed", range(120))
def test_tables_at_random_become_others_and_from_each_state_between(seed):
    chance = random.Random(seed)
    kinds = ("integer", "bigint", "character varying(5)", "character varying(9)", "text", "date", "numeric(6,2)")

    def columns(names):
        return [Column(name, chance.choice(kinds), chance.random() < 0.5) for name in names]

    names = list("abcdef")
    before = columns(chance.sample(names, chance.randint(1, 5)))
    after = columns(chance.sample(names, chance.randint(1, 5)))
    stay = [one.name for one in before] + [None] * len(after)
    twins = tuple(chance.sample(stay, len(after)))

    def keyed(given):
        able = [place for place, one in enumerate(given) if one.type != "text"]
        return tuple(chance.sample(able, min(len(able), chance.randint(0, 2))))

    was = layout(before, keyed(before))
    becomes = layout(after, keyed(after), chance.choice([T, U]))
    rows = seed % 2 == 1
    with suppress(SluiceError):
        statements = carried_out(was, becomes, twins=twins, rows=rows)
        expect_taken(was, becomes, twins, rows=rows, changed=bool(statements))
