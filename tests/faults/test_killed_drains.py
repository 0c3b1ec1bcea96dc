"""A drain that is killed again and again, each time after a short while: its slave moves on all the same (R3, R4)."""

from __future__ import annotations

import signal
import time

import pytest
from support.waiting import until

from sluice.store import leases

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

# 400 transactions of 50 rows each.
BACKLOG = """
DO $$ BEGIN
    FOR n IN 1..400 LOOP
        INSERT INTO t SELECT 50 * n + g, 'x' FROM generate_series(1, 50) AS g;
        COMMIT;
    END LOOP;
END $$
"""
# A slave that takes 40 ms for 50 rows: 16 s for all of them.
SLOW = """
CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.04); RETURN NEW; END';
CREATE TRIGGER slowly BEFORE INSERT ON t FOR EACH ROW WHEN (NEW.id % 50 = 0) EXECUTE FUNCTION slowly();
ALTER TABLE t ENABLE ALWAYS TRIGGER slowly
"""
AT_WORK = """
SELECT pid FROM pg_stat_activity WHERE application_name = 'sluice drain zurich' AND datname = current_database()
"""
LIVES_S = 5


def killed_drain(world, at=None):
    """Start a drain, and kill it once the slave is beyond a transaction, or some seconds after it has begun to work."""

    def sessions():
        return {pid for (pid,) in world.reader("zurich").execute(AT_WORK.encode())}

    # That of a killed one works on.
    before = sessions()
    world.let_leases_expire()
    process = world.start("drain", "--slave", "zurich")
    until(lambda: sessions() - before or process.poll() is not None, "it does not begin")
    if at is None:
        time.sleep(LIVES_S)
    else:
        until(lambda: world.position().ordinal > at or process.poll() is not None, "it does not move on")
    process.kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors
    return world.position().ordinal


@pytest.mark.full
def test_a_slave_whose_drain_is_killed_again_and_again_moves_on(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    world.reader("zurich").execute(SLOW.encode())
    world.master.execute(BACKLOG.encode())
    world.publish()
    assert killed_drain(world) == 0, "one batch of all of it does not go in this time"
    first = killed_drain(world, 0)
    assert 0 < first < killed_drain(world, first) < 400
    world.let_leases_expire()
    world.reader("zurich").execute("DROP FUNCTION slowly CASCADE")
    with leases.hold_lease(world.context.store, f"drain {world.pair('zurich')}") as held:
        assert held.after_crash
    world.catch_up()
    assert world.differences() == {}
    with leases.hold_lease(world.context.store, f"drain {world.pair('zurich')}") as held:
        assert not held.after_crash, "it was released"
