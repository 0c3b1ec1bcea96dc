"""Logical type x boundary value x pair of vendors: every value has its canonical text in the log, and arrives."""

from __future__ import annotations

import pytest
from support.logical import EXPECTED, MASTERS, NAMES, SLAVES, VALUES

pytestmark = [pytest.mark.postgres]


@pytest.mark.full(but=["postgresql-postgresql", "postgresql-mariadb", "postgresql-parquet"])
@pytest.mark.parametrize("slave", SLAVES)
@pytest.mark.parametrize("master", MASTERS)
def test_a_value_has_its_canonical_text_in_the_log_and_arrives(request, master, slave):
    make, arrived = SLAVES[slave]
    there = make(request.getfixturevalue)
    world = getattr(there, "world", there)
    MASTERS[master](world, 0)
    world.update()
    MASTERS[master](world, 100)
    world.publish()
    rows = [change["new"] for change in world.log() if change["action"] == "I"]
    assert {int(number) % 100: texts for number, *texts in rows} == EXPECTED
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    wanted = {base + number: texts for base in (0, 100) for number, texts in EXPECTED.items()}
    found = arrived(there, "zurich")
    for place, name in enumerate(NAMES):
        assert {number: texts[place] for number, texts in found.items()} == {
            number: texts[place] for number, texts in wanted.items()
        }, (name, list(VALUES)[place])
