"""A slave's sequence never hands out what the master's did, and never goes back."""

from __future__ import annotations

import pytest

from sluice.model.names import TableName
from sluice.model.sequence import SequenceState, SequenceValue, next_value

HIGH = 2**63 - 1


def master(last, *, cycle=False):
    return SequenceValue(TableName("public", "t"), "id", TableName("public", "s"), last, cycle)


def slave(last, *, called=True, increment=1, low=1, high=HIGH):
    return SequenceState(last, called, increment, low, high)


@pytest.mark.parametrize(
    ("own", "theirs", "expected"),
    [
        pytest.param(slave(3), master(7), 7, id="behind"),
        pytest.param(slave(7), master(7), None, id="equal"),
        pytest.param(slave(9), master(7), None, id="ahead"),
        pytest.param(slave(1, called=False), master(1), 1, id="never called"),
        pytest.param(slave(1000, called=False), master(7), None, id="never called, and set far ahead"),
        pytest.param(slave(-1, increment=-1, low=-HIGH, high=-1), master(-5), -5, id="counts down, behind"),
        pytest.param(slave(-9, increment=-1, low=-HIGH, high=-1), master(-5), None, id="counts down, ahead"),
        pytest.param(slave(2, increment=2), master(5), 6, id="the other half of the numbers"),
        pytest.param(slave(3), master(-5), None, id="the other way round"),
        pytest.param(slave(3, high=100), master(500), 100, id="smaller than the master's"),
        pytest.param(slave(90, high=100), master(3, cycle=True), 3, id="begun again"),
        pytest.param(slave(3, high=100), master(3, cycle=True), None, id="a circle, equal"),
        pytest.param(slave(1, called=False), master(HIGH), HIGH, id="the largest"),
    ],
)
def test_the_slave_goes_as_far_as_it_must(own, theirs, expected):
    assert next_value(own, theirs) == expected


def test_the_manifest_keeps_a_value_as_it_is():
    assert SequenceValue.from_json(master(HIGH).to_json()) == master(HIGH)
