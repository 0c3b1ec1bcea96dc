"""A standby is refused as a source. The log of its master may be decoded on it. It may take the place of the source's
server: publishing goes on if it has all that was published (R2).

One standby is promoted for all of these tests; each has databases of its own on it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import psycopg
import pytest
from support.promoting import SLOT, Pair, halted_checkpoints, list_only
from support.waiting import until
from support.world import CAPTURES, SOURCE, World

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError, StrangeSource, TransientError
from sluice.log import record_events
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.publish.publisher import PointRequest
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.vendors.postgresql.capture.log import slot, slot_server
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.source_session import SourceSession

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE t (id int PRIMARY KEY)"
# Worlds whose last segment is listed, and the master has no record of that.
UNRECORDED = tuple(f"{capture}, not recorded" for capture in CAPTURES)


@pytest.fixture(scope="module")
def servers(server, tmp_path_factory):
    made = Pair(type(server), tmp_path_factory.mktemp("promoted"))
    yield made
    made.remove()


def refused(world):
    """What each way to begin with a source says of it: nothing may be worth a retry."""
    for begin in (world.publish, lambda: bootstrap(world.context, SOURCE)):
        with pytest.raises(SluiceError) as caught:
            begin()
        assert not isinstance(caught.value, TransientError)
        yield str(caught.value)
    (found,) = [one for one in findings(world.context) if one.subject == f"source {SOURCE}"]
    assert not found.good
    yield found.text


def remarks(world):
    """What `./sluice check` says of the source."""
    return next(one.text for one in findings(world.context) if one.subject == f"source {SOURCE}")


def let_copy_again(servers, world):
    """Whether standbys may copy the slot: one of an older version of Sluice, and after bootstrap."""
    copied = "SELECT failover FROM pg_replication_slots WHERE slot_name = (SELECT slot FROM repl.repl_log)"
    (name,) = world.master.execute("SELECT slot FROM repl.repl_log").fetchone()
    with psycopg.connect(servers.old.cluster.admin_dsn(), autocommit=True, replication="database") as session:
        session.execute(f"ALTER_REPLICATION_SLOT {name} (FAILOVER false)")
    for _ in range(2):
        yield world.master.execute(copied).fetchone()[0]
        bootstrap(world.context, SOURCE)


@dataclass
class Promoted:
    """Worlds of the old server, and what was said of the new one: as a standby, and before its first checkpoint."""

    worlds: dict[str, World]
    copyable: list[bool]
    of_check: list[str]
    of_standby: list[str]
    of_away: SluiceError
    of_ahead: SluiceError


def decode_on(world, conn_id):
    """Let the log be decoded where a connection leads to."""
    world.configure(lambda settings: settings["sources"][SOURCE].update(capture="log", standby_connection=conn_id))


@pytest.fixture(scope="module")
def copied(server, servers, tmp_path_factory, request):
    """Worlds of the old server that tests ask for, and one `ahead`; what was said of it. The standby copies them."""
    asking = [one.callspec.params for one in request.session.items if one.path == request.path and "[" in one.name]
    made = {
        name: World(
            server,
            tmp_path_factory.mktemp("world") / "world",
            DDL,
            ["public.t"],
            slaves=("zurich", "bern"),
            source={"capture": "triggers" if "triggers" in name else "log"},
            elsewhere={"master": servers.old},
        )
        for name in ("ahead", *dict.fromkeys(params["capture"] for params in asking))
    }
    copyable = list(let_copy_again(servers, made["ahead"]))
    servers.copy()
    yield made, copyable, [remarks(made["ahead"])]
    for world in made.values():
        world.close()
        server.drop_databases(world.infos.values())


@pytest.fixture(scope="module")
def decoded(server, servers, copied, tmp_path_factory):
    """A world of the old server that changed over to its log, decoded on the standby, while it was written to."""
    path = tmp_path_factory.mktemp("world") / "world"
    world = World(server, path, DDL, ["public.t"], elsewhere={"master": servers.old})
    standby = replace(world.infos["master"], port=servers.new.cluster.port)
    other = replace(standby, database="postgres")
    world.infos = {**world.infos, "standby": standby, "other": other, "itself": world.infos["master"]}
    world.master.execute("INSERT INTO t VALUES (1)")
    servers.wait_for_log()
    decode_on(world, "standby")
    assert bootstrap(world.context, SOURCE)["changed_over"]
    world.master.execute("INSERT INTO t VALUES (2)")
    world.catch_up()
    yield world
    world.close()
    server.drop_databases(world.infos.values())


@pytest.mark.full
def test_the_log_is_decoded_on_a_standby_with_ddl_at_its_place(servers, decoded):
    world, late = decoded, decoded.session()
    world.master.execute("INSERT INTO t VALUES (3)")
    world.master.execute("ALTER TABLE t ADD note text")
    late.execute("BEGIN; INSERT INTO t VALUES (5)")
    world.master.execute("INSERT INTO t VALUES (4, 'four')")
    world.catch_up()
    late.execute("COMMIT")
    world.catch_up()
    assert not world.differences()
    assert "".join(row["action"] for row in world.log()) == "IIIAII", "the command stands where it was given"
    assert [row["new"] for row in world.log() if row["action"] == "I"][3:] == [["4", "four"], ["5", None]]
    look = "SELECT count(*), bool_and(confirmed_flush_lsn > restart_lsn) FROM pg_replication_slots WHERE database = %s"
    database = [world.infos["master"].database]
    with servers.new.cluster.admin() as new, servers.old.cluster.admin() as old:
        assert new.execute(look, database).fetchone() == (1, True)
        assert old.execute(look, database).fetchone() == (0, None)


@pytest.mark.full
def test_what_the_standby_has_not_replayed_waits_and_is_said(servers, decoded, monkeypatch):
    world = decoded
    monkeypatch.setattr(slot_server, "_PATIENCE_S", 0.0)
    with servers.new.cluster.admin() as new:
        new.execute("SELECT pg_wal_replay_pause()")
        world.master.execute("INSERT INTO t VALUES (6)")
        world.let_leases_expire()
        with pytest.raises(TransientError, match=r"SLC-554.*behind the master"):
            world.publish()
        with closing(world.context.source(SOURCE)) as source:
            assert source.capture.kept_log().behind_bytes > 0
            with source.master.dump_snapshot([[TableName("public", "t")]], world.context.manifest(SOURCE).end) as dump:
                assert not dump.published()
        # A look that finds nothing because nothing is there yet is none.
        monkeypatch.setattr(SlotServer, "catch_up", lambda _: None)
        world.let_leases_expire()
        with pytest.raises(SluiceError, match=r"SLC-552.*is not there"):
            world.publisher().publish(None)
        new.execute("SELECT pg_wal_replay_resume()")
    monkeypatch.undo()
    world.catch_up()
    assert not world.differences()


@pytest.mark.full
def test_a_server_that_is_no_standby_or_has_not_the_slot_is_refused_and_slaves_stay_as_they_are(decoded):
    world = decoded
    world.master.execute("INSERT INTO t VALUES (7)")
    lead = "UPDATE repl.repl_log SET slot = %s RETURNING (SELECT slot FROM repl.repl_log)"
    # As another standby would not have it.
    (name,) = world.master.execute(lead, ["moved_standby"]).fetchone()
    for conn_id, said in (("standby", "406"), ("other", "552.*this mas"), ("itself", "552.*standby$"), (None, "406")):
        decode_on(world, conn_id)
        world.let_leases_expire()
        with pytest.raises(SluiceError, match=f"(?m)SLC-{said}") as refused:
            world.publish()
        assert not isinstance(refused.value, StrangeSource | TransientError)
        assert f"SLC-{said[:3]}" in remarks(world)
        world.master.execute(lead, [name])
    decode_on(world, "standby")
    world.catch_up()
    assert (world.differences(), world.status("zurich")) == ({}, Status.NORMAL)


@pytest.mark.full
def test_a_standby_is_asked_again_where_the_session_at_the_master_is_another_one(decoded, monkeypatch):
    infos, state = decoded.infos, "SELECT xmin::text, epoch FROM repl.repl_state"
    with closing(SourceSession(infos["master"], "repl", "REPL_", standby=infos["standby"])) as session:
        versions = [decoded.master.execute(state).fetchone()]
        for _ in range(3):
            session.slot_server.expect_follower(versions[0][1])
            versions.append(decoded.master.execute(state).fetchone())
            if len(versions) == 3:
                session.open().close()
        assert [len(set(versions)), versions[1] == versions[2]] == [3, True]
        monkeypatch.setattr(slot, "_WAIT", "500ms")
        late = decoded.session()
        late.execute("BEGIN; INSERT INTO t VALUES (30)")
        with pytest.raises(TransientError, match=r"SLC-408: the slot never_made .*as the standby at "):
            slot.make_first(session.slot_server, "never_made")
        late.execute("ROLLBACK")


@pytest.mark.full
def test_a_source_changes_back_to_triggers_from_the_log_of_its_standby(servers, decoded):
    world, said = decoded, []
    world.master.execute("INSERT INTO t VALUES (20)")
    for capture, id in (("triggers", 21), ("log", 22)):
        world.configure(lambda settings, capture=capture: settings["sources"][SOURCE].update(capture=capture))
        assert bootstrap(world.context, SOURCE)["changed_over"]
        world.master.execute("INSERT INTO t VALUES (%s)", [id])
        world.catch_up()
        assert (world.differences(), world.status("zurich")) == ({}, Status.NORMAL)
        with servers.new.cluster.admin() as new:
            database = [world.infos["master"].database]
            said += new.execute("SELECT count(*) FROM pg_replication_slots WHERE database = %s", database).fetchone()
    assert said == [0, 1]


def test_check_says_what_a_standby_lacks_to_keep_the_slot(servers, decoded):
    assert "hot_standby_feedback" not in remarks(decoded)
    with servers.new.cluster.admin() as new:
        new.execute("ALTER SYSTEM SET hot_standby_feedback = off")
        new.execute("SELECT pg_reload_conf()")
        until(lambda: "`hot_standby_feedback` is off on the standby" in remarks(decoded))
        new.execute("ALTER SYSTEM RESET hot_standby_feedback")
        new.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="module")
def promoted(servers, copied, decoded):
    """One of the worlds is `ahead`: what was published of it the standby never had."""
    made, copyable, of_check = copied
    ahead = made["ahead"]
    for world in made.values():
        world.master.execute("INSERT INTO t VALUES (1)")
        world.catch_up()
        # One of its slaves was filled after that.
        for event in (ReplicationEvent.REQUEST, ReplicationEvent.DUMPED, ReplicationEvent.VERIFIED):
            replications.record(world.context.store, world.pair("bern"), event)
        world.master.execute("INSERT INTO t VALUES (2)")
        world.catch_up()
    servers.await_standby(SLOT)
    of_check.append(remarks(ahead))
    servers.wait_for_slots()
    servers.lead(ahead, servers.new)
    of_standby = list(refused(ahead))
    ahead.let_leases_expire()
    servers.lead(ahead, servers.old)
    for world in made.values():
        world.master.execute("INSERT INTO t VALUES (3)")
    for name in made.keys() & set(UNRECORDED):
        list_only(made[name])
    servers.wait_for_log()
    servers.cut()
    for world in (ahead, *made.values()):
        world.master.execute("INSERT INTO t VALUES (4) ON CONFLICT DO NOTHING")
    xids = [ahead.master.execute("SELECT xmin FROM t WHERE id = 4").fetchone()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slot, "_PATIENCE_S", 0.0)
        with pytest.raises(TransientError) as away:
            ahead.publish()
    servers.await_standby("")
    ahead.let_leases_expire()
    ahead.publish()
    with halted_checkpoints(servers.new):
        servers.promote()
        servers.lead(ahead, servers.new)
        ahead.master.execute("INSERT INTO t VALUES (44)")
        xids.append(ahead.master.execute("SELECT xmin FROM t WHERE id = 44").fetchone())
        with pytest.raises(StrangeSource) as caught:
            ahead.publish()
    assert xids[0] == xids[1], "the new server gives out the xid again"
    return Promoted(made, copyable, of_check, of_standby, away.value, caught.value)


def test_a_standby_is_refused_as_a_source(promoted):
    for text in promoted.of_standby:
        assert text.startswith("SLC-038: ")
        assert "HINT: point the connection at the primary" in text
    assert "it is a standby" in promoted.of_standby[-1]


def test_bootstrap_lets_standbys_copy_the_slot_and_check_says_what_they_need(promoted):
    assert promoted.copyable == [False, True]
    assert ["synchronized_standby_slots" in text for text in promoted.of_check] == [True, False]
    assert f"name its slot ({SLOT})" in promoted.of_check[0]


def test_while_a_standby_is_away_that_is_to_have_all_first_the_publisher_does_not_hang(promoted):
    assert promoted.of_away.code == 554
    assert f"by {SLOT}" in promoted.of_away.fact


def test_a_server_that_lacks_what_was_published_is_refused(promoted):
    world = promoted.worlds["ahead"]
    assert promoted.of_ahead.code == 48
    assert [row["new"] for row in world.log()] == [["1"], ["2"], ["3"], ["4"]]
    assert world.status("zurich") is Status.INCONSISTENT


@pytest.mark.full(but=["triggers"])
@pytest.mark.parametrize("capture", [*CAPTURES, *UNRECORDED])
def test_publishing_goes_on_with_a_server_that_has_all_that_was_published(servers, promoted, capture):
    world = promoted.worlds[capture]
    servers.lead(world, servers.new)
    world.master.execute("INSERT INTO t VALUES (5)")
    with record_events() as lines, pytest.raises(TransientError, match=r"SLC-083: .*another server took the place"):
        world.publisher().publish(None, PointRequest(1, "of the old server", "1:1:"))
    assert any("took the source's place" in line and "inconsistent=bern" in line for _, line in lines)
    world.catch_up()
    assert world.differences().keys() <= {("bern", "t")}
    assert [row["new"] for row in world.log()] == [["1"], ["2"], ["3"], ["5"]]
    assert world.status("zurich") is Status.NORMAL
    assert world.status("bern") is Status.INCONSISTENT, "it was filled, perhaps, with what nobody published"


@pytest.mark.full
@pytest.mark.parametrize("capture", CAPTURES)
def test_the_old_server_is_refused_and_slaves_stay_as_they_are(servers, promoted, capture):
    world = promoted.worlds[capture]
    servers.lead(world, servers.new)
    world.catch_up()
    servers.lead(world, servers.old)
    world.let_leases_expire()
    before = world.log()
    for begin in (world.publish, lambda: bootstrap(world.context, SOURCE)):
        with pytest.raises(SluiceError, match=r"SLC-552: .*old server") as refused:
            begin()
        assert not isinstance(refused.value, StrangeSource)
    assert (world.log(), world.status("zurich")) == (before, Status.NORMAL)


@pytest.mark.full
def test_publishing_goes_on_with_a_promoted_standby_on_which_the_log_was_decoded(servers, promoted, decoded):
    world = decoded
    world.let_leases_expire()
    with pytest.raises(SluiceError, match=r"SLC-552.*is no standby"):
        world.publish()
    decode_on(world, None)
    servers.lead(world, servers.new)
    bootstrap(world.context, SOURCE)
    world.master.execute("INSERT INTO t VALUES (8)")
    world.catch_up()
    assert (world.differences(), world.status("zurich")) == ({}, Status.NORMAL)
    copied = "SELECT failover FROM pg_replication_slots WHERE slot_name = (SELECT slot FROM repl.repl_log)"
    assert world.master.execute(copied).fetchone() == (True,)
