"""The net effect of a batch: what becomes of each key, wherever the batch was cut."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

from sluice.apply.net import CountedNet, KeyedNet, net
from sluice.changelog.schema import CHANGES
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

NAME = TableName("public", "t")
COLUMNS = (Column("id", "integer"), Column("v", "text"))
KEYED = Layout(1, NAME, COLUMNS, key=(0,))
SHIFTED = Layout(1, NAME, COLUMNS, key=(0,), deferrable=True)
KEYLESS = Layout(1, NAME, COLUMNS)

Row = tuple[str | None, ...]


def insert(*new):
    return ("I", new, None)


def update(old, new):
    return ("U", new, old)


def delete(*old):
    return ("D", None, old)


TRUNCATE = ("T", None, None)


def changes(*transactions):
    """A batch of transactions, each a list of changes."""
    rows = [
        {"ordinal": ordinal, "trans_key": "1", "repl_key": 1, "layout": 1, "action": action, "new": new, "old": old}
        for ordinal, transaction in enumerate(transactions, 1)
        for action, new, old in transaction
    ]
    return pa.Table.from_pylist(rows, schema=CHANGES)


def applied(table: Counter[Row], layout: Layout, *transactions) -> Counter[Row]:
    """A slave's table after a batch, by what the net effect says alone."""
    batch = changes(*transactions)
    found = net(layout, batch)
    rows = Counter() if found.emptied else Counter(table)
    if isinstance(found, CountedNet):
        for image, a, b in found.effects:
            rows[tuple(image)] = max(rows[tuple(image)] + a, b)
        return +rows
    new, old = batch["new"].to_pylist(), batch["old"].to_pylist()
    images = [tuple(new[place]) for place in (*found.changed, *found.fresh)]
    touched = {old[place][0] for place in found.gone} | {image[0] for image in images}
    return Counter([row for row in rows.elements() if row[0] not in touched] + images)


def test_a_row_inserted_and_deleted_in_one_batch_is_gone_and_was_never_expected():
    found = net(KEYED, changes([insert("1", "a")], [delete("1", "a")]))
    assert (found.fresh, found.changed, len(found.gone), found.known_gone) == ([], [], 1, 0)


def test_the_last_image_of_a_key_wins_and_tells_new_rows_from_changed_ones():
    found = net(KEYED, changes([update(("1", "a"), ("1", "b")), insert("2", "x")], [update(("1", "b"), ("1", "c"))]))
    assert isinstance(found, KeyedNet)
    assert (found.changed, found.fresh, found.gone) == ([2], [1], [])


def test_an_update_of_a_key_frees_the_old_one_and_takes_the_new_one():
    assert applied(Counter([("1", "a")]), KEYED, [update(("1", "a"), ("2", "a"))]) == Counter([("2", "a")])


def test_a_truncate_forgets_what_came_before_it_and_keeps_what_comes_after():
    found = net(KEYED, changes([insert("1", "a"), TRUNCATE, insert("2", "b")]))
    assert (found.emptied, found.fresh, found.changed, found.gone) == (True, [2], [], [])


@pytest.mark.parametrize(
    "values",
    [pytest.param("abc", id="rows that differ"), pytest.param("aaa", id="rows that look alike but for their key")],
)
@pytest.mark.parametrize("step", [1, -1])
def test_every_key_moved_by_one_keeps_every_row(values, step):
    before = Counter((str(number), value) for number, value in enumerate(values, 1))
    moves = [update((str(number), value), (str(number + step), value)) for number, value in enumerate(values, 1)]
    after = Counter((str(number + step), value) for number, value in enumerate(values, 1))
    assert applied(before, SHIFTED, moves) == after
    assert applied(before, SHIFTED, moves[::-1]) == after


def test_keys_swapped_by_three_updates_in_one_transaction_end_where_they_should():
    before = Counter([("1", "a"), ("2", "b")])
    swap = [update(("1", "a"), ("2", "a")), update(("2", "b"), ("1", "b"))]
    assert applied(before, SHIFTED, swap) == Counter([("1", "b"), ("2", "a")])
    assert applied(before, SHIFTED, swap, [update(("2", "a"), ("3", "a"))]) == Counter([("1", "b"), ("3", "a")])


def test_rows_without_a_key_are_counted():
    before = Counter({("1", None): 3, ("1", "x"): 1})
    batch = [delete("1", None), delete("1", None), insert("1", "x")], [update(("1", "x"), ("2", "x"))]
    assert applied(before, KEYLESS, *batch) == Counter({("1", None): 1, ("1", "x"): 1, ("2", "x"): 1})


def test_a_delete_of_a_row_without_a_key_that_is_missing_does_nothing():
    assert applied(Counter(), KEYLESS, [delete("1", "a")], [insert("1", "a")]) == Counter([("1", "a")])


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
