"""How much memory a process takes."""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path


def peak(process: subprocess.Popen[str]) -> int:
    """Wait until a process has ended; the most memory that it had, in bytes.

    It is asked while it runs: `ru_maxrss` of a child begins with that of the process that started it.
    """
    most, status = 0, Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        # It may end here.
        with suppress(OSError):
            if found := re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE):
                most = max(most, int(found[1]) * 1024)
        time.sleep(0.02)
    return most
