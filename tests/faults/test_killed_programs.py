"""A dump that is killed while programs bring its rows: they end with it, and the next dump has none of theirs. And a
slave that loses what they brought."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from sluice.errors import SluiceError
from sluice.initial_update import start_stream
from sluice.initial_update.dump import EXTERNAL
from sluice.runtime.postgres_dirs import packaged_binaries
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DDL = "CREATE TABLE heap (a int, b text); INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 300) AS g"
DUMP = """
from sluice.context import Context
from sluice.initial_update.dump import EXTERNAL, dump
from support.updating import SOURCE, load_here
dump(Context.from_environment(), SOURCE, ["zurich"], load_here, mode=EXTERNAL)
"""
BETWEEN = """
data = sys.stdin.buffer.read()
open({marker!r}, "w").write(str(os.getpid()))
time.sleep(8)
subprocess.run(["pg_restore", "--data-only", "--dbname=" + sys.argv[1]], input=data)
"""
IN_MID_IMPORT = """
late = "SELECT pg_sleep(8); INSERT INTO heap SELECT 0, 'late'"
session = subprocess.Popen(["psql", "-c", "INSERT INTO heap VALUES (0, 'half')", "-c", late, sys.argv[1]])
open({marker!r}, "w").write(str(os.getpid()))
session.wait()
"""


@pytest.mark.full
@pytest.mark.parametrize("program", [BETWEEN, IN_MID_IMPORT], ids=["between export and import", "in mid import"])
def test_a_dump_that_is_killed_leaves_no_program_and_no_row_to_the_next(updating, tmp_path, monkeypatch, program):
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    world = updating(DDL, ["public.heap"], renamed={})
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    marker = tmp_path / "marker"
    command = [sys.executable, "-c", f"import os, subprocess, sys, time\n{program.format(marker=str(marker))}"]
    world.configure(
        lambda plain: plain["slaves"]["zurich"].update(initial_program={"command": [*command, "{database}"]})
    )
    world.inhibit("zurich")
    env = {**os.environ, **world.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", DUMP], env=env) as job:
        end = time.monotonic() + 120
        while not (marker.exists() and marker.read_text()):
            assert job.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        job.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    program_id = int(marker.read_text())
    assert world.status("zurich") is Status.INITIAL
    world.configure(lambda plain: plain["slaves"]["zurich"].pop("initial_program"))
    # As Airflow tries the task again.
    world.dump("zurich", mode=EXTERNAL)
    assert not psutil.pid_exists(program_id) or psutil.Process(program_id).status() == psutil.STATUS_ZOMBIE
    # What it has left would be there by now.
    time.sleep(max(0.0, killed + 10 - time.monotonic()))
    assert world.rows("zurich", "public.heap") == world.rows("master", "public.heap")
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_what_programs_brought_and_a_crash_of_the_slave_took_away_is_not_counted_on(updating, fragile, monkeypatch):
    """They commit without waiting for the disk, where the slave's role has it so (R3)."""
    monkeypatch.setenv("PATH", f"{packaged_binaries()}{os.pathsep}{os.environ['PATH']}")
    world = updating(DDL, ["public.heap"], renamed={}, elsewhere={"zurich": fragile})
    world.reader("zurich").execute(f"ALTER ROLE {world.infos['zurich'].login} SET synchronous_commit = off")
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    restart = start_stream.restart

    def crash(*given):
        fragile.kill()
        return restart(*given)

    world.inhibit("zurich")
    with monkeypatch.context() as last_moment:
        last_moment.setattr(start_stream, "restart", crash)
        with pytest.raises(SluiceError, match=r"SLC-080.*SLC-030"):
            world.dump("zurich", mode=EXTERNAL)
    assert world.status("zurich") is Status.INCONSISTENT
    world.inhibit("zurich")
    world.dump("zurich", mode=EXTERNAL)
    fragile.kill()
    world.reconnect("zurich")
    assert world.rows("zurich", "public.heap") == world.rows("master", "public.heap")
    world.release("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
