"""Names in definitions are put into a slave's words; what only looks like one is left."""

from __future__ import annotations

import pytest

from sluice.config.mapper import Mapper
from sluice.vendors.postgresql.ddl.names import SlaveNames

NAMES = SlaveNames(
    Mapper({"public": "branch", 'o"dd': "select", "same": "same"}),
    {"vector": "ext"},
    {"branch": "branch", "select": '"select"', "ext": "ext"},
)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("public.mood[]", "branch.mood[]"),
        ('"o""dd"."a.b"(3)', '"select"."a.b"(3)'),
        ("'public.x'::public.mood", "'public.x'::branch.mood"),
        ("E'\\\\''public.x'::public.mood", "E'\\\\''public.x'::branch.mood"),
        ('"public.x" > public.f("public")', '"public.x" > branch.f("public")'),
        ("public.vector(3)", "ext.vector(3)"),
        ("other.mood", "other.mood"),
        ("numeric(5,2)", "numeric(5,2)"),
        ("(1.5 + (p).m)", "(1.5 + (p).m)"),
        ('COLLATE pg_catalog."C"', 'COLLATE pg_catalog."C"'),
    ],
)
def test_a_definition_names_the_slaves_schemas(ours, theirs):
    assert NAMES.within(ours) == theirs
