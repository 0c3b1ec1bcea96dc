"""The filter of a slave's changes: by action, by a condition, and by a veto.

The veto is code of the slave's owner. The filter sees the changes in the slave's view, one by one, before they are
netted, so the cuts between batches do not matter. It selects changes and not rows, so an initial update and a
comparison do not use it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice import extensions
from sluice.apply.transform.build import read_setting
from sluice.apply.transform.plugin import Row, call_extension, usable
from sluice.config.slave_table import SlaveTableSettings
from sluice.expressions import Condition, Fault, parse
from sluice.model.action import ROWS, Action
from sluice.model.layout import Layout

GROUP = "sluice.vetoes"
# True rejects a change: its action (I, U, D, or T for TRUNCATE), and the row after it and before it.
Veto = Callable[[str, Row | None, Row | None], bool]


@dataclass(frozen=True)
class ChangeFilter:
    """The filter for the changes of one layout, in the slave's view."""

    layout: Layout
    actions: frozenset[Action] = ROWS
    when: Condition | None = None
    veto: Veto | None = None
    called: str = ""

    def select(self, changes: pa.Table) -> pa.Table:
        """The changes that pass the filter. Columns as in `CHANGES`, in and out.

        Raises:
            SluiceError: SLC-162, the condition cannot be evaluated; the code fails or answers no yes or no.
        """
        if self.actions != ROWS:
            changes = changes.filter(pc.is_in(changes["action"], pa.array(sorted(self.actions), pa.string())))
        if self.when is not None:
            changes = changes.filter(self.when.holds(changes["new"], new=changes["new"], old=changes["old"]))
        if self.veto is None or not len(changes):
            return changes
        kept = call_extension(self.called, self.layout.name, len(changes), lambda: self._ask_veto(changes))
        return changes.filter(pa.array(kept, pa.bool_()))

    def _ask_veto(self, changes: pa.Table) -> list[bool]:
        assert self.veto is not None
        kept = []
        for action, new, old in zip(*(changes[name].to_pylist() for name in ("action", "new", "old")), strict=True):
            answer = self.veto(action, self._row(new), self._row(old))
            if not isinstance(answer, bool):
                raise TypeError(f"it answered {type(answer).__name__}, neither True nor False")
            kept.append(not answer)
        return kept

    def _row(self, texts: list[str | None] | None) -> Row | None:
        names = (column.name for column in self.layout.columns)
        return None if texts is None else dict(zip(names, texts, strict=True))


def choice(entry: SlaveTableSettings, layout: Layout) -> ChangeFilter:
    """The change filter that the configuration has for a table in the slave's view.

    Raises:
        ConfigError: SLC-161, the code cannot be used; SLC-007, the condition does not go with the table's columns.
    """

    def condition(text: str) -> Condition:
        expression = parse(text)
        if "row" in expression.images:
            raise Fault("a change has a row before and one after it: say `new.` or `old.` before each column")
        return expression.condition(layout.columns)

    def load_veto(named: str) -> Veto:
        loaded = extensions.call_hook(GROUP, named, layout)
        if not callable(loaded):
            raise extensions.UnusableExtension("what it makes cannot be called")
        return loaded

    actions = frozenset(Action(letter) for letter in "IUD" if letter in entry.actions)
    if Action.DELETE in actions:
        # As many deletes.
        actions |= {Action.TRUNCATE}
    when = None if entry.when is None else read_setting(layout.name, "when", lambda: condition(entry.when or ""))
    called = f"veto {entry.veto}"
    hint = f"install it where the jobs run, as an entry point of {GROUP} or as module:attribute"
    veto = None if entry.veto is None else usable(called, layout.name, lambda: load_veto(entry.veto or ""), hint)
    return ChangeFilter(layout, actions, when, veto, called)
