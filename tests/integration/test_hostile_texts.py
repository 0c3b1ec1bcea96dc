"""Texts of a definition that say more than they should, wherever one goes into a statement for a slave (R7)."""

from __future__ import annotations

import pytest

from sluice.config.mapper import Mapper
from sluice.config.slave_table import SlaveTableSettings
from sluice.errors import SluiceError
from sluice.model.action import Existing
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.table_definition import DefinedColumn, DefinedTable, ForeignKey, TableChange, UserType
from sluice.model.watched import Pattern
from sluice.vendors.postgresql import migrations
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.ddl.apply import define
from sluice.vendors.postgresql.ddl.compatibility import fitting
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]

# A sequence is not rolled back: it says what was executed.
TRACE = "nextval('public.trace')"
MORE = {
    "another statement": f"); SELECT {TRACE}; --",
    "another statement behind": f"; SELECT {TRACE}",
    "a query": f") AS SELECT {TRACE} AS id --",
    "a default": f" DEFAULT {TRACE}",
    "a default of a file": " DEFAULT pg_read_file('PG_VERSION')",
    "a check": f" CHECK ({TRACE} > 0)",
    "another column": f", evil bigint DEFAULT {TRACE}",
    "another command": f", ALTER COLUMN id TYPE bigint USING {TRACE}",
    "a parent": ") INHERITS (public.there",
    "a collation": ' COLLATE "C"',
    "a comment": " --",
    "a comment that does not end": " /*",
    "a dollar quote": " $$ $$",
    "a value that goes on": " 'x'\n'y'",
    "a bracket": ")",
    "another name": " evil",
}
PARTS = migrations.parts_of_slave("public")
NAME, THERE = TableName("public", "new"), TableName("public", "there")


def table(name=NAME, *columns, **more):
    return DefinedTable(name, (DefinedColumn(1, "id", "integer"), *columns), **more)


def column(**more):
    return DefinedColumn(2, "c", **{"type": "text", **more})


def type_of(definition, kind="TYPE", **more):
    return UserType(1, TableName("public", "made"), kind, None, (), (), definition, **more)


def made(*columns, **more):
    return TableChange(None, table(NAME, *columns, **more))


def altered(*columns, **more):
    return TableChange(table(THERE, column(type="character varying(5)")), table(THERE, *columns, **more))


