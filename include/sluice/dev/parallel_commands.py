"""Commands that take minutes, two at a time: each core has one, and what they print stays readable."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock, Thread
from typing import IO, TypeVar

HEARTBEAT_S = 30
_LANES = 2
_RELAY_S = 10
_screen = Lock()

One = TypeVar("One")
Result = TypeVar("Result")


def lanes(works: int) -> int:
    """How many of so many works run side by side here."""
    return max(1, min(_LANES, works, os.cpu_count() or 1))


def side_by_side(do: Callable[[One], Result], works: Sequence[One]) -> list[Result]:
    """Do them in their order, as many at a time as there are lanes; the results in that order."""
    if lanes(len(works)) == 1:
        return [do(work) for work in works]
    with ThreadPoolExecutor(lanes(len(works))) as pool:
        return list(pool.map(do, works))


def say(text: str, to: IO[str] | None = None) -> None:
    """Print whole lines, which no other lane comes between."""
    with _screen:
        print(text, file=to, flush=True)


def shown(what: str, command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], *, beside: bool) -> int:
    """Run it and show what it prints as it comes; a command that says nothing for long is no silent minute.

    Args:
        beside: another one runs at the same time: each line says whose it is, and the summary at the end stays whole.

    Returns:
        Its exit code.
    """
    began = time.monotonic()
    out, errors = (subprocess.PIPE, subprocess.STDOUT) if beside else (None, None)
    child = subprocess.Popen(command, cwd=cwd, env=env, stdout=out, stderr=errors, text=True, errors="replace")
    relay = Thread(target=_relay, args=(what, child.stdout or ()), daemon=True)
    relay.start()
    try:
        while True:
            try:
                return child.wait(HEARTBEAT_S)
            except subprocess.TimeoutExpired:
                say(f" ... {what} {time.monotonic() - began:.0f} s", sys.stderr)
    finally:
        # An interrupt reaches it as well, and it has servers to end.
        child.wait()
        # What it left behind may hold the pipe, and is not waited for.
        relay.join(_RELAY_S)


def _relay(what: str, lines: Iterable[str]) -> None:
    """Line by line while tests run; what pytest says afterwards, the failures first, in one piece."""
    held: list[str] = []
    for line in lines:
        if held or (line.startswith("==") and "test session starts" not in line):
            held.append(line)
        elif line.strip():
            say(f"{what} | {line.rstrip()}")
    if held:
        say(f"===== {what}\n{''.join(held).rstrip()}")
