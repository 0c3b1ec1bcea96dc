"""What `./sluice check` finds, for pages: it is looked for in the background, some things at a time, and kept.

A look that takes long gives its place to the next one after some seconds; its finding comes when it comes.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import islice
from threading import Lock, Thread

from sluice.bounded_calls import BoundedCalls
from sluice.context import Context
from sluice.monitor import check
from sluice.monitor.check import Finding, Look

# So old a result may be when somebody opens the page.
OLD_S = 600.0
# So long others wait for a look that takes its time.
PATIENCE_S = 20.0
# So many things are looked at side by side.
_AT_ONCE = 4


class State(StrEnum):
    """How something is, in the order in which it matters."""

    WRONG = "wrong"
    SLOW = "no answer yet"
    UNSEEN = "not looked at yet"
    WELL = "well"


@dataclass(frozen=True)
class Looked:
    """Something that was looked at, or is to be.

    Attributes:
        fact: how it is.
        hint: what to do about it; empty if there is nothing to do.
        at: when it was found, or since when there is no answer.
    """

    subject: str
    state: State
    fact: str = ""
    hint: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class Report:
    """The health of everything, as far as it is known.

    Attributes:
        looked: what is wrong first.
        now: what is being looked at, in a round that is under way.
        left: the number of things which that round has not begun with.
        ended: the end of the last round; None if there was none.
        by: the machine and the process that looked; another worker of an API server has findings of its own.
    """

    looked: tuple[Looked, ...] = ()
    now: tuple[str, ...] = ()
    left: int = 0
    under_way: bool = False
    ended: datetime | None = None
    by: str = ""

    @property
    def counts(self) -> Mapping[State, int]:
        """How many things are in each state."""
        return Counter(one.state for one in self.looked)


# The subject, and which one it is of those with the same name.
_Key = tuple[str, int]


class Health:
    """The findings of this process. Without a visitor there are none.

    Args:
        patience_s: how long a look may keep others waiting.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._lock = Lock()
        self._patience_s = patience_s
        self._context: Context | None = None
        self._round: Thread | None = None
        self._asked = float("-inf")
        self._ended: datetime | None = None
        # In the order of `check`.
        self._keys: tuple[_Key, ...] = ()
        self._left = 0
        self._found: dict[_Key, Looked] = {}
        self._calls = BoundedCalls[_Key](_AT_ONCE)
        # Since when each look is at work; also those of earlier rounds that have no answer yet.
        self._at_work: dict[_Key, datetime] = {}

    def look(self, context: Context) -> None:
        """Begin a round if there is no result yet, it is old, or it is of another configuration."""
        if context is not self._context or time.monotonic() - self._asked > OLD_S:
            self.again(context)

    def again(self, context: Context) -> bool:
        """Begin a round, unless one is under way; whether it was begun."""
        with self._lock:
            if self._round and self._round.is_alive():
                return False
            todo = dict(_numbered(check.looks(context)))
            self._context, self._asked = context, time.monotonic()
            self._keys, self._left = tuple(todo), len(todo)
            self._found = {key: one for key, one in self._found.items() if key in todo}
            self._round = Thread(target=self._look, args=(todo,), daemon=True, name="health")
            self._round.start()
            return True

    def report(self) -> Report:
        """What is known now."""
        with self._lock:
            under_way = self._round is not None and self._round.is_alive()
            looked = [self._one(key) for key in self._keys]
            order = list(State)
            return Report(
                tuple(sorted(looked, key=lambda one: order.index(one.state))),
                tuple(key[0] for key in self._at_work) if under_way else (),
                self._left if under_way else 0,
                under_way,
                self._ended,
                f"{socket.gethostname()}, process {os.getpid()}",
            )

    def _one(self, key: _Key) -> Looked:
        """A look that has just begun hides no finding; one that takes long does."""
        since, found = self._at_work.get(key), self._found.get(key)
        if since and (datetime.now(UTC) - since).total_seconds() > self._patience_s:
            fact = f"it has not answered for more than {self._patience_s:g} seconds, and is still waited for"
            return Looked(key[0], State.SLOW, fact, "look whether that server is well, and the way to it", since)
        return found or Looked(key[0], State.UNSEEN)

    def _look(self, todo: Mapping[_Key, Look]) -> None:
        left = iter(todo.items())
        while some := dict(islice(left, _AT_ONCE)):
            with self._lock:
                self._left -= len(some)
            self._calls.results({key: partial(self._find, key, look) for key, look in some.items()}, self._patience_s)
        with self._lock:
            self._ended = datetime.now(UTC)

    def _find(self, key: _Key, look: Look) -> None:
        with self._lock:
            self._at_work[key] = datetime.now(UTC)
        found = None
        try:
            found = _looked(look.finding())
        finally:
            with self._lock:
                del self._at_work[key]
                if found:
                    self._found[key] = found


def _looked(finding: Finding) -> Looked:
    fact, _, hint = finding.text.partition("\nHINT: ")
    return Looked(finding.subject, State.WELL if finding.good else State.WRONG, fact, hint, datetime.now(UTC))


def _numbered(looks: Iterable[Look]) -> Iterator[tuple[_Key, Look]]:
    """A slave that two sources feed is looked at for each of them."""
    seen: Counter[str] = Counter()
    for look in looks:
        yield (look.subject, seen[look.subject]), look
        seen[look.subject] += 1
