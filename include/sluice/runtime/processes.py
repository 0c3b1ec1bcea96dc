"""The processes we started: recorded before anything can go wrong, and ended by that record alone.

A process is known by its id *and* the moment it began, so that a reused id is never signalled.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from sluice.errors import SluiceError

GRACE_S = 20.0


@dataclass(frozen=True)
class Started:
    """One process of ours, the leader of its own session."""

    name: str
    pid: int
    began: float
    stop_signal: int = signal.SIGTERM

    def alive(self) -> bool:
        """Whether it still runs."""
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.began) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False


class Processes:
    """The record of what runs, in a file that survives us."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "processes.json"
        self._logs = directory / "logs"
        self._logs.mkdir(parents=True, exist_ok=True)

    def all(self) -> dict[str, Started]:
        """What was started and not stopped, by name; some of it may have died."""
        try:
            return {one["name"]: Started(**one) for one in json.loads(self._file.read_text())}
        except FileNotFoundError:
            return {}

    def start(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        user: int | None = None,
        stop_signal: int = signal.SIGTERM,
        cwd: Path | None = None,
    ) -> Started:
        """Start a process in a session of its own, its output in ``logs/<name>.log``, and record it."""
        with open(self.log(name), "ab") as log:
            child = subprocess.Popen(
                list(command),
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=user,
                cwd=cwd,
            )
        started = Started(name, child.pid, psutil.Process(child.pid).create_time(), stop_signal)
        self._write({**self.all(), name: started})
        return started

    def log(self, name: str) -> Path:
        """Where a process's output goes."""
        return self._logs / f"{name}.log"

    def stop(self, name: str) -> None:
        """End a process, and whatever it started, and forget it."""
        known = self.all()
        if started := known.pop(name, None):
            end(started)
            self._write(known)

    def stop_all(self) -> None:
        """End everything, what was started last first."""
        for name in reversed(list(self.all())):
            self.stop(name)

    def check(self, name: str) -> None:
        """Raise SluiceError SLC-910 with the end of its log if a process died."""
        started = self.all().get(name)
        if started is None or not started.alive():
            raise SluiceError(910, f"{name} ended:\n{self.tail(name)}", f"the whole log is {self.log(name)}")

    def tail(self, name: str, lines: int = 15) -> str:
        """The end of a process's log."""
        with suppress(OSError):
            return "\n".join(self.log(name).read_text(errors="replace").splitlines()[-lines:])
        return ""

    def _write(self, known: Mapping[str, Started]) -> None:
        text = json.dumps([asdict(one) for one in known.values()])
        draft = self._file.with_suffix(".new")
        draft.write_text(text)
        draft.replace(self._file)


def end(started: Started) -> None:
    """Ask a process of ours to end, then its whole session, then kill what is left."""
    if started.alive():
        members = _family(started.pid)
        with suppress(ProcessLookupError):
            os.kill(started.pid, started.stop_signal)
        _, left = psutil.wait_procs(members, timeout=GRACE_S)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=5)
    for process in _session(started.pid, started.began):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    with suppress(ChildProcessError):
        os.waitpid(started.pid, os.WNOHANG)


def wait_for(ready: Callable[[], bool], processes: Processes, name: str, seconds: float) -> None:
    """Wait until `ready()` is true. Raises SluiceError if the process dies or the time is over."""
    deadline = time.monotonic() + seconds
    while not ready():
        processes.check(name)
        if time.monotonic() > deadline:
            raise SluiceError(
                911,
                f"{name} did not answer within {seconds:.0f} s:\n{processes.tail(name)}",
                f"the whole log is {processes.log(name)}; `./sluice down`, then try again",
            )
        time.sleep(0.1)


def _family(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    return []


def _session(leader: int, began: float) -> list[psutil.Process]:
    """What is left of a session whose leader is gone; a younger session of the same number is not ours."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == leader and process.create_time() >= began - 1:
                found.append(process)
    return found
