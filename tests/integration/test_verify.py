"""Verification compares values at one point of the stream (R10): it finds what was seeded, and nothing else."""

from __future__ import annotations

from threading import Thread

import pytest
from support import traffic
from support.updating import UpdatingWorld, background, compare_here, publishers_take_their_time
from support.waiting import until
from support.world import CAPTURES, SOURCE

from sluice.changelog import points
from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError, TransientError
from sluice.model.names import TableName
from sluice.model.sample_bound import SampleBound
from sluice.monitor.comparison_status import read_comparison
from sluice.monitor.status import statuses
from sluice.state.replication import Status
from sluice.store import comparison_list
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text, score float8, amount numeric);
CREATE TABLE heap (a int, note text, score float8);
INSERT INTO keyed SELECT g, 'note ' || g, g / 10.0, g FROM generate_series(1, 300) AS g;
INSERT INTO keyed VALUES (1001, NULL, 0.3, 1.0);
INSERT INTO heap SELECT g % 50, 'note', 0.3 FROM generate_series(1, 150) AS g;
INSERT INTO heap VALUES (1001, NULL, 0.3);
"""
KEYED, HEAP = TableName("public", "keyed"), TableName("public", "heap")

# What is done to the slave; in which table; (missing, extra, changed); the sample.
CORRUPTIONS = {
    "values, rows and keys": (
        """
        UPDATE keyed SET note = note || ' ' WHERE id = 5; UPDATE keyed SET note = '' WHERE id = 1001;
        DELETE FROM keyed WHERE id = 300; INSERT INTO keyed VALUES (0, 'x', 0, 0);
        UPDATE keyed SET id = 2001 WHERE id = 9
        """,
        KEYED,
        (2, 2, 2),
        [*(["changed", key] for key in ("(5)", "(1001)")), *(["missing", key] for key in ("(300)", "(9)"))]
        + [["extra", key] for key in ("(0)", "(2001)")],
    ),
    "last digit of a float, scale of a numeric": (
        """
        UPDATE keyed SET score = 0.1::float8 + 0.2::float8 WHERE id = 1001;
        UPDATE keyed SET amount = 10.0 WHERE id = 10
        """,
        KEYED,
        (0, 0, 2),
        [["changed", "(1001)"], ["changed", "(10)"]],
    ),
    "all rows": ("UPDATE keyed SET amount = amount + 1", KEYED, (0, 0, 301), None),
    "no key, '' for NULL, one less and one more of three alike": (
        """
        UPDATE heap SET note = '' WHERE a = 1001; INSERT INTO heap VALUES (5, 'note', 0.3);
        DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap WHERE a = 4)
        """,
        HEAP,
        (2, 2, 0),
        [
            ["extra", '(1001,"",0.3)'],
            ["missing", "(1001,,0.3)"],
            ["missing", "(4,note,0.3)"],
            ["extra", "(5,note,0.3)"],
        ],
    ),
    "no key, last digit of a float": (
        "UPDATE heap SET score = 0.1::float8 + 0.2::float8 WHERE a = 1001",
        HEAP,
        (1, 1, 0),
        None,
    ),
}


@pytest.fixture(scope="module")
def normal(server, tmp_path_factory):
    """Two slaves that are equal to their master, and NORMAL."""
    world = UpdatingWorld(server, tmp_path_factory.mktemp("verify") / "world", DDL, ["public.keyed", "public.heap"], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        world.update()
        assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
        yield world
    world.close()
    server.drop_databases(world.infos.values())


@pytest.fixture(autouse=True)
def connections(normal, monkeypatch):
    """Comparisons here are given those of this world, also behind a test that made another one."""
    monkeypatch.setenv(SEALED_ENV, seal(normal.infos))


@pytest.fixture
def world(normal):
    """The same; what a test does to zurich is undone."""
    zurich = normal.reader("zurich")
    zurich.execute("CREATE TEMP TABLE k AS TABLE keyed; CREATE TEMP TABLE h AS TABLE heap")
    yield normal
    zurich.execute("TRUNCATE keyed, heap; INSERT INTO keyed TABLE k; INSERT INTO heap TABLE h; DROP TABLE k, h")


def recorded(world):
    """What the store keeps of the newest comparison: (table, slave) to (different, sample)."""
    rows = world.reader("control").execute(
        'SELECT "table", slave, different, sample FROM comparison WHERE point = (SELECT max(point) FROM comparison)'
    )
    return {(table, slave): (different, sample) for table, slave, different, sample in rows}


def bounds(world):
    """What the store keeps of the samples of the newest comparison, by tables."""
    rows = world.reader("control").execute(
        "SELECT \"table\", body->'bound' FROM comparison WHERE point = (SELECT max(point) FROM comparison)"
    )
    return dict(rows.fetchall())


@pytest.mark.full(but=["no key, '' for NULL, one less and one more of three alike"])
@pytest.mark.parametrize(("harm", "table", "counts", "sample"), CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_seeded_corruption_is_found_exactly(world, harm, table, counts, sample):
    world.reader("zurich").execute(harm)
    missing, extra, changed = counts
    with pytest.raises(SluiceError) as caught:
        world.verify()
    assert caught.value.code == 90
    assert f"{table} on zurich: {missing} missing, {extra} extra, {changed} changed; first keys: " in caught.value.fact
    assert " on geneva" not in caught.value.fact
    assert "trigger repair" in caught.value.hint
    assert [one.well for one in statuses(world.context)] == [False, True]
    found = recorded(world)
    other = KEYED if table == HEAP else HEAP
    assert found[str(table), "zurich"][0] == sum(counts)
    assert sample is None or sorted(found[str(table), "zurich"][1]) == sorted(sample)
    assert [found[str(other), "zurich"], found[str(table), "geneva"]] == [(0, []), (0, [])]
    assert world.status("zurich") is Status.NORMAL, "a verification reports, and repairs or decides nothing"


@pytest.mark.full
def test_a_sample_says_how_many_rows_can_differ_in_a_table_with_a_key(normal):
    with normal.running():
        found = verify(
            normal.context, VerifyRequest(SOURCE, ("zurich",), percent=50, confidence=0.95), compare_here, 60
        )
    known = bounds(normal)
    drawn = dict(
        normal.reader("control").execute(
            'SELECT "table", compared FROM comparison WHERE point = (SELECT max(point) FROM comparison)'
        )
    )
    assert known["public.heap"] is None, "rows alike are drawn together"
    assert known["public.keyed"] == pytest.approx(
        {"confidence": 0.95, "below": 1 - 0.05 ** (1 / drawn["public.keyed"])}
    )
    assert found["slaves"]["zurich"]["sample"] == {"public.keyed": known["public.keyed"]}
    one_in = int(1 / known["public.keyed"]["below"])
    sure = f"with 95 % confidence fewer than 1 row in {one_in} differs; of 1 table without a key nothing can be said"
    assert f"; {sure}; " in found["note"]
    (listed,) = comparison_list.page(normal.context.store, SOURCE, most=1)[0]
    assert (listed.percent, listed.bound) == (50, SampleBound(**known["public.keyed"]))
    assert listed.sure == read_comparison(normal.context, normal.pair("zurich"), listed.report).sure == sure
    normal.reader("control").execute("UPDATE comparison SET body = body - 'bound' WHERE point = %s", [listed.report])
    (older,) = comparison_list.page(normal.context.store, SOURCE, most=1)[0]
    report = read_comparison(normal.context, normal.pair("zurich"), older.report)
    assert older.sure == report.sure == "of 1 table without a key nothing can be said"


def test_a_sample_has_as_many_keys_as_say_what_is_wanted(normal):
    assert normal.verify("zurich", at_most=1 / 10) == {"zurich": 0}
    assert bounds(normal)["public.keyed"]["below"] <= 1 / 10
    assert recorded(normal)["public.heap", "zurich"] == (0, [])
    assert comparison_list.page(normal.context.store, SOURCE, most=1)[0][0].percent < 60
    with pytest.raises(SluiceError, match=r"SLC-914: .*cannot both be chosen"):
        verify_alone(normal, "zurich", at_most=1 / 10, percent=5)


@pytest.mark.smoke
def test_only_the_tables_named_are_compared(world):
    world.reader("zurich").execute("UPDATE keyed SET note = 'x'")
    assert world.verify(tables=(HEAP,)) == {"zurich": 0, "geneva": 0}
    assert set(recorded(world)) == {("public.heap", "zurich"), ("public.heap", "geneva")}
    with pytest.raises(SluiceError, match=r"SLC-040: public.typo: no table that is watched"):
        world.verify(tables=(HEAP, TableName("public", "typo")))


@pytest.mark.full
def test_a_table_that_is_locked_for_a_while_is_compared_again_at_the_same_point(normal):
    tables = []

    def locked(jobs):
        tables.append([job.view.master.name for job in jobs])
        if len(tables) > 1:
            return compare_here(jobs)
        with normal.session("zurich") as other, other.transaction():
            other.execute("LOCK TABLE keyed")
            return compare_here(jobs)

    asked = "SELECT pg_sequence_last_value(pg_get_serial_sequence('point', 'id'))"
    (before,) = normal.reader("control").execute(asked).fetchone()
    assert normal.verify("zurich", compare=locked) == {"zurich": 0}
    assert sorted(map(sorted, tables)) == [[HEAP, KEYED], [KEYED]]
    assert normal.reader("control").execute(asked).fetchone() == (before + 1,)


@pytest.mark.full
def test_a_sample_takes_about_its_percent_of_the_keys_and_others_each_time(world):
    world.reader("zurich").execute("UPDATE keyed SET amount = amount + 1")
    samples = []
    for _ in range(2):
        with pytest.raises(SluiceError, match=r"SLC-090"):
            world.verify("zurich", percent=20, tables=(KEYED,))
        different, first = recorded(world)["public.keyed", "zurich"]
        assert 0 < different < 150
        samples.append(first)
        # All that is drawn differs, so nothing is known of the rest.
        assert bounds(world)["public.keyed"] == {"confidence": 0.99, "below": 1.0}
    assert samples[0] != samples[1], "keys that no sample has would never be looked at"


def test_a_difference_at_the_end_of_an_initial_update_makes_it_inconsistent(updating):
    world = updating(DDL, ["public.keyed", "public.heap"], {})
    world.update()
    world.reader("zurich").execute("DELETE FROM heap WHERE a = 1001")
    with pytest.raises(SluiceError, match=r"SLC-090"):
        world.verify(initial=True)
    assert [world.status(slave) for slave in world.slaves] == [Status.INCONSISTENT, Status.NORMAL]


@pytest.mark.full
@pytest.mark.parametrize("capture", CAPTURES)
def test_verifying_under_constant_writes_finds_nothing(updating, capture):
    world = updating(traffic.DDL, traffic.TABLES, source={"capture": capture})
    world.update()
    with background(*traffic.jobs(world.session)):
        for initial in (True, False):
            assert world.verify(initial=initial) == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_a_table_rewritten_after_the_point_is_no_difference(updating):
    world = updating("CREATE TABLE bare (a int); INSERT INTO bare VALUES (1)", ["public.bare"])
    world.update()

    statements = ["ALTER TABLE bare ALTER a TYPE bigint", "TRUNCATE bare"]

    def too_late(jobs):
        world.master.execute(statements.pop())
        return compare_here(jobs)

    while statements:
        with pytest.raises(TransientError, match=r"SLC-095: public\.bare was rewritten or truncated while it was read"):
            world.verify(compare=too_late)
    for slave, schema in (("zurich", "public"), ("geneva", "branch")):
        world.reader(slave).execute(f"ALTER TABLE {schema}.bare ALTER a TYPE bigint")
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def test_a_drain_stops_at_the_point_until_it_was_read_there(normal):
    store = normal.context.store
    number = points.ask(store, SOURCE, ["zurich"])
    publisher = Thread(target=normal.publish, daemon=True)
    publisher.start()
    point = until(lambda: points.read_answer(store, number))
    end = normal.context.manifest(SOURCE).end()
    normal.master.execute("INSERT INTO heap VALUES (1, 'after the point', 1)")
    until(lambda: normal.context.manifest(SOURCE).end() > end)
    normal.drain("zurich")
    normal.drain("zurich")
    assert normal.position("zurich").ordinal == point.position.ordinal
    normal.drain("geneva")
    assert normal.position("geneva").ordinal > point.position.ordinal, "the other slave was not asked for"
    points.let_pass(store, number, "zurich")
    normal.drain("zurich")
    assert normal.position("zurich") == normal.position("geneva")
    assert publisher.is_alive(), "it holds the snapshot while somebody reads in it"
    points.close(store, number)
    publisher.join(30)
    assert not publisher.is_alive()


def test_the_barrier_of_a_verifier_that_died_expires(normal):
    store = normal.context.store
    number = points.ask(store, SOURCE, ["zurich"])
    publisher = Thread(target=normal.publish, daemon=True)
    publisher.start()
    point = until(lambda: points.read_answer(store, number))
    end = normal.context.manifest(SOURCE).end()
    normal.master.execute("INSERT INTO heap VALUES (1, 'after the point', 1)")
    until(lambda: normal.context.manifest(SOURCE).end() > end)
    normal.drain("zurich")
    assert normal.position("zurich").ordinal == point.position.ordinal
    normal.reader("control").execute("UPDATE point SET deadline = clock_timestamp() WHERE id = %s", [number])
    assert normal.drain("zurich")["transactions"] == 1
    publisher.join(30)
    assert not publisher.is_alive()


def test_a_slave_that_does_not_arrive_is_named_and_holds_nobody_up(normal, monkeypatch):
    publishers_take_their_time(monkeypatch)
    normal.master.execute("INSERT INTO heap VALUES (1, 'not delivered', 1)")
    normal.publish()
    with (
        background(normal.publish),
        pytest.raises(TransientError, match=r"SLC-091: slave zurich is at transaction") as caught,
    ):
        verify_alone(normal, "zurich", patience_s=1)
    assert "paused" in caught.value.hint
    normal.drain("zurich")
    assert normal.drain("zurich")["transactions"] == 0


@pytest.mark.full
def test_a_slave_that_does_not_arrive_keeps_no_other_from_normal(updating, monkeypatch):
    world = updating(DDL, ["public.keyed", "public.heap"])
    world.update()
    world.master.execute("INSERT INTO heap VALUES (1, 'not delivered', 1)")
    world.publish()
    world.drain("geneva")
    lacks = r"SLC-098: slave zurich has its data, and lacks transactions of the log: 1"
    with monkeypatch.context() as patch, background(world.publish, lambda: world.drain("geneva")):
        patch.setattr("sluice.verify.run._NEAR_S", 1.0)
        with pytest.raises(TransientError, match=lacks) as told:
            verify_alone(world, "zurich", "geneva", patience_s=60, initial=True)
    assert "ends by itself" in told.value.hint
    assert [world.status(slave) for slave in world.slaves] == [Status.TRANSITION, Status.NORMAL]
    assert world.verify(initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL


def test_a_publisher_that_does_not_answer_is_named(normal):
    with pytest.raises(TransientError, match=r"SLC-094: no publisher of flights answered within 1 s") as caught:
        verify_alone(normal, "zurich", patience_s=1)
    assert "publish__flights" in caught.value.hint


def verify_alone(world, *slaves, patience_s=1, **asked):
    """A verification beside which no job runs."""
    return verify(world.context, VerifyRequest(SOURCE, slaves, **asked), compare_here, patience_s)
