"""Processes of the runtime: started in sessions of their own, known again for sure, ended with all they started.

A process is ours if its number *and* start time are those we wrote down, if it descends from such a one, or if its
environment carries the mark of this home. No other process is ever signalled.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sluice.errors import SluiceError
from sluice.storage import private_files

MARK_ENV = "SLUICE_RUNTIME"
_children: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Service:
    """A process that we started; `began` tells it from a later one that got the same number."""

    name: str
    pid: int
    began: str
    log: str

    def process(self) -> psutil.Process | None:
        """The process, or None if it has ended."""
        _reap()
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            if process.status() != psutil.STATUS_ZOMBIE and began(self.pid) == self.began:
                return process
        return None

    @property
    def alive(self) -> bool:
        return self.process() is not None

    def listens_on(self, port: int) -> bool:
        """Whether it, and not a stranger who was quicker, has the port."""
        for process in family([self]):
            with contextlib.suppress(psutil.Error):
                if any(
                    each.status == psutil.CONN_LISTEN and each.laddr.port == port
                    for each in process.net_connections("tcp")
                ):
                    return True
        return False

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until it is ready.

        Raises:
            SluiceError: SLC-931, it ended; it is not ready in time; both with the end of its log.
        """
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.alive:
                raise SluiceError(
                    931,
                    f"{self.name} ended:\n{self.tail()}",
                    f"the whole log: {self.log}; fix what it says, then `./sluice down` and `./sluice up`",
                )
            if time.monotonic() > deadline:
                fact = f"{self.name} is not ready after {seconds:.0f} s:\n{self.tail()}"
                raise SluiceError(931, fact, f"the whole log: {self.log}; `./sluice down`, then try again")
            time.sleep(0.1)

    def tail(self, lines: int = 15) -> str:
        """The end of its log."""
        with contextlib.suppress(OSError):
            return "\n".join(Path(self.log).read_text(errors="replace").splitlines()[-lines:])
        return ""


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    home: Path,
    env: Mapping[str, str],
    log: Path,
    cwd: Path,
    user: pwd.struct_passwd | None = None,
) -> Service:
    """Start a service in the background; it outlives us, and its output goes to its log."""
    with private_files.open_append(log) as sink:
        child = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            env={**env, **mark(home)},
            cwd=cwd,
            start_new_session=True,
            **as_user(user),
        )
    _children.append(child)
    return Service(name, child.pid, began(child.pid), str(log))


def as_user(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """Arguments of subprocess to run as another user, with none of our groups."""
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}


def mark(home: Path) -> dict[str, str]:
    """The environment by which processes of this home are known again.

    Airflow's processes rewrite their titles, by default over their environment; SPT_NOENV keeps that readable.
    """
    return {MARK_ENV: str(home), "SPT_NOENV": "1"}


def list_marked(home: Path) -> list[psutil.Process]:
    """All running processes that carry the mark of this home, except ourselves and what started us."""
    _reap()
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    marked_processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid not in own and process.environ().get(MARK_ENV) == str(home):
                marked_processes.append(process)
    return marked_processes


def family(services: Iterable[Service]) -> list[psutil.Process]:
    """The processes of these services and all that descend from them."""
    members: dict[int, psutil.Process] = {}
    for service in services:
        if leader := service.process():
            with contextlib.suppress(psutil.NoSuchProcess):
                members |= {process.pid: process for process in [leader, *leader.children(recursive=True)]}
    return list(members.values())


def end(processes: Sequence[psutil.Process], number: signal.Signals, grace_s: float) -> None:
    """Send the signal, wait, and kill what is still there."""
    _send(processes, number)
    deaf = alive_after(grace_s, processes)
    _send(deaf, signal.SIGKILL)
    alive_after(5, deaf)


def alive_after(seconds: float, processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Wait until they have ended, but no longer. Return the ones that have not.

    Zombies have: in a container whose first process reaps no orphans they stay for ever.
    """
    deadline = time.monotonic() + seconds
    while (alive := [process for process in processes if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    _reap()
    return alive


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def began(pid: int) -> str:
    """When the process began, in a form that does not move with the clock; empty if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {stat.rsplit(')', 1)[1].split()[19]}"
    except (FileNotFoundError, ProcessLookupError):
        with contextlib.suppress(psutil.NoSuchProcess):
            return str(psutil.Process(pid).create_time())
        return ""


def _send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        # psutil looks at the start time first, so a number that was given away meanwhile is not hit.
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _reap() -> None:
    for child in list(_children):
        if child.poll() is not None:
            _children.remove(child)
