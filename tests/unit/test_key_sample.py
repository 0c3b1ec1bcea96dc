"""A sample of keys has about its share of them, each key with the same chance, and the same keys on both sides."""

from __future__ import annotations

import pytest

from sluice.model.key_sample import PARTS, KeySample

KEYS = [str(number).encode() for number in range(20_000)]


def taken(sample: KeySample) -> set[bytes]:
    return {key for key in KEYS if sample.takes(key)}


@pytest.mark.parametrize("percent", [0.5, 5, 50])
def test_it_has_about_its_share(percent):
    # Six standard deviations: less than one seed in 500 million is outside.
    expected, spread = len(KEYS) * percent / 100, 6 * (len(KEYS) * percent / 100 * (1 - percent / 100)) ** 0.5
    assert abs(len(taken(KeySample.draw(percent))) - expected) < spread


def test_each_one_has_keys_of_its_own_which_are_always_the_same():
    one, other = KeySample.draw(50), KeySample.draw(50)
    assert taken(one) == taken(KeySample(one.parts, one.seed))
    # Independent of each other: a quarter of all keys is in both.
    assert abs(len(taken(one) & taken(other)) - len(KEYS) / 4) < 6 * (len(KEYS) * 3 / 16) ** 0.5


def test_all_keys_are_in_a_whole_one_and_a_share_that_is_next_to_nothing_has_a_part():
    assert taken(KeySample.draw(100)) == taken(KeySample()) == set(KEYS)
    assert (KeySample.draw(100).whole, KeySample.draw(99.9999999).whole) == (True, False)
    assert KeySample.draw(1e-12).parts == 1
    assert KeySample(PARTS // 20).percent == 5
