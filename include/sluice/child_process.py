"""Children of a process that is killed without a chance to end them: where the kernel can, it does (Linux)."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def ended_with_parent(number: signal.Signals) -> Callable[[], None]:
    """What a child is to do before it begins, so that it has this signal when the thread that started it is gone."""

    def begin() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, number)

    return begin
