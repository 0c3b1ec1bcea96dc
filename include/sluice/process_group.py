"""A child process with all that it starts: ended together, and never left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_LOOK_S = 0.02


class ProcessGroup:
    """A child that leads a session, and so a process group, of its own.

    If the thread that started it is killed without a chance to end it, the kernel sends it a signal (Linux). Until
    `reap`, its number belongs to its group and to no other, and no signal is sent after that.
    Any thread may end it, and so may a handler of signals.

    Args:
        words: the program and its arguments.
        orphaned: the signal that it gets when we are gone.
        popen: what else `subprocess.Popen` takes.
    """

    def __init__(self, words: Sequence[str], *, orphaned: signal.Signals, **popen: Any) -> None:
        def begin() -> None:
            if _LIBC is not None:
                _LIBC.prctl(_PR_SET_PDEATHSIG, orphaned)

        self._lock = threading.RLock()
        self.leader: subprocess.Popen[bytes] = subprocess.Popen(
            words, start_new_session=True, preexec_fn=begin, **popen
        )

    @property
    def runs(self) -> bool:
        """Whether the child itself has not ended yet."""
        with self._lock:
            # Somebody who ignores SIGCHLD has no children to wait for.
            with suppress(ChildProcessError):
                return (
                    self.leader.returncode is None
                    and os.waitid(os.P_PID, self.leader.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
                )
            return False

    def wait(self) -> None:
        """Wait until the child has ended; what it started may go on."""
        if self.leader.returncode is None:
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self.leader.pid, os.WEXITED | os.WNOWAIT)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child and to what it started."""
        with self._lock:
            if self.leader.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.leader.pid, number)

    def end(self, grace_s: float) -> None:
        """SIGTERM for all; SIGKILL for what is left when the child has ended, or after so many seconds."""
        self.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while self.runs and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        self.signal(signal.SIGKILL)

    def reap(self) -> int:
        """Wait until the child has ended; its exit code (negative: the signal that ended it)."""
        self.wait()
        with self._lock:
            return self.leader.wait()
