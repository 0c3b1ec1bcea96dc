"""What a catalog prints is read piece by piece: which expressions are in it, and where it says more than it should."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError
from sluice.vendors.postgresql.ddl import definition_text

INDEXES = {
    "USING btree (id)": [],
    'USING btree (id, "Odd ""name") INCLUDE (b) WITH (fillfactor=\'70\')': [],
    "USING gin (title public.gin_trgm_ops, \"x\" gist_ops (siglen='32') DESC NULLS LAST)": [],
    'USING btree (lower(title) COLLATE pg_catalog."C" text_pattern_ops DESC)': ["(lower (title))"],
    "USING btree (a, (b + 1) DESC, public.f(c, g(d)))": ["((b + 1))", "(public . f (c , g (d)))"],
    'USING btree ("overlay"(a), COALESCE(b, 1))': ['("overlay" (a))', "(COALESCE (b , 1))"],
    "USING btree (a) NULLS NOT DISTINCT WHERE active": ["(active)"],
    "USING btree (a) WHERE f(a) AND (b IS NOT NULL)": ["(f (a) AND (b IS NOT NULL))"],
}


@pytest.mark.parametrize(("text", "expressions"), INDEXES.items(), ids=INDEXES)
def test_every_expression_of_an_index_is_found(text, expressions):
    found = definition_text.index(text)
    assert [*found.expressions, *found.conditions] == expressions


CONSTRAINTS = {
    "CHECK ((a > 0)) NO INHERIT NOT VALID": ["((a > 0))"],
    "PRIMARY KEY (a, b WITHOUT OVERLAPS)": [],
    "UNIQUE NULLS NOT DISTINCT (a) INCLUDE (b) DEFERRABLE INITIALLY DEFERRED": [],
    "EXCLUDE USING gist (a WITH =, f(b) WITH OPERATOR(public.&&)) WHERE ((c > 0)) DEFERRABLE": [
        "(f (b))",
        "((c > 0))",
    ],
}


@pytest.mark.parametrize(("text", "expressions"), CONSTRAINTS.items(), ids=CONSTRAINTS)
def test_every_expression_of_a_constraint_is_found(text, expressions):
    found = definition_text.constraint(text)
    assert [*found.expressions, *found.conditions] == expressions


@pytest.mark.parametrize(
    "text",
    [
        "USING btree (COLLATION FOR (f(a)))",
        "USING btree (a ops (f(b)))",
        "USING btree (a), (b)",
        "USING btree (a) TABLESPACE x",
        "USING btree (a) WHERE b; DROP TABLE c",
        "USING btree (a /* b */)",
        "USING btree (a) WHERE (b",
        "USING btree (a) WHERE b]",
        "USING btree (a) WHERE b = $$x$$",
        "USING btree (a) WHERE b = 'x' 'y'",
        "USING btree (a) WHERE 1a",
        "USING btree (a)\0",
    ],
)
def test_what_is_no_index_is_refused(text):
    with pytest.raises(SluiceError, match="SLC-321"):
        definition_text.index(text)


@pytest.mark.parametrize(
    "text", ["E'it\\'s; --'", "'it''s; -- /*'", '"a""; --" > 1', "B'101'::\"bit\"", "a[1:2] @> '{}'::text[]", "1.5e+10"]
)
def test_what_is_within_values_and_names_says_nothing(text):
    assert definition_text.expression(text).replace(" ", "") == f"({text})".replace(" ", "")
