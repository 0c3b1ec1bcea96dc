"""A GaussDB as a source. None runs here: a PostgreSQL whose plugin prints the same stands in for it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest
from support.gauss import gauss, needed, standing_in
from support.world import SOURCE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import ConfigError, StrangeSource
from sluice.monitor.check import findings
from sluice.state.replication import Status
from sluice.vendors.gaussdb.capture.slot import stream, transaction_buffer
from sluice.vendors.gaussdb.capture.slot.slot_readers import ByFunction, ByProtocol

pytestmark = [pytest.mark.postgres, needed]
__all__ = ["gauss", "standing_in"]
PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"

WAYS = {"functions": ByFunction, "protocol": ByProtocol}
by_both = pytest.mark.parametrize("read_by", WAYS)


def changes(world, after=0):
    return [(one["action"], one["new"], one["old"]) for one in world.log(after)]


@pytest.mark.full(but=["protocol"])
@by_both
def test_changes_arrive_in_the_order_of_their_commits_with_their_whole_old_rows(gauss, read_by):
    world = gauss(source={"decoding": {"read_by": read_by}})
    late = world.session()
    late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
    world.master.execute("INSERT INTO t VALUES (2, 'early'), (3, NULL)")
    world.catch_up()
    late.execute("COMMIT")
    world.master.execute("UPDATE t SET id = 4, v = v || '''x' WHERE id = 2")
    world.master.execute("DELETE FROM t WHERE id = 1; TRUNCATE t; INSERT INTO t VALUES (5, 'null')")
    world.catch_up()
    assert changes(world) == [
        ("I", ["2", "early"], None),
        ("I", ["3", None], None),
        ("I", ["1", "late"], None),
        ("U", ["4", "early'x"], ["2", "early"]),
        ("D", None, ["1", "late"]),
        ("T", None, None),
        ("I", ["5", "null"], None),
    ]
    assert world.differences() == {}


@pytest.mark.full
def test_what_a_sweep_shows_is_published_by_it_also_if_its_commit_did_not_wait_for_the_disk(gauss):
    world = gauss(source={"decoding": {"read_by": "protocol"}})
    hasty = world.session()
    hasty.execute("SET synchronous_commit = off")
    publisher = world.publisher()
    hasty.execute("INSERT INTO t VALUES (1, 'hasty')")
    publisher.publish(None)
    assert changes(world) == [("I", ["1", "hasty"], None)]


@pytest.mark.full
def test_a_value_out_of_line_that_did_not_change_arrives_all_the_same(gauss):
    world = gauss("CREATE TABLE t (id int PRIMARY KEY, v text, n int)")
    world.master.execute("ALTER TABLE t ALTER v SET STORAGE EXTERNAL")
    world.master.execute("INSERT INTO t VALUES (1, repeat('x', 9000), 1)")
    world.master.execute("UPDATE t SET n = 2")
    world.catch_up()
    assert changes(world)[-1] == ("U", ["1", "x" * 9000, "2"], ["1", "x" * 9000, "1"])
    assert world.differences() == {}


@pytest.mark.full(but=["protocol"])
@by_both
def test_a_publisher_that_dies_before_the_slot_is_advanced_publishes_nothing_twice(gauss, monkeypatch, read_by):
    world = gauss(source={"decoding": {"read_by": read_by}})
    world.master.execute("INSERT INTO t VALUES (1, 'a')")

    def dies(*_):
        raise RuntimeError("the publisher is dead")

    with monkeypatch.context() as patched:
        patched.setattr(WAYS[read_by], "forget", dies)
        with pytest.raises(RuntimeError):
            world.publish()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.let_leases_expire()
    world.catch_up()
    assert changes(world) == [("I", ["1", "a"], None), ("I", ["2", "b"], None)]


@pytest.mark.full
@by_both
def test_long_transactions_and_many_short_ones_are_published_in_bounded_pieces(gauss, monkeypatch, read_by):
    monkeypatch.setattr(transaction_buffer, "_MOST_BYTES", 100_000)
    monkeypatch.setattr(stream, "_BATCH_ROWS", 100)
    world = gauss(source={"decoding": {"read_by": read_by}, "segments": {"max_changes": 500}})
    world.master.execute("INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series(1, 5000) AS g")
    for number in range(50):
        world.master.execute("UPDATE t SET v = %s WHERE id <= 3", [str(number)])
    world.catch_up()
    assert world.differences() == {}
    assert len(world.log()) == 5150
    assert world.position("zurich").segment > 2


@pytest.mark.full
def test_a_table_that_is_altered_stops_its_slaves(gauss):
    world = gauss()
    world.master.execute("INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD n int")
    with pytest.raises(StrangeSource, match=r"SLC-404: the watched table public\.t was altered"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT


HARMLESS = ("VACUUM FULL t", "ALTER TABLE t ALTER v SET STATISTICS 50", "TRUNCATE t", "CLUSTER t USING t_pkey")


def fewer(plain):
    """Watch the table with other actions, for which bootstrap makes its trigger anew."""
    plain["sources"][SOURCE]["tables"]["public.t"] = {"actions": "ID"}


@pytest.mark.full
def test_a_table_may_get_another_file_with_the_same_rows_and_other_ddl_that_leaves_its_rows_alone(gauss):
    world = gauss()
    for number, harmless in enumerate(HARMLESS):
        world.master.execute(harmless)
        world.master.execute("INSERT INTO t VALUES (%s)", [number])
        world.catch_up()
    world.configure(fewer)
    world.master.execute("TRUNCATE t")
    bootstrap(world.context, SOURCE)
    world.master.execute("VACUUM FULL t")
    world.master.execute("INSERT INTO t VALUES (9)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_bootstrap_does_not_hide_that_rows_were_written_anew(gauss):
    world = gauss()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    world.master.execute("ALTER TABLE t ALTER id TYPE int USING id * 100")
    world.configure(fewer)
    bootstrap(world.context, SOURCE)
    with pytest.raises(StrangeSource, match=r"SLC-404: the rows of the watched table public\.t were written anew"):
        world.publish()


@pytest.mark.full
def test_a_source_is_left_as_it_was(gauss):
    world = gauss(f"{PLAIN}; CREATE TABLE u (a int); ALTER TABLE u REPLICA IDENTITY NOTHING", ["public.*"])
    removed = cleanup(world.context, SOURCE)
    assert any(one.startswith("SLOT repl_") for one in removed)
    for query in (
        "SELECT 1 FROM pg_replication_slots WHERE database = current_database()",
        "SELECT 1 FROM pg_class WHERE relname LIKE 'repl%'",
        "SELECT 1 FROM pg_namespace WHERE nspname = 'repl'",
        "SELECT 1 FROM pg_trigger WHERE NOT tgisinternal",
    ):
        assert world.master.execute(query).fetchall() == []
    found = world.master.execute("SELECT relname, relreplident::text FROM pg_class WHERE relname IN ('t', 'u')")
    assert dict(found.fetchall()) == {"t": "d", "u": "n"}


@pytest.mark.full
@pytest.mark.parametrize(
    ("harm", "code", "why"),
    [
        ("SELECT pg_drop_replication_slot(slot) FROM repl.repl_state", 404, "does not lead on"),
        (
            "SELECT pg_replication_slot_advance(slot, pg_current_wal_lsn()) FROM repl.repl_state",
            404,
            "does not lead on",
        ),
        ("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v text)", 404, ""),
        ("ALTER TABLE t DISABLE TRIGGER ALL; TRUNCATE t; ALTER TABLE t ENABLE TRIGGER ALL", 404, ""),
    ],
    ids=["dropped", "advanced", "made anew", "emptied unseen"],
)
def test_a_log_that_does_not_lead_on_makes_the_slaves_inconsistent_until_rebase(gauss, harm, code, why):
    world = gauss()
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute(harm)
    with pytest.raises(StrangeSource, match=f"SLC-{code}.*{why}"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    bootstrap(world.context, SOURCE, rebase=True)
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    assert changes(world) == [("I", ["2", "b"], None)]


@pytest.mark.full
def test_check_promises_no_ddl_and_says_that_the_kept_log_has_no_measure_and_a_server_takes_its_grants(
    gauss, standing_in
):
    world = gauss()
    script = grants(world.context, SOURCE)
    assert "REPLICATION" in script
    with standing_in.cluster.admin(world.infos["master"].database) as admin:
        admin.execute(script.encode())
    found = {one.subject: one.text for one in findings(world.context)}
    assert found[f"source {SOURCE}"].startswith(
        "answers; DbResources installed; DDL is not carried out on slaves: make and alter their tables by hand"
    )
    assert "watch the master's disk" in found[f"log of {SOURCE}"]


FLOATS = """
CREATE DOMAIN d AS double precision; CREATE TYPE c AS (a int, b d[]); CREATE TYPE r AS RANGE (subtype = float8);
CREATE TABLE f (id int PRIMARY KEY, "a.b" real, b float8[], c c, r r, p point, n numeric, t text);
CREATE TABLE ignored (x float8);
"""


@pytest.mark.full
def test_columns_that_the_decoding_may_round_are_refused_unless_they_are_allowed_one_by_one(gauss):
    world = gauss(f"{PLAIN}; {FLOATS}")

    def source_found():
        return next(one for one in findings(world.context) if one.subject == f"source {SOURCE}")

    def watch(plain):
        plain["sources"][SOURCE]["tables"] |= {"public.f": {}, "public.ignored": {"actions": "none"}}

    def allow(plain):
        plain["sources"][SOURCE]["decoding"] = {"rounded_floats": {"public.f": allowed}}

    world.configure(watch)
    allowed = ["b", "c", "r", "p"]
    named = ", ".join(f"public.f.{column}" for column in ["a.b", *allowed])
    with pytest.raises(ConfigError, match=f"SLC-477: .*digits of {named}, which.*\n.*rounded_floats"):
        bootstrap(world.context, SOURCE)
    assert not source_found().good
    world.configure(allow)
    with pytest.raises(ConfigError, match=r"SLC-477: .*digits of public\.f\.a\.b, which"):
        bootstrap(world.context, SOURCE)
    allowed.append("a.b")
    world.configure(allow)
    assert f"the last digits of {named} may be others than the master's" in source_found().text
    assert bootstrap(world.context, SOURCE)["added"] == ["public.f", "public.ignored"]


@pytest.mark.full
def test_a_slot_of_somebody_else_is_left_alone(gauss, standing_in):
    with standing_in.cluster.admin() as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('taken')")
    with pytest.raises(ConfigError, match=r"SLC-594: .*somebody else"):
        gauss(source={"decoding": {"slot": "Taken"}})
    with standing_in.cluster.admin() as admin:
        admin.execute("SELECT pg_drop_replication_slot('taken')")


@pytest.mark.full
def test_a_table_keeps_its_whole_old_rows_whatever_somebody_says(gauss):
    world = gauss()
    world.master.execute("INSERT INTO t VALUES (1, 'a'); ALTER TABLE t REPLICA IDENTITY DEFAULT")
    world.publish()
    assert world.left_out() == {"public.t"}
    world.master.execute("UPDATE t SET v = 'b'")
    world.publish()
    assert changes(world)[-1] == ("U", ["1", "b"], ["1", "a"])


@pytest.mark.full
def test_a_role_that_may_not_is_told_what_to_type(gauss, standing_in):
    weak = SimpleNamespace(
        create_database=partial(standing_in.create_database, superuser=False), connect=standing_in.connect
    )
    with pytest.raises(ConfigError, match=r"SLC-400.*REPLICATION"):
        gauss(elsewhere={"master": weak})
