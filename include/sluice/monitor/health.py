"""The findings of `./sluice check`, for pages: it looks in the background, at some things at a time, and keeps them.

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


class HealthState(StrEnum):
    """The state of a thing, the most important first."""

    WRONG = "wrong"
    SLOW = "no answer yet"
    UNSEEN = "not looked at yet"
    WELL = "well"


@dataclass(frozen=True)
class SubjectHealth:
    """Something that was looked at, or is to be.

    Attributes:
        fact: how it is.
        hint: what to do about it; empty if there is nothing to do.
        at: when it was found, or since when there is no answer.
    """

    subject: str
    state: HealthState
    fact: str = ""
    hint: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class HealthReport:
    """The health of everything, as far as it is known.

    Attributes:
        looked: what is wrong first.
        now: what is being looked at, in a round that is under way.
        left: the number of things which that round has not begun with.
        ended: the end of the last round; None if there was none.
        by: the machine and the process that looked; another worker of an API server has findings of its own.
    """

    looked: tuple[SubjectHealth, ...] = ()
    now: tuple[str, ...] = ()
    left: int = 0
    under_way: bool = False
    ended: datetime | None = None
    by: str = ""

    @property
    def counts(self) -> Mapping[HealthState, int]:
        """Count the things in each state."""
        return Counter(subject.state for subject in self.looked)


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
        self._found: dict[_Key, SubjectHealth] = {}
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
            todo = dict(_number(check.looks(context)))
            self._context, self._asked = context, time.monotonic()
            self._keys, self._left = tuple(todo), len(todo)
            self._found = {key: subject for key, subject in self._found.items() if key in todo}
            self._round = Thread(target=self._look, args=(todo,), daemon=True, name="health")
            self._round.start()
            return True

    def report(self) -> HealthReport:
        """The findings so far."""
        with self._lock:
            under_way = self._round is not None and self._round.is_alive()
            looked = [self._subject(key) for key in self._keys]
            order = list(HealthState)
            return HealthReport(
                tuple(sorted(looked, key=lambda subject: order.index(subject.state))),
                tuple(key[0] for key in self._at_work) if under_way else (),
                self._left if under_way else 0,
                under_way,
                self._ended,
                f"{socket.gethostname()}, process {os.getpid()}",
            )

    def _subject(self, key: _Key) -> SubjectHealth:
        """A look that has just begun hides no finding; one that takes long does."""
        since, subject = self._at_work.get(key), self._found.get(key)
        if since and (datetime.now(UTC) - since).total_seconds() > self._patience_s:
            fact = f"it has not answered for more than {self._patience_s:g} seconds, and is still waited for"
            hint = "look whether that server is well, and the way to it"
            return SubjectHealth(key[0], HealthState.SLOW, fact, hint, since)
        return subject or SubjectHealth(key[0], HealthState.UNSEEN)

    def _look(self, todo: Mapping[_Key, Look]) -> None:
        remaining = iter(todo.items())
        while batch := dict(islice(remaining, _AT_ONCE)):
            with self._lock:
                self._left -= len(batch)
            self._calls.results({key: partial(self._find, key, look) for key, look in batch.items()}, self._patience_s)
        with self._lock:
            self._ended = datetime.now(UTC)

    def _find(self, key: _Key, look: Look) -> None:
        with self._lock:
            self._at_work[key] = datetime.now(UTC)
        result = None
        try:
            result = _from_finding(look.look())
        finally:
            with self._lock:
                del self._at_work[key]
                if result:
                    self._found[key] = result


def _from_finding(finding: Finding) -> SubjectHealth:
    fact, _, hint = finding.text.partition("\nHINT: ")
    state = HealthState.WELL if finding.good else HealthState.WRONG
    return SubjectHealth(finding.subject, state, fact, hint, datetime.now(UTC))


def _number(looks: Iterable[Look]) -> Iterator[tuple[_Key, Look]]:
    """A slave that two sources feed is looked at for each of them."""
    seen: Counter[str] = Counter()
    for look in looks:
        yield (look.subject, seen[look.subject]), look
        seen[look.subject] += 1
