"""A dry run of a repair prints one statement in a line, or a comment: people paste it, and keys are others' texts."""

from __future__ import annotations

import pytest

from sluice.model.names import TableName
from sluice.model.row_difference import KINDS, RowDifference
from sluice.outside_text import MOST_SAID
from sluice.repair.plan import statement

TABLE = TableName("public", "t")
PLAIN = {
    "extra": """DELETE FROM "public"."t" WHERE "id" = 'O''Neill -- "é" 機';""",
    "changed": """UPDATE "public"."t" SET "n" = :"n" WHERE "id" = 'O''Neill -- "é" 機';""",
    "missing": """INSERT INTO "public"."t" SELECT :row; -- "id" = 'O''Neill -- "é" 機'""",
}
ODD = {
    "another line": "x\nDELETE FROM public.payments; --",
    "a line of a Mac": "x\rDELETE FROM public.payments; --",
    "a line of Unicode": "x\u2028DELETE FROM public.payments; --",
    "a quote that MariaDB does not take for one": "\\'; DELETE FROM public.payments; --",
    "its end is cut off": "x" * MOST_SAID,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_told_by_its_key(kind):
    assert statement(TABLE, ["id"], RowDifference(kind, ('O\'Neill -- "é" 機',), ("n",))) == PLAIN[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_no_text_of_others_leaves_its_place(kind, odd):
    """The text is a key, or the name of a column, a schema or a table."""
    told = [
        statement(TABLE, ["a", "b"], RowDifference(kind, ("1", odd), ("n",))),
        statement(TABLE, ["a", odd], RowDifference(kind, ("1", "2"), ("n",))),
        statement(TableName(odd, "t"), ["id"], RowDifference(kind, ("1",), ("n",))),
        statement(TableName("public", odd), ["id"], RowDifference(kind, ("1",), ("n",))),
        *([statement(TABLE, ["id"], RowDifference(kind, ("1",), (odd,)))] if kind == "changed" else []),
    ]
    for text in told:
        assert (text[:3], len(text.splitlines()), text.isprintable()) == ("-- ", 1, True)
        assert len(text) <= MOST_SAID
