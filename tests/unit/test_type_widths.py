"""Which type of a slave holds every value of a master's (R7); what is not known to be exact is refused.

Source: PostgreSQL manual, chapter "Data Types".
"""

from __future__ import annotations

import pytest

from sluice.vendors.postgresql.types import holds, lost

LOST = {
    ("numeric(8,4)", "numeric(6,2)"): "digits behind the point from number 3 on",
    ("numeric(8,2)", "numeric(6,2)"): "numbers with more than 4 digits before it",
    (
        "numeric",
        "numeric(6,2)",
    ): "digits behind the point from number 3 on and numbers with more than 4 digits before it",
    ("character varying(9)", "character varying(5)"): "what is longer than 5",
    ("text", "character varying(5)"): "what is longer than 5",
    ("bigint", "integer"): "what is no integer",
}
ACCEPTED = [
    *(
        (same, same)
        for same in ("integer", "numeric(5,2)", "text[]", "character varying(5)", "timestamp(3) without time zone")
    ),
    ("smallint", "integer"),
    ("smallint", "bigint"),
    ("integer", "bigint"),
    ("bigint", "numeric"),
    ("real", "double precision"),
    ("json", "text"),
    ("uuid", "text"),
    ("character varying(5)", "character varying(6)"),
    ("character varying(5)", "character varying"),
    ("character varying(5)", "text"),
    ("character varying", "text"),
    ("numeric(5,2)", "numeric"),
    ("numeric(5,2)", "numeric(6,3)"),
    ("numeric(5,2)", "numeric(8,2)"),
    ("numeric(5,0)", "numeric(5,0)"),
    ("bit varying(3)", "bit varying(4)"),
]
REFUSED = [
    ("bigint", "integer"),
    ("integer", "smallint"),
    ("integer", "real"),
    ("bigint", "double precision"),
    ("numeric", "numeric(5,2)"),
    ("numeric", "double precision"),
    ("numeric(5,2)", "numeric(5,1)"),
    ("numeric(5,2)", "numeric(5,3)"),
    ("numeric(5,2)", "numeric(4,2)"),
    ("double precision", "real"),
    ("text", "character varying(5)"),
    ("character varying", "character varying(5)"),
    ("character varying(6)", "character varying(5)"),
    ("character varying(5)", "character(5)"),
    ("character varying(5)", "integer"),
    ("character varying(5)[]", "text"),
    ("character varying(5)", "bit varying(9)"),
    ("character(5)", "text"),
    ("jsonb", "json"),
    ("timestamp with time zone", "timestamp without time zone"),
    ("timestamp with time zone", "date"),
    ("timestamp without time zone", "timestamp(3) without time zone"),
    ("bytea", "text"),
    ("integer[]", "integer"),
    ("inet", "cidr"),
]


@pytest.mark.parametrize(("master", "slave"), ACCEPTED, ids=" in ".join)
def test_a_type_that_holds_every_value_is_accepted(master, slave):
    assert holds(master, slave)


@pytest.mark.parametrize(("master", "slave"), REFUSED, ids=" in ".join)
def test_a_type_that_might_not_is_refused(master, slave):
    assert not holds(master, slave)


@pytest.mark.parametrize(("pair", "words"), LOST.items(), ids=str)
def test_what_a_narrower_column_would_lose_is_told(pair, words):
    assert not holds(*pair)
    assert lost(*pair) == words
