"""Triggers that somebody dropped or disabled: found at the next sweep, made again, and told (R9)."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from psycopg import sql
from support.updating import background
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.model.names import TableName
from sluice.monitor.status import statuses
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import ReplicationEvent, Status
from sluice.store.replications import record

pytestmark = [pytest.mark.postgres]

DDL = """
    CREATE TABLE t (id int PRIMARY KEY, v text);
    CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (1000);
    CREATE TABLE late (id int PRIMARY KEY DEFERRABLE);
    CREATE TABLE half (id int) PARTITION BY RANGE (id);
    CREATE TABLE half_1 PARTITION OF half (UNIQUE (id) DEFERRABLE) FOR VALUES FROM (0) TO (1000)
"""
TABLES = {
    f"public.{table}": {"trigger": trigger}
    for table, trigger in {"t": "zcap", "parted": "zparts", "late": "zlate", "half": "zhalf"}.items()
}
# Triggers beside those of rows; the table that each is on, and the one that is watched.
BESIDE = {
    "zparts_t": ("part", "parted"),
    "zparts_e": ("parted", "parted"),
    "W_zlate": ("late", "late"),
    "W_zhalf": ("half_1", "half"),
}

# It calls the function of ours, under the name of ours, and fires in all sessions.
REPLACED = """
    DO $$ BEGIN EXECUTE format(
        'CREATE OR REPLACE TRIGGER %I AFTER {events} ON {on} FOR EACH ROW {when} EXECUTE FUNCTION %s()', '{name}',
        (SELECT tgfoid::regproc FROM pg_trigger WHERE tgrelid = '{on}'::regclass AND tgname = '{name}'));
    END $$;
    ALTER TABLE {on} ENABLE ALWAYS TRIGGER "{name}"
