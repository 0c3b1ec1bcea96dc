"""Progress on stderr: a live line on a terminal, else a line for each step and one every few seconds of waiting.

Steps run side by side; what is shown while one waits is all that is still going on, and for how long.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from sluice.outside_text import in_one_line, visible

HEARTBEAT_S = 4.0
_REFRESH_S = 0.2
_CLEAR = "\r\033[K"


class ProgressStep:
    """One thing that takes time."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.detail = ""
        self.started = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.started

    def update(self, detail: str) -> None:
        """Say how far it is: rows, a phase, what is waited for."""
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.title}{f' ({self.detail})' if self.detail else ''} {self.elapsed_s:.0f} s"


class Progress:
    """Shows steps. Safe to be used from several threads.

    Args:
        quiet: where there is no terminal, say nothing as long as no detail changes.
    """

    def __init__(self, stream: TextIO | None = None, heartbeat_s: float = HEARTBEAT_S, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._quiet = quiet
        self._told: list[str] = []
        self._period_s = _REFRESH_S if self._live else heartbeat_s
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._steps: list[ProgressStep] = []
        self._ticker: threading.Thread | None = None
        self._wake = threading.Event()

    def note(self, text: str) -> None:
        """A line of its own."""
        with self._lock:
            self._line(text)

    @contextmanager
    def step(self, title: str) -> Iterator[ProgressStep]:
        """Around something that takes time; says when it is done, and until then that it lives."""
        step = ProgressStep(title)
        with self._lock:
            self._steps.append(step)
            if not self._live:
                self._line(f"{title} ...")
            if self._ticker is None:
                self._wake.clear()
                self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
                self._ticker.start()
        try:
            yield step
        except BaseException:
            self._end(step, "failed")
            raise
        self._end(step, "done")

    def _end(self, step: ProgressStep, how: str) -> None:
        with self._lock:
            self._steps.remove(step)
            self._line(f"{step.title}: {how} in {step.elapsed_s:.1f} s")
            if not self._steps:
                self._ticker = None
                self._wake.set()

    def _tick(self) -> None:
        while True:
            self._wake.wait(self._period_s)
            with self._lock:
                if self._ticker is not threading.current_thread():
                    return
                waiting = ", ".join(map(str, self._steps))
                if self._live:
                    width = shutil.get_terminal_size().columns - 1
                    self._stream.write(_CLEAR + f"{self._clock} {in_one_line(waiting)}"[:width])
                    self._stream.flush()
                elif (details := [step.detail for step in self._steps]) != self._told or not self._quiet:
                    self._told = details
                    self._line(f"... {waiting}")

    def _line(self, text: str) -> None:
        self._stream.write(f"{_CLEAR if self._live else ''}{self._clock} {visible(text)}\n")
        self._stream.flush()

    @property
    def _clock(self) -> str:
        elapsed = int(time.monotonic() - self._started)
        return f"[{elapsed // 60}:{elapsed % 60:02}]"
