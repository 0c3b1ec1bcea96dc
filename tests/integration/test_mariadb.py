"""A slave on MariaDB is filled, follows its master, and is compared with it (R3 to R7, R10)."""

from __future__ import annotations

import signal

import pytest
from support import traffic
from support.lake import CHANGES
from support.updating import background

from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text, amount numeric(9,2), day date, at timestamptz, raw bytea,
    free numeric);
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT g, 'note ' || g, g / 8.0, '2024-01-01', '2024-01-01 12:00:00.5+02', '\\x00ff', g
    FROM generate_series(1, 300) AS g;
INSERT INTO keyed VALUES (301, E'a\\tb\\\\c''\\n%s', 1, '9999-12-31', '0001-01-01 00:00:00+00', NULL, 'Infinity');
INSERT INTO keyed (id, note) VALUES (302, NULL), (303, '');
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 100) AS g;
"""
TABLES = ["public.keyed", "public.heap"]
FITTING = CHANGES.replace("0044-03-15 BC", "0044-03-15").replace("-infinity", "1000-01-01")


def test_rows_equal_the_master_after_an_update_and_after_changes(maria):
    world = maria(DDL, TABLES, update=False)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    for mode, changes in (("batch", FITTING), ("one_to_one", "TRUNCATE keyed; INSERT INTO keyed VALUES (1, 'alone')")):
        world.configure(lambda settings, mode=mode: [one.update(mode=mode) for one in settings["replications"]])
        world.master.execute(changes)
        assert world.verify() == {"zurich": 0, "geneva": 0}
    assert {world.status(slave) for slave in world.slaves} == {Status.NORMAL}
