"""Changes of a large transaction that wait for its end: those of tables whose keys are checked at commit.

Until then two of their rows may have one key, so what becomes of it is told by all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import are_commands
from sluice.model.layout import Layout


class Late:
    """What waits, while one batch after the other is prepared."""

    def __init__(self) -> None:
        self._held: list[pa.Table] = []

    def without(self, changes: pa.Table, layouts: Mapping[int, Layout], *, last: bool) -> pa.Table:
        """A batch, or a part of one, without those that wait; with those that need not any more, since it is the last
        part, or has a command, in front of which nothing may be left. Columns as in `CHANGES`."""
        if last and not self._held:
            return changes
        commands = np.flatnonzero(are_commands(changes["action"]).to_numpy())
        begin = int(commands[-1]) + 1 if len(commands) else 0
        ready = [*(self._given_away() if begin else ()), changes.slice(0, begin)]
        late = [number for number, one in layouts.items() if one.key and one.deferrable]
        behind = changes.slice(begin)
        waits = pc.is_in(behind["layout"], value_set=pa.array(late, pa.int64()))
        ready.append(behind.filter(pc.invert(waits)))
        self._held.append(behind.filter(waits))
        return pa.concat_tables([*ready, *(self._given_away() if last else ())])

    def _given_away(self) -> list[pa.Table]:
        held, self._held = self._held, []
        return held
