"""What a bench says of processor time: no process is missing, and none is counted twice."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sluice.bench.meter import REST, ProcessMeter
from sluice.bench.server import private_server
from sluice.bench.workers import until
from sluice.runtime.terminal import Progress

pytestmark = [pytest.mark.postgres]

WORK = "SELECT count(*) FROM generate_series(1, 3000000)"
# All sessions on the slave but the one that looks.
GONE = "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = 'slave'"
MASTER, SLAVE = "sessions on master", "sessions on slave"
# More than what opens a session, less than the work.
LEAST_S = 0.1


@pytest.mark.full
def test_time_is_by_process_and_that_of_ended_sessions_is_not_lost():
    with private_server(Progress()) as server:
        master, slave = server.database("master"), server.database("slave")
        with server.connect(slave) as shows, server.connect(master) as bench, server.connect(master) as stays:
            meter = ProcessMeter(shows, bench)
            bench.execute(WORK)
            phase = meter.lap()
            assert all(spent < LEAST_S for spent in phase.cpu_s.values()), "the bench's own sessions do not count"

            stays.execute(WORK)
            phase = meter.lap()
            assert phase.cpu_s[MASTER] > LEAST_S > phase.cpu_s[REST]
            assert phase.seconds > phase.cpu_s[MASTER]

            with server.connect(slave) as seen:
                seen.execute(WORK)
                meter.look()
            with server.connect(slave) as unseen:
                unseen.execute(WORK)
            until(lambda: bench.execute(GONE).fetchone() == (True,), 0.01)
            phase = meter.lap()
            assert phase.cpu_s[SLAVE] > LEAST_S
            assert phase.cpu_s[REST] > LEAST_S
            assert phase.cpu_s[MASTER] < LEAST_S, "that was in the phase before"


@pytest.mark.full
def test_the_time_of_a_job_begins_with_its_process():
    with private_server(Progress()) as server, server.connect(server.database("master")) as session:
        meter = ProcessMeter(session)
        work = "sum(range(30_000_000)); print(flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
            job.stdout.readline()
            meter.watch({"job": job.pid})
            assert meter.lap().cpu_s["job"] > LEAST_S
            assert meter.lap().cpu_s["job"] < LEAST_S
            job.communicate(b"\n")
