"""How replications were: written by the publisher, rolled up, trimmed, and read for charts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.world import SOURCE

from sluice.store import history

pytestmark = [pytest.mark.postgres]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SHOWN = "SELECT hourly, lag_s, holdback, ordinal FROM history WHERE slave = 'zurich' ORDER BY at"
PUT = """INSERT INTO history SELECT 'flights', 'zurich', false, date_trunc('hour', now()) - %(ago)s
         + number * interval '1 minute', number, 10 * number, 100 + number FROM generate_series(0, 59) AS number"""


@pytest.mark.full
def test_a_publisher_writes_down_how_its_slaves_are(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich", "geneva"))
    control = world.session("control")
    minute = "SELECT date_trunc('minute', clock_timestamp())"
    for last in range(2, 20, 2):
        for number in (last - 1, last):
            world.master.execute("INSERT INTO t VALUES (%s)", [number])
        world.publish()
        world.drain("zurich")
        began = control.execute(minute).fetchone()
        control.execute("DELETE FROM history")
        # The most of a minute, and its last ordinal.
        world.publish()
        world.drain("geneva")
        world.publish()
        # Once more, if another minute has begun meanwhile.
        if control.execute(minute).fetchone() == began:
            break
    rows = control.execute("SELECT slave, hourly, lag_s > 0, holdback, ordinal FROM history ORDER BY slave").fetchall()
    assert rows == [("geneva", False, True, 2, last), ("zurich", False, False, 0, last)]


def test_minutes_become_hours_after_a_day_and_go_after_a_month(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    control, store = world.session("control"), world.context.store
    control.execute("DELETE FROM history")
    for ago in (31 * DAY, DAY + 2 * HOUR, 2 * HOUR):
        control.execute(PUT, {"ago": ago})
    for _ in range(2):
        history.roll_up(store, SOURCE)
        rows = control.execute(SHOWN).fetchall()
        assert rows[0] == (True, 59, 590, 159)
        assert [row[0] for row in rows[1:]] == [False] * 60
    # Minutes that come late go to the hour that is there.
    control.execute(PUT, {"ago": DAY + 2 * HOUR})
    history.roll_up(store, SOURCE)
    assert control.execute(SHOWN).fetchall() == rows
    pair = world.pair("zurich")
    assert len(history.series(store, pair, seconds=6 * 3600, step_s=60)) == 60
    days = history.series(store, pair, seconds=30 * 86_400, step_s=3600)
    assert [(one.lag_s, one.holdback, one.ordinal) for one in days] == [(59, 590, 159)] * 2
    assert all(one.at % 3600 == 0 for one in days)
    some = history.series(store, pair, seconds=86_400, step_s=300)
    assert [(one.lag_s, one.ordinal) for one in some[:2]] == [(4, 104), (9, 109)]
