"""Where replications stand, by one query of the store."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.monitor.status import Beside, told
from sluice.state.replication import Status
from sluice.store.replications import behind, delivered
from sluice.store.standings import standings

pytestmark = [pytest.mark.postgres]
SLAVES = ("zurich", "geneva", "bern")


def test_one_query_tells_where_all_stand_and_the_holdback_is_that_of_the_log(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=SLAVES)
    store, pairs = world.context.store, [world.pair(name) for name in SLAVES]
    for number in range(4):
        world.master.execute("INSERT INTO t VALUES (%s)", [2 * number])
        world.master.execute("INSERT INTO t VALUES (%s)", [2 * number + 1])
        world.publish()
    ends = (
        world.reader("control").execute("SELECT number, first_ordinal, last_ordinal FROM segment ORDER BY 1").fetchall()
    )
    (second, first, last), newest = ends[1], ends[-1]
    for place in (Position(second, first), Position(second, last), Position(newest[0], newest[2])):
        # In the middle of a segment, at its end, and with nothing left.
        delivered(store, pairs[0], place)
        found = standings(store, pairs)[pairs[0]]
        assert (found.holdback, found.lag_s > 0) == (behind(store, pairs[0])[0], place.ordinal != newest[2])
    queries = []
    event.listen(store._engine, "before_cursor_execute", lambda *args: queries.append(args[2]))
    rows = [told(world.context, one, Beside()) for one in standings(store, pairs).values()]
    assert ([row.slave for row in rows], len(queries)) == (list(SLAVES), 1)
    unknown = Pair("flights", "nobody")
    assert standings(store, [unknown])[unknown].known.status is Status.UNCONFIGURED
    assert standings(store, []) == {}
