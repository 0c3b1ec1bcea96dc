"""The net effect of a batch by keys of any width: computed a column at a time, equal to one change after the other."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from sluice.apply.net.net_effect import KeyedNet, net
from sluice.changelog.schema import CHANGES
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

Change = tuple[str, list[str] | None, list[str] | None]


def one_after_the_other(changes: list[Change], key: tuple[int, ...]) -> tuple[dict, set, bool]:
    """What becomes of each key, which keys are new, and whether the table was emptied."""
    last: dict[tuple[str, ...], tuple[int, bool]] = {}
    fresh: set[tuple[str, ...]] = set()
    emptied = False
    for place, (action, new, old) in enumerate(changes):
        before = tuple(old[part] for part in key) if old else None
        after = tuple(new[part] for part in key) if new else None
        if action == "T":
            last, fresh, emptied = {}, set(), True
        if before is not None and before != after:
            last[before] = (place, False)
        if after is not None:
            if before != after and after not in last:
                fresh.add(after)
            last[after] = (place, True)
    return last, fresh, emptied


def some_changes(dice: random.Random, width: int) -> list[Change]:
    def image() -> list[str]:
        return [dice.choice(["1", "2", "11", "", "x"]) for _ in range(width)]

    actions = [dice.choice("IUUDIUUDIUUDT") for _ in range(dice.randint(1, 14))]
    return [(action, image() if action in "IU" else None, image() if action in "UD" else None) for action in actions]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_column_at_a_time_equals_one_change_after_the_other(width: int) -> None:
    dice = random.Random(width)
    for _ in range(400):
        key = tuple(dice.sample(range(width), dice.randint(1, width)))
        changes = some_changes(dice, width)
        rows = [
            {"ordinal": number, "trans_key": "1", "repl_key": 1, "layout": 1, "action": a, "new": new, "old": old}
            for number, (a, new, old) in enumerate(changes, 1)
        ]
        layout = Layout(1, TableName("public", "t"), tuple(Column(str(n), "text") for n in range(width)), key)
        found = net(layout, pa.Table.from_pylist(rows, schema=CHANGES))
        last, fresh, emptied = one_after_the_other(changes, key)
        assert isinstance(found, KeyedNet)
        assert found.emptied == emptied
        assert set(found.gone) == {place for place, present in last.values() if not present}
        expected = {place for one, (place, present) in last.items() if present and (one in fresh or emptied)}
        assert set(found.fresh) == expected
        assert set(found.changed) == {place for place, present in last.values() if present} - expected
        gone = sum(1 for one, (_, present) in last.items() if not present and one not in fresh)
        assert found.known_gone == (0 if emptied else gone)
