"""The net effect of a batch: what becomes of each key, wherever the batch was cut."""

from __future__ import annotations

from collections import Counter

import pytest
from support.netting import KEYED, KEYLESS, SHIFTED, TRUNCATE, applied, changes, delete, insert, update

from sluice.apply.net.net_effect import KeyedNet, net


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
