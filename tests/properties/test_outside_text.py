"""Whatever text comes from outside is taken, or refused in words: no other error, no hang, no growing memory.

How many inputs each entrance is given, and which, is in CONTRIBUTING.md. An input that failed once stays in EXAMPLES.
"""

from __future__ import annotations

import pytest
from support.entrances import ENTRANCES
from support.fuzzing import failure, failures, inputs, watched

BY_NAME = {entrance.name: entrance for entrance in ENTRANCES}
NAMED = [f"public.t{number}" for number in range(7_000)]
EXAMPLES = [
    ("file of YAML", "a: 2024-13-45"),
    ("file of YAML", "a: !!timestamp x"),
    ("file of YAML", "a: !!float x"),
    ("file of YAML", "a: !!bool x"),
    ("file of YAML", f"a: {'9' * 5_000}"),
    ("file of YAML", "[" * 3_000),
    ("file of YAML", "\n".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}' if n else 'x'] * 9)}]" for n in range(20))),
    ("configuration", {"slaves": {"a": {"names": ["b", "c"]}}, "replications": [{"slave": "a", "x": 1}] * 5_000}),
    (
        "configuration",
        {
            "sources": {"f": {"connection": "m", "tables": dict.fromkeys(NAMED)}},
            "slaves": {"z": {"connection": "z", "tables": dict.fromkeys(NAMED)}},
            "replications": [{"source": "f", "slave": "z"}],
        },
    ),
    ("expression", "t LIKE '\ud800'"),
    ("expression", "NULLIF(" * 20 + "i" + ", 1)" * 20 + " = 1"),
    ("expression", "i IS NULL AND i BETWEEN 7 AND COALESCE(d, length(c)) AND 1 / i = 0"),
    ("expression", f"t::varchar({'3' * 5_000}) = 'x'"),
    ("statement", "TRUNCATE public...t CASCADE"),
    ("statement", 'ALTER TABLE other.u ADD COLUMN n numeric(5, ""2)'),
    ("segment", b""),
    ("segment", b"PAR1" * 3),
]


@pytest.mark.parametrize(("name", "given"), EXAMPLES, ids=[f"{name} {n}" for n, (name, _) in enumerate(EXAMPLES)])
def test_what_failed_once_is_taken_or_refused_in_words(name, given):
    with watched():
        found = failure(BY_NAME[name], given)
    assert not found, found[1]


@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.name.replace(" ", "_"))
def test_what_is_nearly_right_is_taken_or_refused_in_words(entrance):
    found = list(failures(entrance, inputs()))
    assert not found, "\n\n".join(found)