"""

# What somebody does to a table, each to one of its own.
ALL = "INSERT OR UPDATE OR DELETE"
OF_ROWS = [
    "DROP TRIGGER z{} ON {}",
    "ALTER TABLE {} DISABLE TRIGGER z{}",
    "ALTER TABLE {} DISABLE TRIGGER USER",
    "ALTER TABLE {} ENABLE TRIGGER z{}",
    "DROP TRIGGER z{}_t ON {}",
    REPLACED.format(on="{}", name="z{}", events=ALL, when="WHEN (false)"),
    REPLACED.format(on="{}", name="z{}", events="INSERT OR DELETE OR UPDATE OF v", when=""),
    REPLACED.format(on="{}", name="z{}", events="INSERT", when=""),
    "DO $$ BEGIN EXECUTE format('DROP FUNCTION repl_capture_%s CASCADE', '{}'::regclass::oid); END $$",
]
LOST = {f"t{number}": act.replace("{}", f"t{number}") for number, act in enumerate(OF_ROWS)}
WITHOUT = "".join(f"CREATE TABLE {name} (id int PRIMARY KEY, v text);" for name in LOST)
WITHOUT += """
    CREATE TABLE more (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE more_1 PARTITION OF more FOR VALUES FROM (0) TO (1000)
"""
WATCHED = {f"public.{name}": {"trigger": f"z{name}"} for name in LOST} | {"public.more": {"trigger": "zmore"}}
# Those of partitions, and those that draw a last key.
LOST |= {
    "parted": "ALTER TABLE part DISABLE TRIGGER zparts",
    "more": REPLACED.format(on="more", name="zmore", events="INSERT", when=""),
    "late": REPLACED.format(on="late", name="W_zlate", events=ALL, when="WHEN (false)"),
}


@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
def test_lost_triggers_are_made_again_by_the_next_sweep_and_the_slaves_are_told(build, weak, superuser):
    world = build(f"{DDL}; {WITHOUT}", TABLES | WATCHED, elsewhere={} if superuser else {"master": weak})
    for act in LOST.values():
        world.master.execute(act)
    if not superuser:
        # It is being filled.
        record(world.context.store, world.pair("zurich"), ReplicationEvent.REQUEST)
    world.publish()
    if superuser:
        assert (world.status("zurich"), world.left_out()) == (Status.NORMAL, {f"public.{name}" for name in LOST})
    else:
        assert world.status("zurich") is Status.INCONSISTENT
        reasons = world.reader("control").execute("SELECT string_agg(detail, ' ') FROM audit").fetchone()[0]
        told = re.findall(r"changes of (.*?) are not known: its triggers were dropped or disabled by hand", reasons)
        assert {name for names in told for name in names.split(", ")} == {f"public.{name}" for name in LOST}
    world.master.execute("SET session_replication_role = replica") if superuser else None
    for name in LOST:
        world.master.execute(f"INSERT INTO {name} VALUES (1); UPDATE {name} SET id = 2; DELETE FROM {name}")
        world.master.execute(f"TRUNCATE {name}")
    world.publish()
    actions = Counter(change["action"] for change in world.log())
    assert {action: actions[action] for action in "IUDT"} == dict.fromkeys("IUDT", len(LOST))


def test_a_table_that_lost_changes_is_filled_again_by_itself_and_no_other_waits(updating):
    world = updating(
        "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE of_t (id int PRIMARY KEY, t int REFERENCES t)",
        {"public.*": {}},
        {},
        slaves=("zurich",),
    )
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.master.execute("ALTER TABLE t DISABLE TRIGGER USER; INSERT INTO t VALUES (1, 'unseen'), (2, 'unseen')")
    world.publish()
    world.master.execute("INSERT INTO of_t VALUES (1, 1); DELETE FROM t WHERE id = 2")
    world.master.execute("ALTER TABLE of_t ADD c int; UPDATE of_t SET c = 5")
    world.catch_up()
    assert world.reader("zurich").execute("SELECT * FROM of_t").fetchall() == [(1, 1, 5)]
    (told,) = statuses(world.context)
    assert (told.condition, [*told.skipped]) == (ReplicationCondition.INCOMPLETE, ["public.t"])
    assert '"tables": ["public.t"]' in told.why
    world.inhibit(tables=[TableName("public", "t")])
    with background(world.publish):
        world.dump()
    world.release()
    assert world.verify(initial=True) == {"zurich": 0}
    assert (world.left_out(), world.differences()) == (set(), {})
    assert statuses(world.context)[0].condition is ReplicationCondition.WELL


@pytest.mark.full
def test_a_trigger_that_was_disabled_for_a_moment_is_not_forgotten(build):
    world = build(DDL, TABLES)
    world.master.execute("ALTER TABLE t DISABLE TRIGGER zcap; INSERT INTO t VALUES (1, 'a')")
    world.master.execute("ALTER TABLE t ENABLE ALWAYS TRIGGER zcap")
    world.publish()
    assert world.left_out() == {"public.t"}
    assert world.master.execute("SELECT DISTINCT status FROM repl_tables").fetchall() == [("OK",)]


@pytest.mark.full
def test_a_trigger_that_was_another_for_a_moment_is_not_forgotten(build):
    world = build(DDL, TABLES)
    hidden, shown = (
        REPLACED.format(on="t", name="zcap", events="INSERT OR UPDATE OR DELETE", when=when).partition("ALTER TABLE")
        for when in ("WHEN (false)", "")
    )
    world.master.execute(hidden[0])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute("".join(shown))
    world.publish()
    assert world.left_out() == {"public.t"}


@pytest.mark.full
def test_what_was_rolled_back_was_not_lost(build):
    world = build(DDL, TABLES)
    with world.master.transaction(force_rollback=True):
        world.master.execute("ALTER TABLE t DISABLE TRIGGER zcap; DROP TRIGGER zparts ON parted")
    world.publish()
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
@pytest.mark.parametrize(
    ("act", "added", "status"),
    [
        ("DROP TRIGGER zcap ON t", {"public.t"}, Status.NORMAL),
        ("DROP SCHEMA repl CASCADE", {*TABLES}, Status.INCONSISTENT),
    ],
)
def test_a_bootstrap_heals_as_well_and_says_so(build, act, added, status):
    world = build(DDL, TABLES)
    world.master.execute(act)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    assert {*bootstrap(world.context, SOURCE)["added"]} == added
    assert world.status("zurich") is status
    assert world.left_out() == (added if status is Status.NORMAL else set())


@pytest.mark.full
def test_a_configuration_that_changes_a_trigger_loses_nothing(build):
    world = build(DDL, TABLES)
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"]["public.t"].update(actions="I"))
    assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
    world.publish()
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_triggers_beside_those_of_rows_are_missed_as_well(build, weak):
    world = build(DDL, TABLES, elsewhere={"master": weak})
    source = world.context.source(SOURCE)
    for name, (table, watched) in BESIDE.items():
        for act in ("DROP TRIGGER {} ON {}", "ALTER TABLE {1} DISABLE TRIGGER {0}"):
            world.master.execute(act.format(f'"{name}"', table))
            assert [lost.table for lost in source.capture.silenced()] == [watched], act
            bootstrap(world.context, SOURCE)
            assert source.capture.silenced() == []
    source.close()


@pytest.mark.parametrize("gone", ["DROP EVENT TRIGGER {}", "ALTER EVENT TRIGGER {} DISABLE"])
def test_event_triggers_that_are_gone_are_made_again_and_what_nobody_saw_is_sent(build, gone):
    world = build("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE gone (id int)", {"public.*": {}})
    made = [name for (name,) in world.master.execute("SELECT evtname FROM pg_event_trigger").fetchall()]
    for name in made:
        world.master.execute(sql.SQL(gone).format(sql.Identifier(name)))
    world.master.execute("INSERT INTO t VALUES (1); ALTER TABLE t RENAME TO u; DROP TABLE gone")
    world.publish()
    assert sorted(change["action"] for change in world.log()) == ["A", "I", "X"]
    world.master.execute("ALTER TABLE u RENAME TO v")
    assert world.master.execute("SELECT db_action FROM repl_queue").fetchall() == [("A",)]
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_a_partition_that_may_not_be_read_is_truncated_and_the_slaves_are_told(build, weak):
    world = build(DDL, TABLES, elsewhere={"master": weak})
    world.master.execute("INSERT INTO parted VALUES (1)")
    for secret in ("ENABLE", "FORCE"):
        world.master.execute(f"ALTER TABLE part {secret} ROW LEVEL SECURITY")
    world.master.execute("TRUNCATE part")
    world.publish()
    assert [change["action"] for change in world.log()] == ["I"]
    assert world.left_out() == {"public.parted"}
