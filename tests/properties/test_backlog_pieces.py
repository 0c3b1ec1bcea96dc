"""The pieces of the queue that a slice of a backlog is read in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sluice.vendors.postgresql.capture.queue.backlog import joined

BLOCKS = st.lists(st.integers(0, 60).map(lambda run: (16 * run, 16 * run + 16)), min_size=1)


def blocks(pieces):
    return {block for begin, end in pieces for block in range(begin, end)}


@given(BLOCKS, st.integers(1, 8))
def test_they_hold_every_block_and_are_in_order_and_apart_and_few(pieces, most):
    found = joined(pieces, most)
    assert blocks(found) >= blocks(pieces)
    assert len(found) <= most
    assert all(end < begin for (_, end), (begin, _) in pairwise(found))
    if len(joined(pieces, 1000)) <= most:
        assert blocks(found) == blocks(pieces)


def test_what_lies_closest_together_becomes_one():
    assert joined([(0, 16), (160, 176), (32, 48), (320, 336)], 2) == ((0, 176), (320, 336))
