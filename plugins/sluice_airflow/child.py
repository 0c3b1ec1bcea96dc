"""A job as a child process: its log lines go to the task log, its result line is kept, and it never outlives the task.

Knows nothing of Airflow or Spark, so that both ways of running a job (directly, by spark-submit) end the same way.
"""

from __future__ import annotations

import codecs
import json
import logging
import os
import re
import selectors
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sluice.outside_text import visible
from sluice.process_group import ProcessGroup

# Airflow's supervisor sends SIGKILL to the task five seconds after SIGTERM: we must be through before.
GRACE_S = 4.0
_TAIL_LINES = 20
_ERROR_LINES = 40
_ERROR = re.compile(r"SLC-\d{3,}: ")
_LEVEL = re.compile(r"\blevel=(debug|info|warning|error|critical)\b", re.IGNORECASE)


class Log(Protocol):
    """Python's loggers and Airflow's."""

    def log(self, level: int, event: str, *args: Any) -> Any: ...


# Called with signals of a job at work: name, labels and value of each.
Hear = Callable[[Sequence[tuple[str, Mapping[str, str], float]]], None]


@dataclass
class Output:
    """The output of a job: its result line, its lineage, its error, its signals, and the end of everything else."""

    hear: Hear = lambda _: None
    result: dict[str, Any] | None = None
    lineage: list[dict[str, Any]] = field(default_factory=list)
    error: list[str] = field(default_factory=list)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    _in_error: bool = False

    def take(self, line: str) -> bool:
        """Sort one line in. True if it belongs into the log, False if it is a result, or of the error that the job ends
        with: the caller says so at the end.

        spark-submit joins a Python driver's two streams into one, so a result is known by its form, not by its stream.
        """
        if line.startswith("{") and (result := _json_object(line)) is not None:
            if result.keys() == {"signals"}:
                self.hear(result["signals"])
            elif result.keys() == {"lineage"}:
                self.lineage += result["lineage"]
            else:
                self.result = result
            return False
        self.tail.append(line)
        if _ERROR.match(line):
            self.error, self._in_error = [line], True
        elif self._in_error and len(self.error) < _ERROR_LINES:
            self.error.append(line)
            self._in_error = not line.startswith("HINT:")
        else:
            return True
        return False

    @property
    def reason(self) -> str:
        """The error as the job worded it (fact and HINT), or else its last lines."""
        if self.error and self.error[-1].startswith("HINT:"):
            return "\n".join(self.error)
        return "\n".join(self.error[:1] or self.tail)


class Child:
    """One run of a command.

    `stop` reaches all that the child started (a JVM, Python workers).
    If the task's process is killed without a chance to stop it, the kernel sends the child a SIGTERM. If the process
    that supervises the task is killed, nobody would ever hear of this run again: then it ends, too.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        log: Log,
        hear: Hear = lambda _: None,
        grace_s: float = GRACE_S,
    ):
        self._command = list(command)
        self._env = dict(env)
        self._log = log
        self._grace_s = grace_s
        self._supervisor = os.getppid()
        self._group: ProcessGroup | None = None
        self.output = Output(hear)

    def run(self) -> int:
        """Run to the end and return the exit code (negative: the signal that ended it)."""
        group = self._group = ProcessGroup(
            self._command,
            orphaned=signal.SIGTERM,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            if self._read(group):
                group.wait()
        finally:
            self.stop()
            code = group.reap()
        return code

    def stop(self) -> None:
        """End the child and all that it started: SIGTERM, and after the grace time SIGKILL. Does nothing twice.

        Runs inside a signal handler too, that is in the middle of `run`.
        """
        if self._group:
            self._group.end(self._grace_s)

    def _read(self, group: ProcessGroup) -> bool:
        """Hand on line by line until both streams are closed, or the child is gone and nothing more comes.

        Returns whether the task is still supervised.
        """
        with selectors.DefaultSelector() as selector:
            for stream in filter(None, (group.leader.stdout, group.leader.stderr)):
                selector.register(stream, selectors.EVENT_READ, _Lines())
            while selector.get_map():
                if os.getppid() != self._supervisor:
                    return False
                ready = selector.select(timeout=1)
                if not ready and not group.runs:
                    # A process that the child left behind still holds a stream open.
                    break
                for key, _ in ready:
                    chunk = os.read(key.fd, 65_536)
                    self._log_lines(key.data.feed(chunk))
                    if not chunk:
                        selector.unregister(key.fileobj)
        return True

    def _log_lines(self, lines: list[str]) -> None:
        for line in lines:
            if self.output.take(line):
                level = _LEVEL.search(line)
                self._log.log(getattr(logging, level.group(1).upper()) if level else logging.INFO, "%s", visible(line))


class _Lines:
    """Bytes in, whole lines out; the end of the stream ends the last line."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._rest = ""

    def feed(self, chunk: bytes) -> list[str]:
        *lines, self._rest = (self._rest + self._decode(chunk, final=not chunk)).split("\n")
        if not chunk and self._rest:
            lines.append(self._rest)
        return [line.rstrip() for line in lines if line.strip()]


def _json_object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
