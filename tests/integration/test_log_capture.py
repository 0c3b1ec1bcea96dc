"""Capture by the server's log: a slot gives what triggers would have told, at the place where it happened."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from threading import Timer

import pytest
from psycopg.errors import UndefinedObject
from support.slot_reader import reading
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.context import Context
from sluice.errors import ConfigError, SluiceError, TransientError, Unwatchable
from sluice.model.names import TableName
from sluice.state.replication import Status
from sluice.vendors.postgresql.capture.log import slot as log_slot
from sluice.vendors.postgresql.capture.log import sweep as log_sweep

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


def by_log(build, ddl=PLAIN, tables=("public.t",), **source):
    return build(ddl, list(tables), source={"capture": "log", **source})


def changes(world, after=0):
    return [(one["action"], one["new"], one["old"]) for one in world.log(after)]


def test_changes_arrive_in_the_order_of_their_commits_with_their_whole_old_rows(build):
    world = by_log(build)
    late = world.session()
    late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
    world.master.execute("INSERT INTO t VALUES (2, 'early'), (3, NULL)")
    with closing(world.context.source(SOURCE)) as source:
        assert source.capture.count_queued(100) == 2
    world.catch_up()
    late.execute("COMMIT")
    world.master.execute("UPDATE t SET id = 4, v = v || 'x' WHERE id = 2")
    world.master.execute("DELETE FROM t WHERE id = 1")
    world.catch_up()
    assert changes(world) == [
        ("I", ["2", "early"], None),
        ("I", ["3", None], None),
        ("I", ["1", "late"], None),
        ("U", ["4", "earlyx"], ["2", "early"]),
        ("D", None, ["1", "late"]),
    ]
    assert world.differences() == {}


def test_a_value_out_of_line_that_did_not_change_arrives_all_the_same(build):
    world = by_log(build, "CREATE TABLE t (id int PRIMARY KEY, v text, n int)")
    world.master.execute("ALTER TABLE t ALTER v SET STORAGE EXTERNAL")
    world.master.execute("INSERT INTO t VALUES (1, repeat('x', 9000), 1)")
    world.master.execute("UPDATE t SET n = 2")
    world.catch_up()
    assert changes(world)[-1] == ("U", ["1", "x" * 9000, "2"], ["1", "x" * 9000, "1"])
    assert world.differences() == {}


def test_commands_truncates_and_new_tables_stand_at_their_places_among_the_rows(build):
    world = by_log(build, tables=["public.*"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    with world.master.transaction():
        world.master.execute("INSERT INTO t VALUES (2, 'b')")
        world.master.execute(
            "ALTER TABLE t ADD n int; UPDATE t SET n = id; TRUNCATE t; INSERT INTO t VALUES (3, 'c', 3)"
        )
        world.master.execute("CREATE TABLE u (a int); INSERT INTO u VALUES (1), (1)")
    world.master.execute("ALTER TABLE t ALTER n TYPE text USING 'n' || n; ALTER TABLE t RENAME v TO w")
    world.master.execute("DELETE FROM u WHERE ctid = (SELECT min(ctid) FROM u); UPDATE t SET w = 'd'")
    world.catch_up()
    assert [row["action"] for row in world.log()][1:9] == ["I", "A", "U", "U", "T", "I", "N", "I"]
    for table in ("public.t", "public.u"):
        assert world.rows("master", table) == world.rows("zurich", table)


def test_rows_of_partitions_arrive_also_of_those_that_come_and_go(build):
    world = by_log(
        build,
        "CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);"
        "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE high PARTITION OF t FOR VALUES FROM (10) TO (20)",
    )
    world.reader("zurich").execute("CREATE TABLE rest PARTITION OF t DEFAULT")
    execute = world.master.execute
    execute(
        "INSERT INTO t VALUES (1, 'a'), (11, 'b'); UPDATE t SET id = 12 WHERE id = 1; INSERT INTO low VALUES (2, 'c')"
    )
    execute("CREATE TABLE next (id int PRIMARY KEY, v text); INSERT INTO next VALUES (21, 'd')")
    execute("ALTER TABLE t ATTACH PARTITION next FOR VALUES FROM (20) TO (30); UPDATE t SET v = 'e' WHERE id = 21")
    world.catch_up()
    assert world.differences() == {}
    execute("TRUNCATE high; ALTER TABLE t DETACH PARTITION next; INSERT INTO next VALUES (22, 'f')")
    world.catch_up()
    assert world.differences() == {}


def test_a_publisher_that_dies_before_the_slot_is_advanced_publishes_nothing_twice(build, monkeypatch):
    world = by_log(build)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")

    def dies(*_):
        raise RuntimeError("the publisher is dead")

    monkeypatch.setattr(log_sweep.slot, "advance", dies)
    with pytest.raises(RuntimeError):
        world.publish()
    monkeypatch.undo()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.let_leases_expire()
    world.catch_up()
    assert changes(world) == [("I", ["1", "a"], None), ("I", ["2", "b"], None)]


def test_what_is_published_is_not_decoded_again_and_again(build):
    """By itself the server notes every fifteen seconds where decoding can begin."""
    world = by_log(build)
    begins = "SELECT restart_lsn FROM pg_replication_slots, repl_log WHERE slot_name = slot"
    (made,) = world.master.execute(begins).fetchone()
    for number in range(3):
        world.master.execute(
            "INSERT INTO t SELECT %s + i, repeat('x', 2000) FROM generate_series(0, 1999) AS i", [number * 2000]
        )
        world.publish()
    left = f"SELECT pg_current_wal_lsn() - ({begins}), ({begins}) > %s::pg_lsn"
    read, moved = world.master.execute(left, [made]).fetchone()
    assert (moved, read < 10_000_000) == (True, True)
    assert len(world.log()) == 6000


def test_a_transaction_in_two_phases_is_published_when_it_is_committed_and_as_a_whole(build):
    """Its changes stand in the log before those of others that were committed meanwhile; a crash of nobody loses it."""
    world = by_log(build)
    two = world.session()
    execute, name = world.master.execute, f"two {world.path.name}"
    with ExitStack() as stack:
        for prepared in (f"{name} kept", f"{name} given up"):
            stack.callback(lambda one=prepared: _given_up(world, one))
        two.execute("BEGIN; INSERT INTO t VALUES (1, 'a'); SAVEPOINT s; INSERT INTO t VALUES (2, 'never')")
        two.execute(f"ROLLBACK TO s; UPDATE t SET v = 'b'; PREPARE TRANSACTION '{name} kept'")
        two.execute(f"BEGIN; INSERT INTO t VALUES (4, 'never'); PREPARE TRANSACTION '{name} given up'")
        execute("INSERT INTO t VALUES (3, 'meanwhile')")
        world.catch_up()
        assert changes(world) == [("I", ["3", "meanwhile"], None)]
        # More than the server decodes anew each time: what is prepared has to be read from its beginning on.
        execute(
            "INSERT INTO t SELECT 100 + i, repeat('x', 2000) FROM generate_series(1, 2000) AS i;"
            "DELETE FROM t WHERE id > 99"
        )
        world.catch_up()
        world.catch_up()
        execute(f"ROLLBACK PREPARED '{name} given up'")
        execute(f"COMMIT PREPARED '{name} kept'")
        execute("UPDATE t SET v = 'after' WHERE id = 1")
        world.catch_up()
    assert changes(world)[4001:] == [
        ("I", ["1", "a"], None),
        ("U", ["1", "b"], ["1", "a"]),
        ("U", ["1", "after"], ["1", "b"]),
    ]
    assert world.differences() == {}


def _given_up(world, prepared):
    with suppress(UndefinedObject):
        world.master.execute(f"ROLLBACK PREPARED '{prepared}'")


def test_what_a_publisher_takes_while_others_look_at_the_slot_is_not_lost(build, monkeypatch):
    world, recorded = by_log(build), log_slot.recorded

    def overtaken(*given):
        found = recorded(*given)
        monkeypatch.setattr(log_slot, "recorded", recorded)
        world.publish()
        return found

    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    monkeypatch.setattr(log_slot, "recorded", overtaken)
    with closing(world.context.source(SOURCE)) as source:
        assert source.capture.count_queued(9) == 0


@pytest.mark.parametrize(
    "harm", ["pg_drop_replication_slot(slot)", "pg_replication_slot_advance(slot, pg_current_wal_lsn())"]
)
def test_a_slot_that_lost_changes_makes_the_slaves_inconsistent_until_it_is_made_anew(build, harm):
    world = by_log(build)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute(f"SELECT {harm} FROM repl_log")
    with pytest.raises(SluiceError, match=r"SLC-404: .* does not lead on"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    bootstrap(world.context, SOURCE, rebase=True)
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    assert changes(world) == [("I", ["2", "b"], None)]


def without_slot(world):
    """As a first bootstrap leaves it that was killed before it made the slot; the name that it will have."""
    (name,) = world.master.execute("SELECT slot FROM repl_log").fetchone()
    world.master.execute("SELECT pg_drop_replication_slot(slot) FROM repl_log")
    world.master.execute("DELETE FROM repl_log")
    return name


def test_a_first_bootstrap_leaves_the_slot_that_another_one_just_made(build, monkeypatch):
    world = by_log(build)
    without_slot(world)
    other, recorded, once = Context(world.context.config, world.infos), log_slot.recorded, iter([True])

    def late(*arguments):
        found = recorded(*arguments)
        if next(once, False):
            bootstrap(other, SOURCE)
            world.master.execute("INSERT INTO t VALUES (1, 'a')")
        return found

    monkeypatch.setattr(log_slot, "recorded", late)
    bootstrap(world.context, SOURCE)
    other.store.close()
    world.publish()
    assert changes(world) == [("I", ["1", "a"], None)]


def test_a_slot_of_our_name_that_is_none_of_ours_is_refused_and_left(build):
    world = by_log(build)
    name = without_slot(world)
    world.master.execute("SELECT pg_create_physical_replication_slot(%s)", [name])
    with pytest.raises(ConfigError, match=r"SLC-594.*a physical one"):
        bootstrap(world.context, SOURCE)
    world.master.execute("SELECT pg_drop_replication_slot(%s)", [name])
    bootstrap(world.context, SOURCE)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    assert changes(world) == [("I", ["1", "a"], None)]


def test_who_looks_at_the_slot_disturbs_no_publisher(build):
    """Each look takes the slot for itself, for a moment; `status` and pages look whenever they like."""
    world = by_log(build)
    (slot,) = world.master.execute("SELECT slot FROM repl_log").fetchone()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    with ExitStack() as stack:
        stack.enter_context(reading(world, slot))
        with closing(world.context.source(SOURCE)) as source:
            assert source.capture.queued()
            assert source.capture.count_queued(100) == 0
        ends = Timer(1, stack.pop_all().close)
        ends.start()
        world.publish()
        ends.join()
    assert changes(world) == [("I", ["1", "a"], None)]


def test_somebody_who_keeps_the_slot_is_named_and_nothing_is_lost(build, monkeypatch):
    monkeypatch.setattr(log_sweep.slot, "_PATIENCE_S", 0.2)
    world = by_log(build)
    (slot,) = world.master.execute("SELECT slot FROM repl_log").fetchone()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    with reading(world, slot), pytest.raises(TransientError, match=r"SLC-450.*session \d+ of t") as caught:
        world.publish()
    assert "pg_terminate_backend" in caught.value.hint
    assert world.status("zurich") is Status.NORMAL
    world.let_leases_expire()
    world.catch_up()
    assert changes(world) == [("I", ["1", "a"], None)]


def test_a_table_keeps_its_whole_old_rows_whatever_somebody_says(build):
    world = by_log(build)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute("ALTER TABLE t REPLICA IDENTITY DEFAULT")
    world.master.execute("UPDATE t SET v = 'b'")
    world.catch_up()
    assert changes(world)[-1] == ("U", ["1", "b"], ["1", "a"])


@pytest.mark.parametrize(
    ("ddl", "why"),
    [
        ("CREATE UNLOGGED TABLE t (id int)", "is unlogged"),
        ("CREATE TABLE t (id int, g int GENERATED ALWAYS AS (id) VIRTUAL)", "generated"),
    ],
    ids=["unlogged", "generated"],
)
def test_a_table_that_the_log_does_not_tell_all_of_is_refused(build, ddl, why):
    with pytest.raises(Unwatchable, match=f"SLC-477: .*{why}"):
        by_log(build, ddl)


@pytest.mark.parametrize(
    "harm",
    [
        "ALTER TABLE low SET UNLOGGED; INSERT INTO t VALUES (1); ALTER TABLE low SET LOGGED",
        "CREATE UNLOGGED TABLE high PARTITION OF t FOR VALUES FROM (10) TO (20); INSERT INTO t VALUES (11)",
    ],
)
def test_a_table_with_rows_that_the_log_does_not_tell_of_is_left_out_alone(build, harm):
    ddl = "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE u (id int PRIMARY KEY);"
    ddl += "CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)"
    world = by_log(build, ddl, ["public.t", "public.u"])
    for statement in harm.split("; "):
        world.master.execute(statement)
    world.catch_up()
    world.master.execute("INSERT INTO u VALUES (1)")
    world.catch_up()
    assert world.left_out() == {"public.t"}
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u") != []


def test_a_role_that_may_not_is_told_so(build, weak):
    with pytest.raises(ConfigError, match=r"SLC-400.*lacks REPLICATION.*grants"):
        build(PLAIN, ["public.t"], elsewhere={"master": weak}, source={"capture": "log"})


def test_another_way_of_capturing_is_refused(build):
    world = by_log(build)
    world.configure(lambda plain: plain["sources"][SOURCE].pop("capture"))
    with pytest.raises(ConfigError, match=r"SLC-406: .* captures the source by"):
        world.publish()


def test_a_source_is_left_as_it_was(build):
    world = by_log(build, f"{PLAIN}; CREATE TABLE u (a int); ALTER TABLE u REPLICA IDENTITY NOTHING", ["public.*"])
    removed = cleanup(world.context, SOURCE)
    assert any(one.startswith("SLOT repl_") for one in removed)
    for query in (
        "SELECT 1 FROM pg_replication_slots WHERE database = current_database()",
        "SELECT 1 FROM pg_publication",
        "SELECT 1 FROM pg_class WHERE relname LIKE 'repl%'",
    ):
        assert world.master.execute(query).fetchall() == []
    found = world.master.execute("SELECT relname, relreplident::text FROM pg_class WHERE relname IN ('t', 'u')")
    assert dict(found.fetchall()) == {"t": "d", "u": "n"}


def test_a_dump_waits_for_what_its_snapshot_shows_and_the_slot_has(build):
    world = by_log(build)
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (1, 'shown')")
    with closing(world.context.source(SOURCE)) as source:
        with source.master.dump_snapshot([[TableName("public", "t")]], world.context.manifest(SOURCE).end) as snapshot:
            assert not snapshot.published()
            world.publish()
            assert snapshot.published()
        with source.master.dump_snapshot([[TableName("public", "t")]], world.context.manifest(SOURCE).end) as snapshot:
            # Nothing happens any more, and nothing is to be published.
            assert snapshot.published()
            world.master.execute("INSERT INTO t VALUES (2, 'later')")
            assert snapshot.published()
