"""A separate process that runs a stylesheet, since that is a program of others.

Both ends of the pipe are here. The process gets documents and gives documents back, a line of JSON for many. It can
open no file and no connection (it may have no more descriptors than the three that it begins with), gets only so much
memory, and ends by an alarm that no loop can put off. What it answers is read as any message is.
"""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import sluice
from sluice import extensions
from sluice.apply.transform.stylesheet_check import unrepeatable

# Of which the interpreter and its libraries take a tenth.
_MOST_MEMORY = 1 << 30
# So many characters go into the process at a time.
_PIECE = 4_000_000
_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from sluice.apply.transform.xslt_process import serve; serve(int(sys.argv[2]))"
)


class Sandbox:
    """One stylesheet's process, started when it is needed, and again after it ended."""

    def __init__(self, sheet: bytes) -> None:
        self._sheet = sheet
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def transform(self, documents: Sequence[str]) -> Iterator[str]:
        """Transform each document; the result is empty if the stylesheet outputs nothing.

        Raises:
            ValueError: it is no stylesheet, wants a file, or fails for one of them.
            TimeoutError: it does not come to an end.
            MemoryError: it wants too much memory, or breaks what runs it.
        """
        begin = size = 0
        for index, document in enumerate(documents, 1):
            size += len(document)
            if size >= _PIECE or index == len(documents):
                with self._lock:
                    answers = self._ask(documents[begin:index])
                yield from answers
                begin, size = index, 0

    def _ask(self, documents: Sequence[str]) -> list[str]:
        if self._process is None:
            process = _start()
            try:
                _answer(process, base64.b64encode(self._sheet).decode())
            except Exception:
                process.communicate()
                raise
            self._process = process
        try:
            return _answer(self._process, documents)
        finally:
            if self._process.poll() is not None:
                self._process = None


@lru_cache(maxsize=8)
def sandbox(sheet: bytes) -> Sandbox:
    """The process of a stylesheet, the same one for all tables."""
    return Sandbox(sheet)


def _start() -> subprocess.Popen[bytes]:
    ours = str(Path(sluice.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", _BEGIN, ours, str(_MOST_MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _answer(process: subprocess.Popen[bytes], request: object) -> list[str]:
    assert process.stdin
    assert process.stdout
    answer = b""
    try:
        process.stdin.write(json.dumps([extensions.PATIENCE_S, request]).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        pass
    if not answer.endswith(b"\n"):
        if process.wait() == -signal.SIGALRM:
            raise TimeoutError(f"no answer for {extensions.PATIENCE_S:g} s")
        raise MemoryError(f"its process is gone; it may have {_MOST_MEMORY >> 20} MB of memory")
    content = json.loads(answer)
    if isinstance(content, str):
        raise ValueError(content)
    return list(content)


def serve(most_memory: int) -> None:
    """Run in the process: read a stylesheet, then documents, line by line. Answer with a list, or with the fault."""
    import resource

    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
    # The process that started this one may ignore the signal, and this one would inherit that.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    transform: Callable[[Any], Any] | None = None
    for line in sys.stdin.buffer:
        patience, request = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, patience)
        answer: object = []
        try:
            if transform is None:
                sheet = etree.fromstring(base64.b64decode(request), parser)
                if calls := unrepeatable(sheet):
                    answer = f"it calls {', '.join(calls)}: what is made of a row has to be the same each time"
                else:
                    transform = etree.XSLT(sheet, access_control=etree.XSLTAccessControl.DENY_ALL)
            else:
                roots = [transform(etree.fromstring(document.encode(), parser)).getroot() for document in request]
                answer = ["" if root is None else etree.tostring(root, encoding="unicode") for root in roots]
        except etree.LxmlError as error:
            messages = dict.fromkeys([str(error), *(entry.message for entry in error.error_log)])
            answer = f"{type(error).__name__}: {'; '.join(list(messages)[:4])}"
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
