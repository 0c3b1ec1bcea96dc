"""Jobs in processes of their own that have imported the product before they begin: that is most of what one costs.

One process has imported it for all of them, and each is a fork of that. This module is its program, too.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

JOBS = Path(__file__).resolve().parents[2] / "spark_jobs"
_AHEAD = ("psycopg", "pymysql", "sqlalchemy.dialects.postgresql.psycopg", "pyarrow.parquet", "alembic.command")


class ForkedJob(subprocess.Popen[str]):
    """One such process. Its parent is the one that was forked, which tells how it ends."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        super().__init__(command, env=env, text=True, **pipes)  # type: ignore[call-overload]

    def _execute_child(self, args: Any, *more: Any) -> None:
        env, out, error = more[5], more[12], more[14]
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(_address())
        request = json.dumps([args[1:], env, str(Path.cwd())]).encode()
        socket.send_fds(self._line, [len(request).to_bytes(8)], [out, error])
        self._line.sendall(request)
        self._answers = self._line.makefile("r")
        self.pid = int(self._answers.readline())
        self._child_created = True
        os.close(out)
        os.close(error)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags == os.WNOHANG and not select.select([self._line], [], [], 0)[0]:
            return 0, 0
        return self.pid, int(self._answers.readline())

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG) if self.returncode is None else (0, 0)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


@cache
def _address() -> str:
    """Where the process listens. It ends with the one that started it."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(JOBS.parent / "include"), "PYDANTIC_DISABLE_PLUGINS": "__all__"},
        text=True,
    )
    assert process.stdout
    _address.process = process  # type: ignore[attr-defined]
    return process.stdout.readline().strip()


def _serve() -> list[str]:
    """Fork for each request; in a fork, the words of its command."""
    listener = socket.socket(socket.AF_UNIX)
    # Linux makes up a name that is no file.
    listener.bind("")
    listener.listen(50)
    ended, tells = os.pipe()
    os.set_blocking(tells, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tells)
    print(listener.getsockname().decode(), flush=True)
    lines: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([sys.stdin, listener, ended], [], [])
        if sys.stdin in ready:
            os._exit(0)
        if ended in ready:
            os.read(ended, 1_000)
            while lines:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                with lines.pop(pid) as line:
                    line.sendall(f"{status}\n".encode())
        if listener in ready:
            line, _ = listener.accept()
            size, outputs, _, _ = socket.recv_fds(line, 8, 2)
            with line.makefile("rb") as request:
                words, env, folder = json.loads(request.read(int.from_bytes(size)))
            if pid := os.fork():
                line.sendall(f"{pid}\n".encode())
                lines[pid] = line
                for output in outputs:
                    os.close(output)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (listener, line, *lines.values()):
                one.close()
            _become(words, env, folder, outputs)
            return words


def _become(words: list[str], env: dict[str, str], folder: str, outputs: list[int]) -> None:
    """Be as a process is that was started so."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for place, output in enumerate(outputs, 1):
        os.dup2(output, place)
        os.close(output)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(folder)
    sys.argv = words
    sys.path[0] = str(Path(words[0]).parent)


def main() -> None:
    """Import what jobs do, and be each of them in a fork."""
    for name in _AHEAD:
        importlib.import_module(name)
    for file in sorted(JOBS.glob("*.py")):
        runpy.run_path(str(file), run_name="imported")
    gc.freeze()
    words = _serve()
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
