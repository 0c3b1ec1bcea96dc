"""What waits for the end of a transaction is netted key by key from a file, and the end is that of the whole."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
from support.netting import KEYED, KEYLESS, SHIFTED, TRUNCATE, Row, applied, changes, delete, insert, update, written

from sluice.apply.net.net_effect import KeyedNet, net
from sluice.drain import spill
from sluice.drain.deferred_changes import DeferredChanges

LAYOUTS = pytest.mark.parametrize("layout", [KEYED, SHIFTED, KEYLESS], ids=["keyed", "deferrable", "keyless"])
START: Counter[Row] = Counter({(str(number), "a"): 1 for number in range(30)})


def transaction(chance: random.Random, layout) -> list:
    """Changes of which many move rows, and, where that is not checked at once, to a key that another has still."""
    rows, done = Counter(START), []
    while len(done) < 300 or (layout is SHIFTED and _doubled(rows)):
        new = (str(chance.randrange(40)), chance.choice(["a", "b", "c" * 50]))
        kind, there = chance.random(), sorted(rows.elements())
        if len(done) >= 300:
            # Which rows are to go is no matter, as long as each key has one in the end.
            old = next(row for row, other in pairwise(there) if row[0] == other[0])
            done.append(delete(*old))
        elif kind < 0.01:
            rows.clear()
            done.append(TRUNCATE)
            continue
        elif kind < 0.3 or not there:
            old = None
            done.append(insert(*new))
        else:
            old = chance.choice(there)
            done.append(delete(*old) if kind < 0.45 else update(old, new))
        after = rows + Counter([new] if done[-1][1] else []) - Counter([old] if old else [])
        if layout is KEYED and _doubled(after):
            done.pop()
        else:
            rows = after
    return done


def _doubled(rows: Counter[Row]) -> bool:
    return any(count > 1 for count in Counter(row[0] for row in rows.elements()).values())


def waited(layout, parts, most: int):
    """The effect of parts that wait, of so many bytes at a time."""
    waiting = DeferredChanges()
    for part in parts:
        waiting.add(part, {1: layout}, {1: most})
    ((effect,),) = waiting.runs()
    return effect


@LAYOUTS
@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(one, marks=pytest.mark.full) for one in range(5, 12))])
def test_the_net_effect_of_some_keys_at_a_time_is_that_of_the_whole(layout, seed, monkeypatch):
    monkeypatch.setattr(spill, "MOST_BYTES", 2_000)
    chance = random.Random(seed)
    done = transaction(chance, layout)
    damaged = Counter({**START, ("39", "unexpected"): 1})
    del damaged["0", "a"]
    whole = changes(done)
    for most in (100, 3_000, 1 << 30):
        effect = waited(layout, [whole.slice(begin, 70) for begin in range(0, len(whole), 70)], most)
        for before in (START, damaged):
            assert written(before, effect) == applied(before, layout, done)
        expected = net(layout, whole)
        assert effect.is_emptied == expected.emptied
        if isinstance(expected, KeyedNet) and not expected.emptied:
            found = [one for one, _ in effect.nets()]
            for name in ("gone", "changed", "fresh"):
                assert sum(len(getattr(one, name)) for one in found) == len(getattr(expected, name))
            assert sum(one.known_gone for one in found) == expected.known_gone


@LAYOUTS
def test_all_changes_are_there_in_their_order(layout, monkeypatch):
    monkeypatch.setattr(spill, "MOST_BYTES", 2_000)
    whole = changes(transaction(random.Random(1), layout))
    effect = waited(layout, [whole.slice(begin, 70) for begin in range(0, len(whole), 70)], 100)
    assert [row for some in effect.changes() for row in some.to_pylist()] == whole.to_pylist()


@pytest.mark.parametrize("layout", [KEYED, SHIFTED], ids=["keyed", "deferrable"])
def test_a_key_that_changes_all_the_time_takes_no_more_memory_than_others(layout):
    value = [str(number) * 10 for number in range(3_000)]
    moves = [update(("1", old), ("1", new)) for old, new in pairwise(value)]
    whole = changes([insert("2", "x"), *moves, update(("2", "x"), ("3", "x"))])
    effect = waited(layout, [whole.slice(begin, 100) for begin in range(0, len(whole), 100)], 5_000)
    nets = list(effect.nets())
    assert max(batch.nbytes for _, batch in nets) < whole.nbytes / 10
    before = Counter([("1", value[0])])
    assert written(before, effect) == Counter([("1", value[-1]), ("3", "x")])
