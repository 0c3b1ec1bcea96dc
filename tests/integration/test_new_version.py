"""A master's server is upgraded from 15 to 18 by pg_upgrade while slaves follow: none is filled again."""

from __future__ import annotations

import json
import threading
import time

import pytest
from support.changing_over import DDL, SLOTS, TABLES, expect_equal, write
from support.managed import Managed
from support.upgrading import Upgrade
from support.waiting import until
from support.world import CAPTURES, SOURCE, World

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.initial_update.inhibit import inhibit
from sluice.monitor.status import as_table, statuses
from sluice.publish import upgrade_master
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import Status

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]


class Writers:
    """Clients that write as fast as they can, and how long no transaction of theirs was committed."""

    def __init__(self, world, first=1000):
        self.world, self.longest_s, self.count, self._stop = world, 0.0, 0, threading.Event()
        self._first = first
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        with self.world.session() as session:
            last = time.monotonic()
            while not self._stop.is_set():
                id = self._first + self.count
                session.execute("INSERT INTO t VALUES (%s, 'w')", [id])
                session.execute("UPDATE t SET v = v || 'x' WHERE id = %s", [id - 1])
                session.execute("INSERT INTO heap VALUES (%s, 'w')", [id])
                now = time.monotonic()
                self.longest_s, last, self.count = max(self.longest_s, now - last), now, self.count + 1


@pytest.fixture(scope="module")
def upgraded(server, oldest, tmp_path_factory):
    """Worlds that were prepared on 15, and lead to 18; and what was said meanwhile."""
    upgrade = Upgrade(type(server), tmp_path_factory.mktemp("upgrade"))
    made = {
        name: World(
            server,
            tmp_path_factory.mktemp("world") / "world",
            DDL,
            TABLES,
            elsewhere={"master": Managed(upgrade.old) if name == "administrator" else upgrade.old},
            source={"capture": "log" if name == "log" else "triggers"},
        )
        for name in ("triggers", "log", "unprepared", "given up", "refused", "administrator")
    }
    said = {}
    for name, world in made.items():
        write(world, 1)
        world.catch_up()
        # What nobody has published yet.
        write(world, 10)
        if name == "unprepared":
            continue
        with Writers(world) as writers:
            until(lambda writers=writers: writers.count > 100)
            done = upgrade_master.prepare(world.context, SOURCE, "alice", events_aside=name == "triggers")
            assert done["server"].startswith("PostgreSQL 15")
        said[name] = writers.longest_s
    upgrade_master.take(made["given up"].context, SOURCE, "alice")
    expect_equal(made["given up"])
    waiting = {name: as_table(statuses(made[name].context)) for name in CAPTURES}
    upgrade.run()
    for world in made.values():
        upgrade.lead(world, upgrade.new)
    yield made, upgrade, said, waiting
    for world in made.values():
        world.close()
        server.drop_databases(world.infos.values())
    upgrade.remove()


@pytest.mark.parametrize("capture", CAPTURES)
def test_slaves_go_on_with_the_upgraded_server_and_writers_hardly_wait(upgraded, capture):
    worlds, _, stopped_s, waiting = upgraded
    world = worlds[capture]
    assert ReplicationCondition.UNPUBLISHED in waiting[capture]
    assert "waits since" in waiting[capture]
    assert "PostgreSQL 15" in waiting[capture]
    assert "upgrade_master" in waiting[capture]
    published = world.context.manifest(SOURCE).tail().number
    assert "waits since" in world.publish()["idle"]
    for refused in (bootstrap, lambda *given: inhibit(*given, ["zurich"])):
        with pytest.raises(SluiceError, match="SLC-960"):
            refused(world.context, SOURCE)
    with Writers(world, 1_000_000) as writers:
        until(lambda: writers.count > 100)
        assert upgrade_master.take(world.context, SOURCE, "alice")["server"].startswith("PostgreSQL 18")
        until(lambda: writers.count > 200)
    assert stopped_s[capture] + writers.longest_s < 5
    expect_equal(world)
    assert world.context.manifest(SOURCE).tail().number > published
    assert world.standing().well
    with world.session() as session:
        assert session.execute("SELECT count(*) FROM pg_event_trigger").fetchone() == (6,)
        slots = session.execute(SLOTS).fetchone()
    assert slots == (int(capture == "log"),)


def test_an_administrator_that_is_no_superuser_goes_on_by_the_job(upgraded):
    world = upgraded[0]["administrator"]
    ended = world.job("upgrade_master", "--step=after", "--who=alice")
    assert ended.returncode == 0, ended.stderr
    assert "publishing goes on with PostgreSQL 18" in json.loads(ended.stdout.splitlines()[-1])["note"]
    write(world, 50)
    expect_equal(world)
    assert world.standing().well


def test_a_server_that_nobody_prepared_is_refused(upgraded):
    world = upgraded[0]["unprepared"]
    with pytest.raises(SluiceError, match="SLC-961"):
        upgrade_master.take(world.context, SOURCE, "alice")
    with pytest.raises(SluiceError, match="SLC-048"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT


def test_a_server_that_does_not_go_on_is_refused_and_slaves_stay_as_they_are(upgraded):
    world = upgraded[0]["refused"]

    def refusal():
        with pytest.raises(SluiceError, match="SLC-962") as caught:
            upgrade_master.take(world.context, SOURCE, "alice")
        assert world.status("zurich") is Status.NORMAL
        return caught.value.fact

    # The wrong step changes nothing, either.
    with pytest.raises(SluiceError, match=r"SLC-961: .*another server"):
        upgrade_master.prepare(world.context, SOURCE, "alice")
    with world.session() as session:
        session.execute("UPDATE repl.repl_state SET epoch = epoch - 1")
        assert "its data is of an earlier moment" in refusal()
        session.execute("UPDATE repl.repl_state SET epoch = epoch + 1, segment = segment - 1")
        assert "it purged segment" in refusal()
        session.execute("UPDATE repl.repl_state SET segment = segment + 1")
        session.execute("ALTER TABLE t DISABLE TRIGGER USER")
        assert "triggers of public.t are missing or disabled" in refusal()
    assert bootstrap(world.context, SOURCE, rebase=True)
    world.publish()
    assert world.status("zurich") is Status.INCONSISTENT
    assert not world.standing().publishing


def test_the_old_server_is_refused_afterwards_and_slaves_stay_as_they_are(upgraded):
    worlds, upgrade, *_ = upgraded
    world = worlds["triggers"]
    world.catch_up()
    # Also once the next upgrade was begun, and given up.
    upgrade_master.prepare(world.context, SOURCE, "alice")
    upgrade_master.take(world.context, SOURCE, "alice")
    upgrade.old.start()
    upgrade.lead(world, upgrade.old)
    for begin in (world.publish, lambda: bootstrap(world.context, SOURCE)):
        with pytest.raises(SluiceError, match=r"SLC-552: .*old server"):
            begin()
    upgrade.lead(world, upgrade.new)
    expect_equal(world)
