"""Publishing: whole transactions in the order of R1, in the log before they leave ITEMS (R2), by one publisher (R6)."""

from __future__ import annotations

import os
from itertools import groupby

import pytest
from support.issuing import execute
from support.world import CAPTURES, SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.crash import CrashPoint
from sluice.errors import FencedError, SluiceError, TransientError
from sluice.model.statement import Statement
from sluice.publish import publisher as publishing
from sluice.state.replication import Status
from sluice.store import leases

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
CRASHED = "the publisher is dead"


EITHER = pytest.mark.parametrize("world", CAPTURES, indirect=True)


@pytest.fixture
def world(build, request):
    return build(PLAIN, ["public.t"], source={"capture": getattr(request, "param", "triggers")})


def bounded(build, changes, ddl=PLAIN, capture="triggers"):
    return build(ddl, ["public.t"], source={"segments": {"max_changes": changes}, "capture": capture})


def transactions(world):
    """Per transaction of the log, in its order, the ids its new images bear."""
    whole = groupby(world.log(), key=lambda row: row["ordinal"])
    return [[row["new"][0] for row in rows if row["new"]] for _, rows in whole]


def dies_at(monkeypatch, point, meanwhile=None, turn=1):
    """Let the publisher end at a point when it is there for that time, or let something else happen."""
    turns = iter(range(1, turn + 1))

    def reached(at):
        if at is point and next(turns) == turn:
            monkeypatch.undo()
            if meanwhile is None:
                raise RuntimeError(CRASHED)
            meanwhile()

    monkeypatch.setattr(publishing, "crash_if_asked", reached)


@pytest.mark.smoke
@EITHER
def test_a_transaction_that_commits_late_with_older_keys_is_not_lost(world):
    late = world.session()
    late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
    world.master.execute("INSERT INTO t VALUES (2, 'early')")
    world.catch_up()
    assert transactions(world) == [["2"]]
    late.execute("COMMIT")
    world.catch_up()
    assert transactions(world) == [["2"], ["1"]]
    assert world.differences() == {}


def test_a_command_keeps_its_place_among_the_rows_and_its_text_whatever_it_holds(world):
    text = "UPDATE t SET v = 'a,\"b\"\n\\' WHERE (1,2) = (1,2)"
    world.master.execute("INSERT INTO t VALUES (1, 'before')")
    execute(world, text)
    world.master.execute("INSERT INTO t VALUES (2, 'after')")
    world.publish()
    first, (action, (sent,)), last = [(row["action"], row["new"]) for row in world.log()]
    assert (first, last) == (("I", ["1", "before"]), ("I", ["2", "after"]))
    assert (action, Statement.from_json(sent).sql) == ("S", text)


def test_transactions_are_published_in_the_order_of_their_largest_keys(world):
    first, second = world.session(), world.session()
    first.execute("BEGIN; INSERT INTO t VALUES (1, 'a')")
    second.execute("BEGIN; INSERT INTO t VALUES (2, 'b')")
    first.execute("INSERT INTO t VALUES (3, 'c')")
    second.execute("COMMIT")
    first.execute("COMMIT")
    world.publish()
    assert transactions(world) == [["2"], ["1", "3"]]


def interleaved(world):
    """Keys 1 to 5: of the first transaction 1, 4 and 5, of the second 2, of the third 3."""
    first = world.session()
    first.execute("BEGIN; INSERT INTO t VALUES (1, 'first')")
    for number in (2, 3):
        world.master.execute("INSERT INTO t VALUES (%s, 'alone')", [number])
    first.execute("INSERT INTO t VALUES (4, 'first'), (5, 'first')")
    first.execute("COMMIT")


@pytest.mark.full(but=["triggers-1"])
@pytest.mark.parametrize(("capture", "bound"), [*(("triggers", bound) for bound in (1, 2, 4, 5)), ("log", 2)])
def test_a_bounded_sweep_takes_whole_transactions_that_end_within_its_bound(build, bound, capture):
    """And all of one that began before: besides keys of its slice, two of the first transaction."""
    world = bounded(build, bound, capture=capture)
    interleaved(world)
    publisher, sizes = world.publisher(), []
    while world.queued():
        sizes.append(publisher.publish(bound).changes)
    assert all(0 < size <= bound + 2 for size in sizes)
    assert transactions(world) == [["2"], ["3"], ["1", "4", "5"]]


def test_one_run_publishes_all_that_is_queued_whatever_its_bound(build):
    world = bounded(build, 2)
    interleaved(world)
    world.publish()
    assert world.queued() == set()
    assert transactions(world) == [["2"], ["3"], ["1", "4", "5"]]


