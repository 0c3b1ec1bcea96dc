"""A slave's tables that somebody alters, before a drain or under one; stages after a batch was rolled back."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, amount numeric(14,4), day timestamp(6), note varchar(20), code int)"


@pytest.fixture
def world(build):
    return build(DDL, ["public.t"])


ALTERED = {
    "fewer digits": (
        "ALTER amount TYPE numeric(12,2)",
        73,
        "amount (numeric(14,4) -> numeric(12,2): it would lose digits behind the point from number 3 on)",
    ),
    "no fractions of seconds": ("ALTER day TYPE timestamp(0)", 73, "day (timestamp(6) without time zone -> "),
    "shorter": (
        "ALTER note TYPE varchar(5)",
        73,
        "note (character varying(20) -> character varying(5): it would lose what is longer than 5)",
    ),
    "not null": ("ALTER note SET NOT NULL", 73, "note (NULL -> NOT NULL)"),
    "computed": ("DROP code, ADD code int GENERATED ALWAYS AS (id) STORED", 73, "code (written -> generated)"),
    "one more that must be given": ("ADD own int NOT NULL", 73, "own (NOT NULL without a default"),
    "one less": ("DROP note", 73, "lacks the column note"),
    "renamed": ("RENAME TO other", 70, "public.t"),
}


@pytest.mark.full(but=["while a drain is at work"])
@pytest.mark.parametrize("at_work", [False, True], ids=["before the drain", "while a drain is at work"])
def test_a_table_that_no_longer_takes_every_row_stops_its_slave_before_one_is_bent(world, at_work):
    slave, drain = world.reader("zurich"), world.drainer()
    if at_work:
        world.master.execute("INSERT INTO t VALUES (0, 1, now(), 'first', 1)")
        world.publish()
        assert drain.deliver() is not None
    for number, (change, code, fact) in enumerate(ALTERED.values()):
        before = world.position()
        slave.execute(f"DELETE FROM t; ALTER TABLE t {change}")
        world.master.execute("INSERT INTO t VALUES (%s, 1.2345, '2024-01-01 12:00:00.654321', 'x', 7)", [number + 1])
        world.publish()
        with pytest.raises(SluiceError, match=rf"SLC-0{code}: ") as refused:
            drain.deliver()
        assert fact in refused.value.fact
        assert world.position() == before, change
        slave.execute(f"DROP TABLE IF EXISTS t, other; {DDL}")
        if at_work:
            assert drain.deliver() is not None, "it goes on"
        else:
            drain = world.drainer()


def test_a_drain_at_work_goes_on_when_the_table_fits_again(world):
    drain = world.drainer()
    world.master.execute("INSERT INTO t VALUES (1, 1.2345, now(), 'x', 7)")
    world.publish()
    drain.deliver()
    world.reader("zurich").execute("ALTER TABLE t DROP note")
    world.master.execute("UPDATE t SET note = 'y'")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-073: .*lacks the column"):
        drain.deliver()
    world.reader("zurich").execute("ALTER TABLE t ADD note varchar(20), ADD own text DEFAULT 'mine'")
    assert drain.deliver().changes == 1
    (row,) = world.rows("zurich", "public.t")
    assert '"note":"y","own":"mine"' in row[0]


def test_a_stage_that_was_rolled_back_with_its_batch_is_made_again(world):
    """The first batch of a session fails on a key that only the next transaction frees."""
    world.master.execute("ALTER TABLE t DROP CONSTRAINT t_pkey, ADD UNIQUE (code), ADD PRIMARY KEY (id)")
    world.reader("zurich").execute("ALTER TABLE t ADD UNIQUE (code); INSERT INTO t VALUES (9, 1, now(), 'own', 5)")
    world.master.execute("INSERT INTO t VALUES (1, 1, '2024-01-01', 'x', 5)")
    world.publish()
    drain = world.drainer(size=1)
    assert drain.deliver().changes == 1
    with pytest.raises(SluiceError, match="SLC-072"):
        drain.deliver()
    world.reader("zurich").execute("DELETE FROM t WHERE id = 9")
    assert drain.deliver().changes == 1
    assert world.differences() == {}
