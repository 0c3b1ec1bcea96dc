"""Words of a statement that mean another value on another node, or a moment later."""

from __future__ import annotations

import pytest

from sluice.vendors.postgresql.statements.parser import parsed


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("v = user", {"user"}),
        ("v = SYSTEM_USER", {"system_user"}),
        ("v = current_database()", {"current_database"}),
        ("d > 'today 08:00'", {"'today 08:00'"}),
        ("d = '10:00 Tomorrow'", {"'10:00 Tomorrow'"}),
        ("extract(year FROM age(least(d, e))) > 17", {"age() of one value"}),
        ("age(d, least(e, f)) > g AND (a, b) = (1, 2)", set()),
        ("t.user = 'today is the day' AND \"user\" = 'nowhere'", set()),
    ],
)
def test_what_depends_on_the_node_or_the_day_is_seen(expression, found):
    assert parsed(f"UPDATE t SET x = 1 WHERE {expression}").varying == found