@pytest.mark.parametrize(("mode", "slave_key"), [("DEFERRED", ""), ("IMMEDIATE", " DEFERRABLE")])
def test_a_key_freed_by_a_transaction_that_committed_in_between_ends_with_its_new_bearer(build, mode, slave_key):
    """Deferrable keys (R1): the insert draws its key first, but may commit only after the delete has."""
    world = build(f"CREATE TABLE t (id int PRIMARY KEY{slave_key}, v text)", ["public.t"])
    world.master.execute("ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED")
    bootstrap(world.context, SOURCE, recreate_triggers=True)
    world.master.execute("INSERT INTO t VALUES (5, 'old')")
    world.catch_up()
    second = world.session()
    second.execute("BEGIN; INSERT INTO t VALUES (5, 'new')")
    world.master.execute("DELETE FROM t WHERE id = 5")
    second.execute(f"SET CONSTRAINTS ALL {mode}")
    second.execute("COMMIT")
    world.catch_up()
    assert world.rows("master", "public.t") == {('{"id":5,"v":"new"}',): 1}
    assert world.differences() == {}


@EITHER
def test_a_commit_between_sweep_and_purge_is_not_purged(world, monkeypatch):
    late = world.session()
    late.execute("BEGIN; INSERT INTO t VALUES (2, 'late')")
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    late.execute("SAVEPOINT between")
    world.master.execute("INSERT INTO t VALUES (3, 'c')")
    dies_at(monkeypatch, CrashPoint.LISTED, lambda: late.execute("COMMIT"))
    world.publisher().publish(None)
    assert (transactions(world), len(world.queued())) == ([["1"], ["3"]], 1)
    world.catch_up()
    assert world.differences() == {}


@EITHER
def test_what_was_listed_and_not_purged_is_purged_by_its_keys_alone(world, monkeypatch):
    """A late commit whose key lies among those of the segment survives the healing purge."""
    late = world.session()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    late.execute("BEGIN; INSERT INTO t VALUES (2, 'late')")
    world.master.execute("INSERT INTO t VALUES (3, 'c')")
    dies_at(monkeypatch, CrashPoint.LISTED)
    with pytest.raises(RuntimeError, match=CRASHED):
        world.publisher().publish(None)
    late.execute("COMMIT")
    assert len(world.queued()) == 3
    world.catch_up()
    assert transactions(world) == [["1"], ["3"], ["2"]]
    assert world.differences() == {}


def test_a_master_that_went_back_to_before_the_last_segment_is_noticed_and_loses_nothing(world):
    """As a snapshot of its volumes has it: on the same timeline. Its keys are given out again."""
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    known = world.master.execute("SELECT segment, sha256, last_value FROM repl_state, repl_seq").fetchone()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    world.master.execute("UPDATE repl_state SET (segment, sha256) = (%s, %s)", known[:2])
    world.master.execute("SELECT setval('repl_seq', %s)", known[2:])
    world.master.execute("INSERT INTO t VALUES (3, 'c')")
    with pytest.raises(SluiceError, match="SLC-048"):
        world.publish()
    assert world.queued() == {change["repl_key"] for change in world.log(after=1)}, "the same key is another change"
    assert world.status("zurich") is Status.INCONSISTENT


@pytest.mark.full
def test_slaves_have_the_first_part_of_a_sweep_while_the_others_are_still_published(build, monkeypatch):
    world = bounded(build, 16)
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'a')")
    for number in (4, 5):
        world.master.execute("INSERT INTO t VALUES (%s, 'b')", [number])
    found = []
    dies_at(monkeypatch, CrashPoint.LISTED, lambda: found.append((world.drain()["changes"], len(world.queued()))))
    published = world.publish()
    assert published.pop("note").startswith("published 3 transactions, 5 changes; the log ends at ")
    assert published == {"source": SOURCE, "transactions": 3, "changes": 5, "segments": 2, "ordinal": 3}
    assert (found, world.queued()) == ([(3, 5)], set())
    assert world.drain()["changes"] == 2
    assert world.differences() == {}


def test_parts_of_a_sweep_that_were_listed_and_not_purged_are_purged_and_the_rest_is_swept_again(build, monkeypatch):
    world = bounded(build, 16)
    world.master.execute("INSERT INTO t VALUES (0, 'before')")
    world.publish()
    for number in range(1, 8):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
    dies_at(monkeypatch, CrashPoint.LISTED, turn=2)
    with pytest.raises(RuntimeError, match=CRASHED):
        world.publisher().publish(16)
    assert (len(transactions(world)), len(world.queued())) == (5, 7)
    world.catch_up()
    assert transactions(world) == [[str(number)] for number in range(8)]
    assert world.differences() == {}


def test_files_of_an_earlier_publisher_that_were_never_listed_are_removed_and_listed_ones_stay(world, monkeypatch):
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    dies_at(monkeypatch, CrashPoint.WRITTEN)
    with pytest.raises(RuntimeError, match=CRASHED):
        world.publisher().publish(None)
    files = world.context.files()
    assert len(files.names()) == 2
    foreign = world.path / "log" / "another-000000000001-1-abc.parquet"
    foreign.touch()
    world.let_leases_expire()
    world.publish()
    assert set(files.names()) == {one.file.name for one in world.context.manifest(SOURCE).kept_segments()} | {
        foreign.stem
    }
    assert transactions(world) == [["1"], ["2"]]


