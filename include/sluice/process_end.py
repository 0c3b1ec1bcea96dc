"""The end of a process that Arrow's threads work in."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def leave_process(code: int) -> NoReturn:
    """End the process with an exit code, once everything was undone, without tearing the interpreter down.

    Arrow's threads read ahead for what was interrupted. A thread that wants the interpreter while it is torn down
    aborts the process, or keeps it waiting.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
