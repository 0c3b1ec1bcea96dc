"""Processes of a step that stop at a named place, so that a test kills them there, or those that started them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from support.waiting import until

from sluice.crash import CrashPoint


@contextmanager
def halted(directory: Path, point: CrashPoint, job: subprocess.Popen[str]) -> Iterator[psutil.Process]:
    """The Python worker of a step that has stopped at this place; it is dead when the block ends.

    Args:
        directory: where the executors look, by `sluice.crash.ENV`.
        job: that asks for the step.
    """
    (directory / point).touch()
    try:
        until(lambda: _taken(directory, point) or job.poll() is not None, f"nobody came to {point}", 240)
        (file,) = _taken(directory, point)
        worker = psutil.Process(int(file.suffix[1:]))
        until(lambda: worker.status() == psutil.STATUS_STOPPED)
        yield worker
        worker.kill()
        until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
    finally:
        for file in directory.glob(f"{point}*"):
            file.unlink()


def _taken(directory: Path, point: CrashPoint) -> list[Path]:
    return list(directory.glob(f"{point}.*"))
