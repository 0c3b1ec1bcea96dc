"""An ALTER on MariaDB, from what the slave has: what somebody made otherwise stays, where it takes every value."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.tables import table_of
from sluice.vendors.mariadb.ddl.alteration import Alteration, described
from sluice.vendors.mariadb.server import MARIADB

T = TableName("s", "t")
ID = Column("id", "integer", True)
TEXT = ["longtext", MARIADB.collation]
COLLATE = f"COLLATE {MARIADB.collation}"


def alteration(before, after, key=(0,), becomes=None, twins=None, **there):
    """From columns to others, of which those of one name are the same; `there`: type and collation of some."""
    was, is_ = table_of(Layout(0, T, before, key)), table_of(Layout(0, T, after, key if becomes is None else becomes))
    rows = [[row[0], *there.get(row[0], row[1:3]), *row[3:]] for row in described(was.columns, was.key)]
    names = [one.name for one in before]
    return Alteration(T, rows, twins or [one.name if one.name in names else None for one in after], was, is_)


@pytest.mark.parametrize(
    ("before", "after", "more", "parts"),
    [
        (
            [ID, Column("v", "character varying(5)")],
            [ID, Column("v", "text")],
            {},
            [f"CHANGE COLUMN `v` `v` longtext {COLLATE} NULL"],
        ),
        ([ID, Column("v", "integer")], [ID, Column("v", "bigint")], {"v": TEXT}, []),
        (
            [ID, Column("v", "integer")],
            [ID, Column("w", "integer")],
            {"v": TEXT, "twins": ["id", "v"]},
            [f"CHANGE COLUMN `v` `w` longtext {COLLATE} NULL"],
        ),
        (
            [ID, Column("v", "integer")],
            [ID, Column("v", "integer", True)],
            {},
            ["CHANGE COLUMN `v` `v` int(11) NOT NULL"],
        ),
        ([ID], [Column("id", "bigint", True)], {}, ["CHANGE COLUMN `id` `id` bigint(20) NOT NULL"]),
        (
            [ID, Column("v", "uuid", True)],
            [ID, Column("v", "uuid", True)],
            {"becomes": (1,)},
            ["DROP PRIMARY KEY", "ADD PRIMARY KEY (`v`)"],
        ),
        (
            [ID, Column("v", "character varying(5)", True)],
            [ID, Column("v", "character varying(5)", True)],
            {"becomes": (1, 0), "v": TEXT},
            ["DROP PRIMARY KEY", f"CHANGE COLUMN `v` `v` varchar(5) {COLLATE} NOT NULL", "ADD PRIMARY KEY (`v`, `id`)"],
        ),
        ([ID, Column("v", "date")], [ID], {}, ["DROP COLUMN `v`"]),
    ],
)
def test_the_parts_of_the_statement(before, after, more, parts):
    found = alteration(before, after, **more)
    assert list(found.parts({})) == parts
    found.expect_known(())
    assert sorted(row[0] for row in found.becomes()) == sorted(one.name for one in after)


@pytest.mark.parametrize(
    ("before", "after", "more", "why"),
    [
        ([ID], [ID, Column("v", "integer", True)], {}, "v is new and NOT NULL"),
        ([ID, Column("v", "date")], [ID, Column("v", "text")], {}, "v was a date, and becomes a longtext"),
        (
            [ID, Column("v", "integer", True)],
            [ID, Column("v", "integer", True)],
            {"becomes": (1,), "v": TEXT},
            "v was a longtext",
        ),
    ],
)
def test_rows_whose_values_nobody_knows_are_not_altered(before, after, more, why):
    with pytest.raises(SluiceError, match=f"SLC-140: .*{why}"):
        alteration(before, after, **more).expect_known(())
