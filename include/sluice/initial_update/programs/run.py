"""Programs that bring rows in place of us: one of the master's side writes, one of each slave's side reads the same."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

from sluice import passwords
from sluice.config.models import Program
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.log import event
from sluice.process_group import ProcessGroup

_BUFFER_BYTES = 1024 * 1024
# Of what a program says: how much is read as one line, and how much of it is logged. A secret lies in one or the other.
_LINE_BYTES, _TOLD = 64 * 1024, 1000
_GRACE_S, _LOOK_S = 5.0, 3.0
_PLACE = re.compile(r"\{(\w+)\}")
# What of our own environment a program gets; never what opens our connections.
_OURS = ("PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class ProgramRun:
    """A program as it is to be run.

    Attributes:
        who: whose program it is, in words.
        settings: of the configuration.
        words: the program and its arguments.
        environment: what it gets beside a little of our own.
        directory: a private directory.
    """

    who: str
    settings: Program
    words: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    directory: Path


class Mask:
    """Puts `***` in place of what a log is not to have.

    Args:
        connections: their passwords, also the fetched ones, as they are, and as a URL has them.
    """

    def __init__(self, connections: Mapping[str, ConnectionInfo]) -> None:
        words = {info.password for info in connections.values() if info.password} | passwords.list_fetched()
        words |= {quote(word, safe="") for word in words}
        self._secrets = sorted(words, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def fill_words(words: Sequence[str], once: Mapping[str, str], each: Mapping[str, Sequence[str]]) -> list[str]:
    """Words with what their places `{name}` stand for; a word is there once for each value of a place in `each`."""
    made = []
    for word in words:
        many = next((name for name in each if f"{{{name}}}" in word), None)
        made += [_put(word, {**once, many: value}) for value in each[many]] if many else [_put(word, once)]
    return made


def _put(word: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), word)


def expect_there(who: str, words: Sequence[str]) -> None:
    """Raises SluiceError SLC-200 if there is no such program."""
    if shutil.which(words[0]) is None:
        raise _absent(_name_program(who, words), "there is no such file, or it may not be executed")


def pour(export: ProgramRun, imports: Sequence[ProgramRun], masked: Callable[[str], str]) -> list[SluiceError | None]:
    """Run them all, and give each import what the export writes.

    Returns:
        for each import what went wrong with it. One that fails does not stop the others (R8).

    Raises:
        SluiceError: the export failed: SLC-200, SLC-201. No import got the sign that it has everything.
    """
    with ExitStack() as stack:
        readers = [stack.enter_context(_RunningProgram(program, masked, reads=True)) for program in imports]
        if any(reader.listens for reader in readers):
            _pour(stack.enter_context(_RunningProgram(export, masked)), readers)
        return [reader.wait() for reader in readers]


def _pour(writer: _RunningProgram, readers: Sequence[_RunningProgram]) -> None:
    for buffer in _report_progress(writer.read_output()):
        for reader in readers:
            reader.read(buffer)
        if not any(reader.listens for reader in readers):
            return
    # An import that came to an end of its input would take what a broken export wrote for all of it.
    if wrong := writer.wait():
        raise wrong


def _report_progress(buffers: Iterator[bytes]) -> Iterator[bytes]:
    began = last = time.monotonic()
    count = 0
    for buffer in buffers:
        yield buffer
        count += len(buffer)
        if (now := time.monotonic()) - last > _LOOK_S:
            last = now
            event("progress", megabytes=count / 1e6, megabytes_per_s=count / 1e6 / (now - began))
    event("exported", megabytes=count / 1e6)


class _RunningProgram:
    """One program while it runs, and what is run before it; ended at the end of its block with all that it started."""

    def __init__(self, task: ProgramRun, masked: Callable[[str], str], *, reads: bool = False) -> None:
        self.listens = False
        self._task = task
        self._masked = masked
        self._reads = reads
        self._group: ProcessGroup | None = None
        self._wrong: SluiceError | None = None
        self._late = False
        self._expected = task.settings.expect is None
        self._last = ""
        self._timer = threading.Timer(task.settings.limit_s, self._expire)
        self._timer.daemon = True

    def __enter__(self) -> _RunningProgram:
        self._timer.start()
        try:
            if before := self._task.settings.before:
                self._start(before, reads=False, writes=False)
                self._wrong = self._failure({0})
            if self._wrong is None:
                self._start(self._task.words, reads=self._reads, writes=not self._reads)
        except SluiceError as error:
            self._wrong = error
        self.listens = self._reads and self._wrong is None
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._end()
        if self._group:
            self._group.reap()
            self._listener.join(_GRACE_S)
            for stream in filter(None, (self._child.stdin, self._child.stdout, self._child.stderr)):
                with suppress(OSError):
                    stream.close()

    def read_output(self) -> Iterator[bytes]:
        """The program's output; empty if it did not start."""
        output = self._child.stdout if self._group and self._wrong is None else None
        while output and (buffer := os.read(output.fileno(), _BUFFER_BYTES)):
            yield buffer

    def read(self, buffer: bytes) -> None:
        """Give it something to read, unless it has stopped to do so."""
        if self.listens and self._child.stdin:
            try:
                self._child.stdin.write(buffer)
            except OSError:
                self.listens = False

    def wait(self) -> SluiceError | None:
        """Wait for its end; what went wrong, or None."""
        if self._wrong:
            return self._wrong
        if self._child.stdin:
            with suppress(OSError):
                self._child.stdin.close()
        wrong = self._failure(self._task.settings.success)
        if wrong is None and not self._expected:
            return SluiceError(
                201,
                f"{self._name} did not say {self._task.settings.expect!r}",
                "what it said is in the log of this task; fix the program, or `expect` of it, then trigger "
                "initial_update again",
            )
        return wrong

    @property
    def _name(self) -> str:
        return _name_program(self._task.who, self._words)

    @property
    def _child(self) -> subprocess.Popen[bytes]:
        assert self._group
        return self._group.leader

    def _start(self, words: Sequence[str], *, reads: bool, writes: bool) -> None:
        self._words = words
        environment = {name: os.environ[name] for name in _OURS if name in os.environ} | {"LC_ALL": "C.UTF-8"}
        try:
            self._group = ProcessGroup(
                words,
                # A session that it has is ended by the next load; without us it must begin none after that.
                orphaned=signal.SIGKILL,
                stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if writes else subprocess.STDOUT,
                env=environment | dict(self._task.environment),
                cwd=self._task.directory,
            )
        except (OSError, ValueError) as error:
            raise _absent(self._name, self._masked(str(error))) from None
        output = self._child.stderr if writes else self._child.stdout
        self._listener = threading.Thread(target=self._listen, args=(output,), daemon=True)
        self._listener.start()

    def _failure(self, success: Collection[int]) -> SluiceError | None:
        assert self._group
        self._group.wait()
        self._group.signal(signal.SIGKILL)
        code = self._group.reap()
        self._listener.join(_GRACE_S)
        if self._late:
            return SluiceError(
                201,
                f"{self._name} had not ended after {self._task.settings.limit_s:g} s, and was ended",
                "what it said is in the log of this task; fix what it waits for, or raise `limit_s`, then trigger "
                "initial_update again",
            )
        if code in success:
            return None
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return SluiceError(
            201,
            f"{self._name} ended with {how}{f'; it said last: {self._last}' if self._last else ''}",
            "all that it said is in the log of this task; fix that, then trigger initial_update again",
        )

    def _listen(self, output: IO[bytes]) -> None:
        begins = True
        for line in iter(lambda: output.readline(_LINE_BYTES), b""):
            text = self._masked(line.decode(errors="replace")).strip()[:_TOLD] if begins else ""
            begins = line.endswith(b"\n")
            self._expected = self._expected or str(self._task.settings.expect) in text
            if text:
                self._last = text
                event("said", program=Path(self._words[0]).name, of=self._task.who, line=text)

    def _expire(self) -> None:
        self._late = True
        self._end()

    def _end(self) -> None:
        if self._group:
            self._group.end(_GRACE_S)


def _name_program(who: str, words: Sequence[str]) -> str:
    return f"the program {Path(words[0]).name} of {who}"


def _absent(called: str, why: str) -> SluiceError:
    return SluiceError(
        200,
        f"{called} cannot be started: {why}",
        "install it where this job runs, or name it by its whole path in `initial_program`",
    )
