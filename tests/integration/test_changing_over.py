"""A source changes over from triggers to the server's log, and back, and its slaves miss nothing."""

from __future__ import annotations

import copy
import random
from contextlib import suppress
from threading import Thread, Timer
from time import sleep

import pytest
from psycopg import sql
from support.changing_over import DDL, SLOTS, TABLES, change, expect_equal, over, write
from support.launcher import wait_until
from support.updating import background
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.config.configuration import Config
from sluice.context import Context
from sluice.errors import ConfigError, TransientError
from sluice.monitor.check import findings
from sluice.publish.run import publish
from sluice.store import watched_tables
from sluice.vendors.postgresql.capture import change_over
from sluice.vendors.postgresql.session import composed

pytestmark = [pytest.mark.postgres]

TO_LOG, TO_TRIGGERS = "log", "triggers"
PUBLISHED = "SELECT count(*) FROM pg_publication"


@pytest.fixture
def world(build, request):
    return build(DDL, TABLES, source={"capture": getattr(request, "param", "triggers")})


@pytest.mark.full(but=["there and back"])
@pytest.mark.parametrize(
    "ways", [(TO_LOG, TO_TRIGGERS), (TO_LOG, TO_TRIGGERS, TO_LOG)], ids=["there and back", "and there again"]
)
def test_what_was_captured_before_arrives_and_then_what_follows_once_each(build, ways):
    world = build(DDL, TABLES, source={"segments": {"max_changes": 7}})
    for n, capture in enumerate(ways, 1):
        write(world, 10 * n)
        world.master.execute(f"ALTER TABLE t ADD more{n} int DEFAULT {n}")
        write_more = f"INSERT INTO t VALUES ({500 + n}, 'm', {', '.join(map(str, range(n)))})"
        world.master.execute(write_more)
        assert over(world, capture)
        assert not bootstrap(world.context, SOURCE)["changed_over"]
        write(world, 10 * n + 5)
        world.master.execute(f"CREATE TABLE new{n} (a int); INSERT INTO new{n} VALUES (1), (1); TRUNCATE late")
        world.master.execute(f"ALTER TABLE heap ADD more{n} int DEFAULT {n}")
        expect_equal(world)
        slots = 1 if capture == TO_LOG else 0
        assert world.master.execute(SLOTS).fetchone() == (slots,)
        assert world.master.execute(PUBLISHED).fetchone() == (2 * slots,)
        assert world.rows("zurich", f"public.new{n}").total() == 2
    assert world.master.execute("SELECT count(*) FROM repl_queue").fetchone() == (0,)


@pytest.mark.full
def test_a_table_that_is_made_while_bootstrap_looks_is_changed_over_by_the_next_try(world, monkeypatch):
    record, made = watched_tables.record, iter(("made", "too"))

    def looked(*arguments):
        if name := next(made, None):
            world.master.execute(f"CREATE TABLE {name} (a int)".encode())
        record(*arguments)

    write(world, 1)
    for capture in (TO_LOG, TO_TRIGGERS):
        change(world, capture)
        with monkeypatch.context() as patched:
            patched.setattr(watched_tables, "record", looked)
            with pytest.raises(TransientError, match=r"SLC-095: .*change over"):
                bootstrap(world.context, SOURCE)
        world.master.execute("INSERT INTO made VALUES (1), (1)")
        assert over(world, capture)
        world.master.execute("INSERT INTO made VALUES (2)")
        expect_equal(world)


def checked(world):
    return [(one.good, one.text) for one in findings(world.context) if one.subject == f"source {SOURCE}"]


def test_jobs_with_the_other_way_are_refused_until_bootstrap_changes_it(world):
    change(world, TO_LOG)
    write(world, 1)
    with pytest.raises(ConfigError, match=r"SLC-406.*by `log`.*by `triggers`"):
        world.publish()
    ((good, text),) = checked(world)
    assert (good, "SLC-406" in text, "trigger the DAG bootstrap" in text) == (False, True, True)
    over(world, TO_LOG)
    ((good, text),) = checked(world)
    assert (good, "it changes over to `log`: what triggers have captured is published first" in text) == (True, True)
    change(world, TO_TRIGGERS)
    with pytest.raises(ConfigError, match=r"SLC-406.*by `triggers`.*by `log`"):
        world.publish()
    with pytest.raises(ConfigError, match=r"SLC-406.*still changes over to `log`"):
        bootstrap(world.context, SOURCE)
    change(world, TO_LOG)
    expect_equal(world)
    over(world, TO_TRIGGERS)
    expect_equal(world)


def scribble(session, seed):
    """Transactions of several statements, some of which are given up, as a whole or in part."""
    session.prepare_threshold = None
    chance = random.Random(seed)

    def once():
        one = 100 * seed + chance.randrange(50)
        with session.transaction(force_rollback=chance.random() < 0.1):
            session.execute("INSERT INTO t VALUES (%s, 'n') ON CONFLICT (id) DO UPDATE SET v = t.v || 'u'", [one])
            with session.transaction(force_rollback=chance.random() < 0.3):
                session.execute("INSERT INTO heap VALUES (%s, 'x')", [one])
            session.execute(
                "INSERT INTO parted VALUES (%s, 'p') ON CONFLICT (id) DO UPDATE SET v = parted.v || 'u'", [one]
            )
            session.execute("DELETE FROM heap WHERE a = %s", [one - 7])

    return once


