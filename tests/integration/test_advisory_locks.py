"""A lock that anybody may take keeps nobody of ours from working; where one decides, it is told who holds it (R8)."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.errors import TransientError
from sluice.vendors.postgresql import install_lock
from sluice.vendors.postgresql.migrations import IN_SLAVE

pytestmark = [pytest.mark.postgres]

# Those of ours, by whatever version.
NAMES = ("sluice bootstrap repl.repl_state", "sluice slave", "sluice bootstrap")
HELD = "SELECT pg_advisory_lock(hashtext(%(name)s)), pg_advisory_lock(hashtext(%(name)s), hashtext('repl_'))"


@pytest.fixture
def world(build):
    made = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    made.drain()
    return made


@pytest.fixture
def stranger(world):
    """Holds every lock that has a name of ours, without a right on anything."""
    role = f"eve_{world.infos['master'].database}"
    world.master.execute(f"CREATE ROLE {role}")
    sessions = [world.session(name) for name in ("master", "zurich")]
    for session in sessions:
        session.execute(f"SET ROLE {role}")
        for name in NAMES:
            session.execute(HELD, {"name": name})
    yield sessions
    for session in sessions:
        session.close()
    world.master.execute(f"DROP ROLE {role}")


def test_what_is_installed_is_reconciled_and_upgraded_while_a_stranger_holds_locks(world, stranger):
    world.reader("zurich").execute("DROP TABLE sluice_ranges; COMMENT ON TABLE sluice_position IS NULL")
    bootstrap(world.context, SOURCE)
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full(but=["master"])
@pytest.mark.parametrize("name", ["master", "zurich"])
def test_what_is_to_be_installed_waits_for_a_while_and_tells_who_holds_the_lock(world, stranger, monkeypatch, name):
    monkeypatch.setattr(install_lock, "_PATIENCE", "200ms")
    if name == "master":
        cleanup(world.context, SOURCE)
    else:
        world.reader("zurich").execute("DROP TABLE " + ", ".join(IN_SLAVE))

    def install():
        bootstrap(world.context, SOURCE) if name == "master" else world.drain()

    session = stranger[name == "zurich"]
    with pytest.raises(TransientError, match=r"SLC-036: .* held its lock for 200ms") as found:
        install()
    assert f"process {session.info.backend_pid} of {world.infos[name].login}" in found.value.fact
    session.execute("SELECT pg_advisory_unlock_all()")
    install()


def test_a_session_of_ours_that_is_at_it_is_waited_for(world, monkeypatch):
    monkeypatch.setattr(install_lock, "_PATIENCE", "200ms")
    with world.session().transaction() as other:
        other.connection.execute("LOCK TABLE repl.repl_state IN SHARE UPDATE EXCLUSIVE MODE")
        with pytest.raises(TransientError, match=r"SLC-036: .*held its lock") as found:
            bootstrap(world.context, SOURCE)
        assert f"process {other.connection.info.backend_pid} of" in found.value.fact
        world.publish()
    bootstrap(world.context, SOURCE)
