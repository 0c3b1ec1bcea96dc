"""Errors for operators: a stable code, the fact with its values, and a HINT that says what to type next.

Whether an error is worth a retry is a type: `TransientError` is, everything else stops one slave (R8).
"""

from __future__ import annotations

import os
import re

from sluice.outside_text import shorten, visible

# What hints of transient errors say; where nothing does so, `sluice.hints` says what to type instead.
AGAIN = "the run tries again by itself"

# If this is set, errors say values of rows, too.
VALUES_ENV = "SLUICE_LOG_VALUES"
_MOST_OF_A_VALUE = 40
# A line of its own, such as a HINT.
_LINE = re.compile(r"\n(?=\S)")
# The password of a URL or of a text of libpq, which somebody may have typed into another field. A port is none.
_PASSWORD = re.compile(
    r"(?<=://)([^\s:@/]{0,99}:)(?!\d+/)\S{0,999}(?=@)|(\bpassword\s*=\s*)(?:'(?:\\.|[^'\\])*'|\S+)", re.IGNORECASE
)


class SluiceError(Exception):
    """A terminal error: trying again without a change will fail again.

    Args:
        code: number of the error, stable across versions, shown as ``SLC-041``.
        fact: what happened, with the values that matter; never a password.
        hint: the next command to type, or what is safe to do.
    """

    def __init__(self, code: int, fact: str, hint: str) -> None:
        super().__init__()
        self.code = code
        self.fact = fact
        self.hint = hint

    @property
    def fact(self) -> str:
        """The fact."""
        return self._fact

    @fact.setter
    def fact(self, text: str) -> None:
        self._fact = sanitize(text)
        self.args = (self._fact,)

    @property
    def hint(self) -> str:
        """The next command to type, or what is safe to do."""
        return self._hint

    @hint.setter
    def hint(self, text: str) -> None:
        self._hint = sanitize(text)

    @property
    def message(self) -> str:
        """The code and the fact, without the HINT."""
        return f"SLC-{self.code:03d}: {self.fact}"

    def __str__(self) -> str:
        return f"{self.message}\nHINT: {self.hint}"

    def __reduce__(self) -> tuple[type[SluiceError], tuple[int, str, str]]:
        return type(self), (self.code, self.fact, self.hint)


def sanitize(text: str) -> str:
    """A text without what could pass for a line of its own, such as a HINT, and without the password of an address; the
    same if it is given its result.

    Names of tables and files are other people's: an error says them, but they cannot speak in its place.
    """
    return _PASSWORD.sub(r"\1\2***", shorten(_LINE.sub("\n  ", visible(text))))


def shown_value(text: str) -> str:
    """A row's value as an error says it, which people read who may not read rows: dots, or its beginning if asked."""
    return repr(text[:_MOST_OF_A_VALUE]) if os.environ.get(VALUES_ENV) else "'...'"


class TransientError(SluiceError):
    """A retry may succeed: a lost connection, a lock timeout, a serialization failure."""


class PasswordExpired(TransientError):
    """A password is to be fetched again, or cannot be fetched now: the next try of a task has another one."""


class Refused(SluiceError):
    """A person may not do that, or did not ask for it."""


class Unanswered(SluiceError):
    """A connection failed when it was tried, and was not stored."""


class Unrepairable(SluiceError):
    """Rows of one table cannot be repaired one by one; those of others can."""


class RowsDiffer(SluiceError):
    """A comparison found rows of slaves that are not the master's.

    Attributes:
        report: the number of the comparison.
    """

    report = 0


class NotByKeys(SluiceError):
    """Rows of a table cannot be found by their keys on both sides."""


class FencedError(TransientError):
    """Somebody else holds a newer lease on what we were writing (R6); this process ends, the next one looks again."""

    def __init__(self, code: int, fact: str, hint: str = "") -> None:
        nothing = (
            "nothing is lost, and nothing is to be typed: the other goes on. If there is no other, see the runbook"
        )
        super().__init__(code, fact, hint or nothing)


class LeaseTaken(TransientError):
    """Another run is at work on the same."""


class WorkLost(TransientError):
    """Spark lost work that it is not to begin twice: it may have been done, or not."""


class LockTimeout(TransientError):
    """Somebody else's lock is in the way."""


class AlteredMeanwhile(TransientError):
    """A table was altered between two looks at it; a third one tells (R7)."""


class SortedOtherwise(TransientError):
    """A key is not sorted any more as it was when a comparison cut its table into ranges."""


class RolledBack(TransientError):
    """A transaction did not happen, for a reason that passes."""


class UnclassifiedError(SluiceError):
    """A database reports an error of a kind that has no code of ours: what it means depends on what was done."""


class CommandRefused(SluiceError):
    """A command of the master cannot be carried out on a slave."""


class LogTrimmed(SluiceError):
    """The change log begins later than a slave's stream goes on: the slave has to be filled anew."""


class LogBehind(SluiceError):
    """The change log ends before a slave's position, since it was restored; filling the slave alone does not help."""


class Unready(SluiceError):
    """A batch fails on its own; together with what follows in the log it may not."""


class TooSlow(SluiceError):
    """A statement writes changes of one table for too long; to try fewer of them takes as long again.

    Attributes:
        table: the slave's; None if that is not known.
    """

    table: object = None


class KeyConflict(Unready):
    """A row of the slave bears a key that a batch needs; perhaps a later transaction frees it (R1)."""


class UnfitTable(Unready):
    """A table of the slave does not take a batch's rows; perhaps a later command alters it (R7)."""


class UnreadableTable(SluiceError):
    """Queued changes of one table cannot be read. All other tables can go on."""


class Unwatchable(SluiceError):
    """A table of the source cannot be watched as it is now; others can."""


class Lossy(SluiceError):
    """A slave's columns would lose something.

    Attributes:
        allowable: whether people can allow all of it.
    """

    allowable = False


class ConfigError(SluiceError):
    """The configuration, or what it names, is not usable as written."""


class UnknownName(ConfigError):
    """The configuration has nothing of that name."""


class StrangeSource(ConfigError):
    """The DbResources of a source are not the ones that this control store has published up to now."""


def names(fact: str, table: object) -> bool:
    """Whether a fact says the whole name of a table."""
    return bool(re.search(rf"(?<![\w.]){re.escape(str(table))}(?![\w.]*\w)", fact))
