"""The activity of tables: rows are counted with the segment that has them, and old counts become one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.world import SOURCE

from sluice.errors import FencedError
from sluice.model.activity import RowCounts
from sluice.model.names import TableName
from sluice.monitor.table_status import TableCopy, tables
from sluice.store import activities, leases
from sluice.store.activities import Activity

pytestmark = [pytest.mark.postgres]
DDL = "CREATE TABLE t (id int PRIMARY KEY, a int); CREATE TABLE u (id int PRIMARY KEY)"
T, U = TableName("public", "t"), TableName("public", "u")


@pytest.mark.full
def test_rows_are_counted_by_table_and_kind_whatever_the_segments_are(build):
    world = build(DDL, ["public.t", "public.u"])
    world.configure(lambda one: one["sources"][SOURCE].update(segments={"max_changes": 100}))
    world.master.execute("INSERT INTO t SELECT n, n FROM generate_series(1, 950) AS n")
    world.master.execute("UPDATE t SET a = 0 WHERE id <= 20")
    world.master.execute("DELETE FROM t WHERE id > 945")
    world.master.execute("ALTER TABLE t ADD COLUMN b int")
    world.master.execute("INSERT INTO t VALUES (1000, 1, 1)")
    world.master.execute("INSERT INTO u VALUES (1)")
    world.master.execute("TRUNCATE u")
    world.publish()
    found = activities.by_table(world.context.store, SOURCE)
    assert found == {T: Activity(*[RowCounts(951, 20, 5)] * 3), U: Activity(*[RowCounts(1)] * 3)}
    assert world.publish()["changes"] == 0
    assert activities.by_table(world.context.store, SOURCE) == found


@pytest.mark.full
def test_a_segment_that_is_not_listed_is_not_counted(build):
    world = build(DDL, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 1)")
    late = world.publisher()
    leases.acquire(world.context.store, f"publish {SOURCE}", force=True)
    with pytest.raises(FencedError):
        late.publish(None)
    assert activities.by_table(world.context.store, SOURCE) == {}
    world.let_leases_expire()
    world.publish()
    assert activities.by_table(world.context.store, SOURCE) == {T: Activity(*[RowCounts(1)] * 3)}


def test_what_is_more_than_a_day_ago_becomes_one_row(build):
    world, ages = build(DDL, ["public.t"]), (timedelta(minutes=90), timedelta(hours=22), timedelta(days=20))
    control, store = world.session("control"), world.context.store
    for number, ago in enumerate(ages, 1):
        world.master.execute("INSERT INTO t VALUES (%s, 1)", [number])
        world.publish()
        # As if time had passed since.
        control.execute("UPDATE activity SET at = at - %s WHERE at > to_timestamp(0)", [ago])
        activities.roll_up(store, SOURCE)
    assert control.execute("SELECT count(*) FROM activity").fetchone() == (1,)
    world.master.execute("DELETE FROM t WHERE id = 1")
    world.publish()
    control.execute("UPDATE activity SET at = at - interval '2 hours' WHERE at > to_timestamp(0)")
    world.master.execute("DELETE FROM t WHERE id = 2")
    world.publish()
    assert activities.by_table(store, SOURCE) == {
        T: Activity(RowCounts(3, 0, 2), RowCounts(0, 0, 2), RowCounts(0, 0, 1))
    }


@pytest.mark.full
def test_a_table_that_is_gone_is_forgotten_a_day_after_its_last_change(build):
    world = build(DDL, ["public.t", "public.u"])
    control, store = world.session("control"), world.context.store

    def pass_by(hours):
        control.execute("UPDATE activity SET at = at - %s WHERE at > to_timestamp(0)", [timedelta(hours=hours)])
        activities.roll_up(store, SOURCE)
        # A publisher rolls up as it begins, and looks then which tables are gone.
        world.publish()

    world.master.execute("INSERT INTO t VALUES (1, 1); INSERT INTO u VALUES (1)")
    world.publish()
    pass_by(26)
    world.master.execute("INSERT INTO u VALUES (2)")
    world.publish()
    world.master.execute("DROP TABLE u")
    world.publish()
    pass_by(1)
    assert activities.by_table(store, SOURCE).keys() == {T, U}, "u was busy an hour ago"
    pass_by(26)
    assert activities.by_table(store, SOURCE).keys() == {T}


@pytest.mark.full
def test_copies_are_found_under_the_names_that_slaves_have(build):
    world = build(DDL, ["public.t", "public.u"], slaves=("zurich", "geneva"))
    world.configure(lambda one: one["slaves"]["zurich"].update(tables={"public.t": {"as": "elsewhere"}}))
    control = world.session("control")
    control.execute("INSERT INTO tolerated VALUES ('flights', 'zurich', 'public', 'elsewhere', 3, 1)")
    control.execute("INSERT INTO tolerated VALUES ('flights', 'geneva', 'public', 'elsewhere', 9, 9)")
    compared = "INSERT INTO comparison VALUES (DEFAULT, %s, 'flights', 'geneva', 'public.t', 10, %s, '[]')"
    for point, different in ((1, 5), (2, 0)):
        control.execute(compared, [point, different])
    first, second = tables(world.context, SOURCE)
    copy = TableCopy("zurich", 4)
    assert (first.name, first.watched, first.conflicts, first.copies[0]) == ("public.t", True, 4, copy)
    worst = first.worst_comparison
    assert (worst.rows, worst.different, first.copies[0].odd, first.copies[1].odd) == (
        10,
        0,
        True,
        False,
    )
    assert (second.name, second.conflicts, second.worst_comparison) == ("public.u", 0, None)
