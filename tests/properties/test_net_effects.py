"""Net effects of generated histories: they depend on no cut, and on no old image that tells nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from support.netting import KEYED, KEYLESS, SHIFTED, Row, applied, changes, delete, insert, update

from sluice.apply.net.net_effect import net
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

PAIRED = Layout(1, TableName("public", "t"), tuple(Column(name, "text") for name in "abv"), key=(0, 1))


@pytest.mark.parametrize("layout", [KEYED, SHIFTED, KEYLESS], ids=["keyed", "deferrable", "keyless"])
@pytest.mark.parametrize("seed", range(40))
def test_the_result_does_not_depend_on_where_the_log_is_cut(layout, seed):
    chance = random.Random(seed)
    master: Counter[Row] = Counter({(str(number), "a"): 1 for number in range(4)})
    start, transactions = Counter(master), []
    for _ in range(12):
        master, done = _transaction(chance, layout, master)
        transactions.append(done)
    damaged = Counter({**start, ("9", "unexpected"): 1})
    del damaged["0", "a"]
    for before, expected in ((start, master), (damaged, None)):
        whole = applied(before, layout, *transactions)
        assert expected is None or whole == expected
        for _ in range(5):
            cuts = sorted(chance.sample(range(1, len(transactions)), 3))
            rows = before
            for begin, end in zip([0, *cuts], [*cuts, len(transactions)], strict=True):
                rows = applied(rows, layout, *transactions[begin:end])
            assert rows == whole


def _transaction(chance: random.Random, layout: Layout, master: Counter[Row]) -> tuple[Counter[Row], list]:
    """A random transaction that the layout's constraints allow, and the table after it."""
    while True:
        rows, done = Counter(master), []
        for _ in range(chance.randrange(1, 6)):
            new = (str(chance.randrange(6)), chance.choice(["a", "b", None]))
            kind = chance.random()
            if kind < 0.4 or not rows:
                done.append(insert(*new))
            else:
                old = chance.choice(sorted(rows.elements(), key=str))
                rows -= Counter([old])
                done.append(delete(*old) if kind < 0.6 else update(old, new))
            if done[-1][1]:
                rows += Counter([new])
            if layout is KEYED and _doubled(rows):
                break
        if not (layout.key and _doubled(rows)):
            return rows, done


def _doubled(rows: Counter[Row]) -> bool:
    return any(count > 1 for count in Counter(row[0] for row in rows.elements()).values())


def history(chance: random.Random):
    """Changes of a few keys that follow from each other, with all of their old images."""
    rows: dict[tuple[str, str], list[str]] = {}
    for _ in range(60):
        key = (str(chance.randrange(3)), str(chance.randrange(3)))
        new = [*key, str(chance.random())]
        if key not in rows:
            moved = chance.choice([None, *rows])
            old = rows.pop(moved) if moved else None
            yield ("U" if old else "I"), new, old
            rows[key] = new
        elif chance.random() < 0.3:
            yield "D", None, rows.pop(key)
        else:
            yield "U", new, rows[key]
            rows[key] = new


@pytest.mark.parametrize("seed", range(25))
def test_the_net_effect_is_the_same_without_old_images_of_updates_that_left_the_key(seed):
    whole = [[change] for change in history(random.Random(seed))]
    less = [[(action, new, None if action == "U" and new[:2] == old[:2] else old)] for ((action, new, old),) in whole]
    assert less != whole
    for begin in range(0, len(whole), 7):
        assert net(PAIRED, changes(*less[begin : begin + 7])) == net(PAIRED, changes(*whole[begin : begin + 7]))
