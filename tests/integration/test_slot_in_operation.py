"""A slot in operation: how much of its log the server keeps for it, and what becomes of one that is ended."""

from __future__ import annotations

import re

import pytest
from support.waiting import until
from support.weaker import weaker
from support.world import SOURCE

from sluice.errors import ConfigError, SluiceError
from sluice.log import record_events
from sluice.monitor.check import findings
from sluice.monitor.signals import gather
from sluice.monitor.status import as_table, statuses
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

WRITTEN = "SELECT pg_logical_emit_message(false, 'nobody', repeat('x', 70000000))"


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], source={"capture": "log", "slot_retains_mb": 64})


@pytest.fixture
def limited(server):
    """The server gives up what a slot needs beyond a megabyte."""
    with server.cluster.admin() as admin:
        admin.execute("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'")
        admin.execute("SELECT pg_reload_conf()")
    yield
    with server.cluster.admin() as admin:
        admin.execute("ALTER SYSTEM RESET max_slot_wal_keep_size")
        admin.execute("SELECT pg_reload_conf()")


def checked(world):
    return [(one.good, one.text) for one in findings(world.context) if one.subject == f"log of {SOURCE}"]


@pytest.mark.full
def test_how_much_is_kept_is_shown_and_much_is_a_warning(world):
    ((good, text),) = checked(world)
    assert (good, "(reserved; no limit is set)" in text) == (True, True)
    assert "(reserved; no limit is set)" in as_table(statuses(world.context))
    world.master.execute(WRITTEN)
    ((good, text),) = checked(world)
    assert (good, "airflow dags unpause" in text) == (False, True)
    rows = statuses(world.context)
    assert "the master's disk fills" in as_table(rows)
    kept = {one.signal.name: one.value for one in gather(world.context, rows, lambda _: True)}
    assert kept["sluice_kept_log_bytes"] == rows[0].kept_log.bytes > 70_000_000
    assert "sluice_kept_log_left_bytes" not in kept
    with record_events() as lines:
        world.publish()
    assert any("the server keeps much of its log" in line for _, line in lines)
    # The server moves a slot's beginning from one checkpoint to another.
    for _ in range(3):
        world.master.execute("CHECKPOINT; SELECT pg_logical_emit_message(false, 'nobody', repeat('x', 20000000))")
        world.publish()
    assert checked(world)[0][0], "what says nothing of rows is let go"


def test_of_transactions_that_commit_right_behind_each_other_each_is_published(world):
    first, second = world.session(), world.session()
    for number in range(0, 10, 2):
        first.execute(f"BEGIN; INSERT INTO t VALUES ({number})")
        second.execute(f"BEGIN; INSERT INTO t VALUES ({number + 1})")
        first.execute("COMMIT")
        second.execute("COMMIT")
    publisher = world.publisher()
    while publisher.publish(1).changes:
        pass
    world.catch_up()
    assert world.differences() == {}


def test_what_others_write_is_not_kept_while_the_watched_tables_rest(world):
    # Into a table that is not watched, and into another database.
    for session in (world.session(), world.session("zurich")):
        session.execute("CREATE TABLE busy (v text)")
        for _ in range(3):
            session.execute("INSERT INTO busy SELECT repeat(md5(g::text), 30) FROM generate_series(1, 8000) AS g")
            world.publish()
    session.execute("CHECKPOINT")

    def kept():
        world.publish()
        return statuses(world.context)[0].kept_log.bytes

    # By itself the server notes every fifteen seconds where decoding can begin.
    until(lambda: kept() < 4_000_000, "the slot keeps what others wrote", 60)
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    assert world.differences() == {}


PARTIAL = "CREATE PUBLICATION theirs FOR TABLE {} (id)"


def test_a_publication_beside_which_updates_fail_is_refused_and_noticed_if_it_comes_later(world, build):
    world.master.execute("CREATE TABLE other (id int, v text); " + PARTIAL.format("other"))
    world.catch_up()
    world.master.execute("DROP PUBLICATION theirs; " + PARTIAL.format("t"))
    with pytest.raises(ConfigError, match=r"SLC-400: the publication theirs leaves columns of public.t out"):
        world.publish()
    (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert (found.good, "ALTER PUBLICATION" in found.text) == (False, True)
    world.master.execute(
        "ALTER PUBLICATION theirs SET (publish = 'insert'); INSERT INTO t VALUES (2); UPDATE t SET id = 3"
    )
    world.catch_up()
    assert world.differences() == {}
    for made in (
        "CREATE TABLE t (id int, v text); " + PARTIAL.format("t"),
        "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF t DEFAULT;"
        + PARTIAL.format("low"),
        "CREATE TABLE t (id int, g int GENERATED ALWAYS AS (id) STORED); CREATE PUBLICATION theirs FOR ALL TABLES",
    ):
        with pytest.raises(ConfigError, match=r"SLC-400: the publication|SLC-477: .* of which the server's log"):
            build(made, ["public.t"], source={"capture": "log"})


def test_a_slot_that_the_server_ends_is_foretold_and_makes_slaves_inconsistent(world, limited):
    world.master.execute("INSERT INTO t VALUES (1)")
    world.master.execute(WRITTEN)
    ((good, text),) = checked(world)
    assert (good, "given up" in text, "filled anew" in text) == (False, True, True)
    for _ in range(3):
        world.master.execute("SELECT pg_switch_wal()")
        world.master.execute("CHECKPOINT")
        world.master.execute(WRITTEN)
    assert "SLC-404" in as_table(statuses(world.context))
    with pytest.raises(SluiceError, match=r"SLC-404.*max_slot_wal_keep_size"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT


def test_a_slot_that_is_advanced_to_what_is_published_lost_nothing(world):
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    world.master.execute("SELECT pg_replication_slot_advance(slot, lsn) FROM repl_log")
    world.master.execute("INSERT INTO t VALUES (2)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full(but=["newest"])
@pytest.mark.parametrize(
    ("where", "made", "why"),
    [
        ("server", "UNLOGGED TABLE u (id int PRIMARY KEY)", "is unlogged"),
        ("oldest", "TABLE u (id int PRIMARY KEY, g int GENERATED ALWAYS AS (id) STORED)", "has the generated column g"),
    ],
    ids=["newest", "oldest"],
)
def test_tables_that_the_log_does_not_tell_are_named_before_the_server_is_made_fit(build, request, where, made, why):
    elsewhere = {"master": weaker(request.getfixturevalue(where))}
    world = build(f"CREATE TABLE t (id int PRIMARY KEY); CREATE {made}", ["public.t"], elsewhere=elsewhere)

    def checked_with(*tables):
        by_log = {"capture": "log", "tables": {name: {} for name in tables}}
        world.configure(lambda settings: settings["sources"][SOURCE].update(by_log))
        (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
        assert not found.good
        return found.text

    both = checked_with("public.t", "public.u")
    assert re.match(f"SLC-400: .*lacks REPLICATION.*; SLC-477: public.u {why}", both)
    assert "SLC-477" not in checked_with("public.t")
