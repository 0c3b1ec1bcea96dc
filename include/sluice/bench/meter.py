"""A meter of phases: it reads the clock, and the processor time of a private server and of the jobs of a bench."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress

import psutil

from sluice.bench.phases import MeasuredPhase
from sluice.vendors.postgresql.session import Connection

REST = "rest of the server"
# Looks take a fiftieth of a core so.
_LOOK_S = 0.05
# The apply worker has another name in each second version.
_SESSIONS = """
SELECT pid, CASE WHEN backend_type = 'walsender' THEN 'walsender'
                 WHEN backend_type LIKE 'logical replication%worker' THEN 'apply worker'
                 ELSE 'sessions on ' || datname END
FROM pg_stat_activity
WHERE datname IS NOT NULL AND backend_type <> 'autovacuum worker'
"""


class ProcessMeter:
    """Measures one phase after the other.

    The sum of the server's processes is exact: the first of them counts the time of those that have ended. A session
    has the time that the last look at it has found. The remainder is in `REST`, with the server's own work.

    Args:
        session: looks at the server.
        others: more sessions of the bench, whose time is left out, as that of the looks is.
    """

    def __init__(self, session: Connection, *others: Connection) -> None:
        self._session = session
        self._left_out = {own.info.backend_pid for own in (session, *others)}
        self._postmaster = psutil.Process(psutil.Process(session.info.backend_pid).ppid())
        self._processes: dict[int, psutil.Process] = {}
        self._names: dict[int, str] = {}
        self._jobs: set[int] = set()
        self._spent: dict[int, float] = {}
        self._before: dict[int, float] = {}
        self._server_s = 0.0
        self._began = self._looked = 0.0
        self.lap()

    def watch(self, jobs: Mapping[str, int]) -> None:
        """Measure jobs as well, by the number of their process, from their beginning on."""
        self._jobs = set(jobs.values())
        self._names.update({pid: name for name, pid in jobs.items()})

    def look(self) -> None:
        """Read the time of sessions now and then: they may have ended when the phase ends."""
        if time.perf_counter() - self._looked > _LOOK_S:
            self._read_sessions()

    def lap(self) -> MeasuredPhase:
        """Return the phase that ends now; the next one begins."""
        ends = time.perf_counter()
        server_s = self._read_server()
        self._read_sessions()
        by_name: dict[str, float] = defaultdict(float)
        of_sessions = 0.0
        for pid, spent in self._spent.items():
            took = spent - self._before.get(pid, 0.0)
            if pid not in self._jobs:
                of_sessions += took
            if pid not in self._left_out:
                by_name[self._names[pid]] += took
        by_name[REST] = max(0.0, server_s - self._server_s - of_sessions)
        phase = MeasuredPhase(ends - self._began, by_name)
        self._before, self._server_s, self._began = dict(self._spent), server_s, ends
        return phase

    def _read_sessions(self) -> None:
        """Read the processor seconds of the sessions that are there, and of jobs."""
        sessions: dict[int, str] = dict(self._session.execute(_SESSIONS).fetchall())
        self._names.update(sessions)
        for pid in (*sessions, *self._jobs):
            with suppress(psutil.NoSuchProcess):
                if pid not in self._processes:
                    self._processes[pid] = psutil.Process(pid)
                self._spent[pid] = _cpu_seconds(self._processes[pid])
        self._looked = time.perf_counter()

    def _read_server(self) -> float:
        """Return the processor seconds of all of the server's processes, of those that have ended as well."""
        while True:
            ended_s = self._read_ended()
            running_s = _cpu_seconds(self._postmaster)
            for process in self._postmaster.children():
                with suppress(psutil.NoSuchProcess):
                    running_s += _cpu_seconds(process)
            # One that has ended meanwhile may be in neither sum, or in both.
            if self._read_ended() == ended_s:
                return ended_s + running_s

    def _read_ended(self) -> float:
        times = self._postmaster.cpu_times()
        return float(times.children_user + times.children_system)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