def publisher(world, capture):
    """Publish as a process that has read the configuration with this way."""
    settings = copy.deepcopy(world.settings)
    settings["sources"][SOURCE]["capture"] = capture
    context = Context(Config.model_validate(settings), world.infos)

    def once():
        try:
            publish(context, SOURCE, once=True)
        except ConfigError as error:
            # It is not its turn yet, or no more.
            if error.code != 406:
                raise

    return context, once


@pytest.mark.full
def test_a_bootstrap_that_looked_before_another_changed_the_source_over_leaves_its_slot(world, monkeypatch):
    for n, (capture, dropping) in enumerate(((TO_LOG, "make_slot"), (TO_TRIGGERS, "drop_unused"))):
        other, once, drops = publisher(world, TO_LOG)[0], iter([True]), getattr(change_over, dropping)

        def late(*arguments, drops=drops, other=other, once=once):
            if next(once, False):
                assert bootstrap(other, SOURCE)["changed_over"]
            return drops(*arguments)

        change(world, capture)
        write(world, 20 * n)
        with monkeypatch.context() as patched:
            patched.setattr(change_over, dropping, late)
            with pytest.raises(TransientError, match=r"SLC-095: .*change over"):
                bootstrap(world.context, SOURCE)
        other.store.close()
        change(world, TO_LOG)
        write(world, 20 * n + 5)
        expect_equal(world)
        over(world, TO_TRIGGERS)
        expect_equal(world)


@pytest.mark.full
@pytest.mark.parametrize("world", [TO_LOG, TO_TRIGGERS], indirect=True)
def test_writers_go_on_whatever_the_publishers_believe(world, request):
    to = {TO_LOG: TO_TRIGGERS, TO_TRIGGERS: TO_LOG}[request.node.callspec.params["world"]]
    asleep, long = world.session(), world.session()
    asleep.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
    long.execute("BEGIN; INSERT INTO heap VALUES (9999, 'long')")
    ends = Timer(1, long.execute, ["COMMIT"])
    ends.start()
    publishers = [publisher(world, capture) for capture in (TO_LOG, TO_TRIGGERS)]
    jobs = [once for _, once in publishers]
    with (
        background(*(scribble(world.session(), seed) for seed in range(3)), pause_s=0.002),
        background(*jobs, pause_s=0.2),
    ):
        for _ in range(20):
            with suppress(TransientError):
                assert over(world, to)
                break
        else:
            pytest.fail("it never changed over")
        asleep.execute("INSERT INTO heap VALUES (9998, 'asleep'); COMMIT")
        sleep(1)
    ends.join()
    for context, _ in publishers:
        context.store.close()
    expect_equal(world)
    found = world.rows("zurich", "public.heap")
    assert [found[f'{{"a":{a},"b":"{b}"}}',] for a, b in ((9999, "long"), (9998, "asleep"))] == [1, 1]
    assert world.master.execute(SLOTS).fetchone() == (1 if to == TO_LOG else 0,)


def test_a_slot_that_another_bootstrap_still_makes_is_none_to_change_over_to(world):
    writer, maker = world.session(), world.session()
    slot = {"slot": sql.Literal("repl_half_made")}
    writer.execute("BEGIN; INSERT INTO t VALUES (900, 'open')")
    making = Thread(target=maker.execute, args=(composed("capture/log/make_slot", **slot),))
    making.start()
    wait_until(lambda: world.master.execute(SLOTS).fetchone() == (1,), "the slot is begun", 30)
    found = [world.master.execute(composed("capture/log/exists", **slot)).fetchone()]
    writer.execute("ROLLBACK")
    making.join()
    found.append(world.master.execute(composed("capture/log/exists", **slot)).fetchone())
    world.master.execute("SELECT pg_drop_replication_slot('repl_half_made')")
    assert found == [(False,), (True,)]


@pytest.mark.full
def test_a_publisher_that_is_overtaken_while_it_drops_the_slot_leaves_the_next_one(build, monkeypatch):
    world = build(DDL, TABLES, source={"capture": "log"})
    over(world, TO_TRIGGERS)
    drop, once = change_over._drop, iter([True])

    def late(*arguments):
        if next(once, False):
            world.let_leases_expire()
            publish(other, SOURCE, once=True)
            assert bootstrap(again, SOURCE)["changed_over"]
        drop(*arguments)

    other, again = publisher(world, TO_TRIGGERS)[0], publisher(world, TO_LOG)[0]
    monkeypatch.setattr(change_over, "_drop", late)
    with suppress(TransientError, ConfigError):
        world.publish()
    other.store.close()
    again.store.close()
    change(world, TO_LOG)
    write(world, 20)
    expect_equal(world)
