"""The rule `plugin`: code of the slave's owner says which side's row wins.

It is named by `repair_rule` of the table, as an entry point of the group `sluice.repair_rules` or as
``module:attribute``; that is called with the source's table. It is part of the configuration: a person who begins a
repair brings no code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sluice import extensions
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.row_difference import FIRST_KEYS
from sluice.repair.rules import Conflict, Winner

GROUP = "sluice.repair_rules"
# `missing`, `extra` or `changed`; the source's row and the slave's, None where there is none. The answer: who wins.
Asked = Callable[[str, Mapping[str, str | None] | None, Mapping[str, str | None] | None], str]
_ANSWERS = {str(winner): winner for winner in (Winner.SOURCE, Winner.SLAVE, Winner.LEAVE)}
_LAYOUTS = 100


@dataclass(frozen=True)
class UserRule:
    """Asks the code about one row after the other.

    Attributes:
        named: as the configuration names it.
    """

    table: TableName
    named: str
    ask: Asked

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """The winner of each. Raises SluiceError SLC-603, the code fails, does not end, or answers nonsense."""
        winners: list[Winner] = []
        try:
            extensions.call_in_time(lambda: winners.extend(map(self._winner, conflicts)))
        except TransientError:
            raise
        except Exception as error:
            # The code goes on by itself if it is late.
            at = conflicts[min(len(winners), len(conflicts) - 1)]
            # In one line, so that all of the key can be left out for who may not see it.
            key = " ".join(", ".join(at.key).split())
            raise SluiceError(
                603,
                f"the rule {self.named} failed on a row of {self.table} that is {at.kind}: "
                f"{type(error).__name__}: {error}{FIRST_KEYS}{key}",
                "rows that were repaired before are correct, and this one and others were left as they are; fix the "
                "code, and repair again",
            ) from error
        return winners

    def _winner(self, conflict: Conflict) -> Winner:
        # Copies: what the code does to them changes nothing.
        ours, theirs = (None if row is None else dict(row) for row in (conflict.ours, conflict.theirs))
        answer = self.ask(conflict.kind, ours, theirs)
        if not isinstance(answer, str) or answer not in _ANSWERS:
            raise ValueError(f"it answered a {type(answer).__name__} that is none of {', '.join(_ANSWERS)}")
        return _ANSWERS[answer]


def user_rule(layout: Layout, named: str | None) -> UserRule:
    """The rule that the configuration has for a table.

    Args:
        layout: of the source's table, as far as the slave gets it.

    Raises:
        SluiceError: SLC-627, there is none, or it cannot be used.
    """
    why = "its entry in the slave's `tables` has no `repair_rule`"
    if named is not None:
        try:
            return UserRule(layout.name, named, _load(named, layout))
        except extensions.UnusableExtension as error:
            why = f"{named}: {error}"
    raise SluiceError(
        627,
        f"the rule `plugin` cannot be used for {layout.name}: {why}",
        f"nothing was changed in it; name code of yours there, as an entry point of {GROUP} or as module:attribute, "
        "and install it where the jobs run; or choose another rule",
    )


@lru_cache(_LAYOUTS)
def _load(named: str, layout: Layout) -> Asked:
    rule = extensions.call_hook(GROUP, named, layout)
    if not callable(rule):
        raise extensions.UnusableExtension("what it makes cannot be called")
    return rule