def test_what_is_no_file_and_is_called_like_a_segment_does_not_stop_the_publisher(world):
    log, outside = world.path / "log", world.path / "outside"
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    outside.write_text("not ours")
    os.mkfifo(log / "flights-000000000009-0-bb.parquet")
    (log / "flights-000000000009-0-cc.parquet").symlink_to(outside)
    (log / "flights-000000000009-0-dd.parquet").symlink_to(world.path)
    (log / "flights-000000000009-\u00b2-ee.parquet").touch()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.let_leases_expire()
    world.publish()
    assert transactions(world) == [["1"], ["2"]]
    left = {path.name for path in log.iterdir()} - {
        f"{one.file.name}.parquet" for one in world.context.manifest(SOURCE).kept_segments()
    }
    assert left == {"flights-000000000009-\u00b2-ee.parquet"}
    assert outside.read_text() == "not ours"


def another_incarnation(world):
    """What a restore to another place, or a failover that lost something, does to a source."""
    world.master.execute("UPDATE repl_state SET incarnation = gen_random_uuid()")


def an_earlier_state(world):
    """What a restore to a time before the last segments does."""
    world.master.execute("UPDATE repl_state SET segment = segment - 2")


@pytest.mark.parametrize("restored", [another_incarnation, an_earlier_state])
def test_a_source_that_is_not_the_one_of_the_log_is_refused_until_an_operator_accepts_it(world, restored):
    for number in range(3):
        world.master.execute("INSERT INTO t VALUES (%s, 'a')", [number])
        world.catch_up()
    restored(world)
    world.master.execute("INSERT INTO t VALUES (9, 'after')")
    with pytest.raises(SluiceError, match="SLC-048") as refused:
        world.publish()
    assert not isinstance(refused.value, TransientError)
    assert "rebase" in refused.value.hint
    assert (world.status("zurich"), len(world.queued()), len(transactions(world))) == (Status.INCONSISTENT, 1, 3)
    bootstrap(world.context, SOURCE, rebase=True)
    world.publish()
    assert [row["new"][0] for row in world.log(after=3)] == ["9"]
    assert world.status("zurich") is Status.INCONSISTENT


OVERTAKEN = [("triggers", point) for point in (CrashPoint.SWEPT, CrashPoint.WRITTEN, CrashPoint.LISTED)]


@pytest.mark.parametrize(("world", "point"), [*OVERTAKEN, ("log", CrashPoint.LISTED)], indirect=["world"])
def test_a_publisher_that_was_overtaken_can_neither_list_nor_purge(world, monkeypatch, point):
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    zombie = world.publisher()

    def overtake():
        world.master.execute("INSERT INTO t VALUES (3, 'c')")
        world.publisher().publish(None)

    dies_at(monkeypatch, point, overtake)
    with pytest.raises((FencedError, TransientError)):
        zombie.publish(None)
    world.catch_up()
    ids = [one for transaction in transactions(world) for one in transaction]
    assert sorted(ids) == ["1", "2", "3"]
    assert world.differences() == {}


def test_a_publisher_started_twice_at_once_says_who_is_at_work(world):
    held = leases.acquire(world.context.store, f"publish {SOURCE}")
    with pytest.raises(TransientError, match=f"SLC-051.*{held.holder}"):
        world.publish()
    leases.release(world.context.store, held)
    assert world.publish()["changes"] == 0


def test_taking_over_ends_a_publisher_that_hangs_in_its_transaction(world):
    zombie = world.publisher()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")

    def purge_late():
        with zombie._database.capture.sweep(zombie._lease.epoch, None) as sweep:
            assert world.publisher().publish(None).changes == 1
            sweep.purge(publishing.Purge(1, "x"), 1)

    with pytest.raises(TransientError, match="SLC-030"):
        purge_late()
    world.catch_up()
    assert world.differences() == {}


def test_the_holdback_counts_transactions_not_rows(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO t SELECT generate_series(1, 5)")
    world.publish()
    assert world.standing().holdback == 1
    world.drain()
    assert world.standing().holdback == 0


def test_a_master_that_publishes_all_tables_itself_can_be_purged(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    identity = "SELECT relreplident::text, xmin FROM pg_class WHERE oid = 'repl.repl_queue'::regclass"
    before = world.master.execute(identity).fetchone()
    world.master.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    world.master.execute("INSERT INTO t VALUES (1); ALTER TABLE t ADD v text; INSERT INTO t VALUES (2); DROP TABLE t")
    world.publish()
    assert world.queued() == set()
    assert before[0] == "f"
    assert world.master.execute(identity).fetchone() == before, "a provider does not switch over after an ALTER TABLE"