KEY = {"parent": THERE, "parent_columns": ("id",), "on_update": "a", "on_delete": "a"}
KEY |= {"full": False, "deferrable": False, "deferred": False}
COUNTER = "INCREMENT BY 1 MINVALUE 1 MAXVALUE 9 START WITH 1 NO CYCLE"
# A text that is right there; the change that has it.
PLACES = {
    "the type of a column": ("text", lambda text: made(column(type=text))),
    "a precision": ("numeric(5,2)", lambda text: made(column(type=text))),
    "an array": ("text[]", lambda text: made(column(type=text))),
    "a collation": ('pg_catalog."C"', lambda text: made(column(collation=text))),
    "a default": ("'x'::text", lambda text: made(column(default=text))),
    "a computed column": ("(id + 1)", lambda text: made(column(type="integer", generated=text))),
    "an identity": (COUNTER, lambda text: made(column(type="integer", not_null=True, counter=text))),
    "a check": ("CHECK ((id > 0))", lambda text: made(constraints=(("n", text),))),
    "a primary key": ("PRIMARY KEY (id)", lambda text: made(constraints=(("n", text),))),
    "a unique key": ("UNIQUE (id) DEFERRABLE INITIALLY DEFERRED", lambda text: made(constraints=(("n", text),))),
    "an exclusion": ("EXCLUDE USING btree (id WITH =)", lambda text: made(constraints=(("n", text),))),
    "an index": ("USING btree (id)", lambda text: made(indexes=(("n", False, text),))),
    "an index's condition": ("USING btree (id) WHERE (id > 0)", lambda text: made(indexes=(("n", False, text),))),
    "a foreign key": ("NOT VALID", lambda text: made(foreign_keys=(ForeignKey("n", ("id",), lenience=text, **KEY),))),
    "another type": ("text", lambda text: altered(column(type=text))),
    "another type of an emptied table": ("integer", lambda text: altered(column(type=text), rewritten=True)),
    "another collation": ('pg_catalog."C"', lambda text: altered(column(collation=text))),
    "another default": ("'x'::text", lambda text: altered(column(default=text))),
    "a new column": ("date", lambda text: altered(column(), DefinedColumn(3, "d", text))),
    "a filled column": ("date", lambda text: altered(column(), DefinedColumn(3, "d", text, filled="2000-01-01"))),
    "a new column's default": (
        "'x'::text",
        lambda text: altered(column(), DefinedColumn(3, "d", "text", default=text)),
    ),
    "a new check": ("CHECK ((id > 0))", lambda text: altered(column(), constraints=(("n", text),))),
    "an attribute of a type": (
        "integer",
        lambda text: made(column(type="public.made"), types=(type_of(f"AS (a {text})"),)),
    ),
    "the attributes of a type": (
        "AS (a integer)",
        lambda text: made(column(type="public.made"), types=(type_of(text),)),
    ),
    "the labels of a type": (
        "AS ENUM ('a', 'b')",
        lambda text: made(column(type="public.made"), types=(type_of(text),)),
    ),
    "the type of a range": (
        "time",
        lambda text: made(
            column(type="public.made"),
            types=(type_of(f"AS RANGE (SUBTYPE = {text}, MULTIRANGE_TYPE_NAME = public.mades)"),),
        ),
    ),
    "the type beneath a domain": (
        "integer",
        lambda text: made(column(type="public.made"), types=(type_of(f"AS {text} NOT NULL", "DOMAIN"),)),
    ),
    "the collation of a domain": (
        'pg_catalog."C"',
        lambda text: made(column(type="public.made"), types=(type_of(f"AS text COLLATE {text}", "DOMAIN"),)),
    ),
    "the kind of a type": ("TYPE", lambda text: made(column(type="public.made"), types=(type_of("AS (a int)", text),))),
}
# What is right there, too: whether the slave makes it by itself is another question.
LAWFUL = {(default, "a collation") for default in ("a default", "another default", "a new column's default")}
LAWFUL |= {
    (part, more)
    for part in ("the type beneath a domain", "the collation of a domain")
    for more in ("a default", "a default of a file", "a check")
}
LAWFUL |= {("the type beneath a domain", "a collation")}
RENAMED = Mapper(
    tables={Pattern("public", name): SlaveTableSettings(columns={"id": "number"}) for name in ("new", "there")}
)


@pytest.fixture(scope="module")
def session(server):
    """A slave with a table, in which nothing that is done stays."""
    info = server.create_database()
    with connect(info, "test", autocommit=True) as opened:
        opened.execute("CREATE SEQUENCE public.trace; CREATE TABLE public.there (id int PRIMARY KEY, c varchar(5))")
        migrations.install_in_slave(opened, "zurich", TableName("public", "sluice_position"), PARTS)
        yield opened
    server.drop_databases([info])


def defined(session, change, mapper):
    """Do it, and take it back."""
    with session.transaction(force_rollback=True):
        if mapper is RENAMED:
            session.execute("ALTER TABLE public.there RENAME id TO number")
        define(
            session,
            change,
            mapper,
            LoopFilter(session, ()),
            WaitingForeignKeys(session, PARTS),
            Existing.STOP,
            silent=True,
        )


# Where the slave's columns have other names, the texts that name columns are written anew.
WRITTEN = [pytest.param(place, Mapper(), id=place) for place in PLACES]
WRITTEN += [pytest.param(place, RENAMED, id=f"{place}, renamed") for place in PLACES if "id" in PLACES[place][0]]


@pytest.mark.parametrize(("place", "mapper"), WRITTEN)
def test_a_text_that_says_more_is_refused_and_nothing_of_it_executed(session, place, mapper):
    right, change = PLACES[place]
    defined(session, change(right), mapper)
    for what, more in MORE.items():
        if (place, what) in LAWFUL:
            continue
        with pytest.raises(SluiceError) as refused:
            defined(session, change(right + more), mapper)
        assert refused.value.code in (140, 321, 322), (what, refused.value.message)
    assert session.execute("SELECT is_called FROM public.trace").fetchone() == (False,)


def test_what_people_are_told_to_type_has_no_such_text(session):
    for more in MORE.values():
        layout = Layout(0, THERE, (Column("id", "integer"), Column("new", f"text{more}")), (0,))
        with pytest.raises(SluiceError, match=r"SLC-073: .*lacks the column") as refused:
            fitting(session, layout, SlaveNames())
        assert more not in refused.value.hint
