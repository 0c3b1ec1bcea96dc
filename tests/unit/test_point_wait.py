"""Whether a slave is at a point of the stream, at which it can be compared (R10)."""

from __future__ import annotations

import pytest

from sluice.changelog.points import PointWait
from sluice.errors import TransientError
from sluice.model.names import Pair
from sluice.model.position import Position


def over(ordinal, part_way):
    return PointWait(Pair("flights", "zurich"), Position(2, 10), 60).has_arrived(ordinal, part_way=part_way)


@pytest.mark.parametrize(("ordinal", "part_way", "there"), [(9, False, False), (9, True, False), (10, False, True)])
def test_a_slave_is_there_when_it_has_all_up_to_the_point(ordinal, part_way, there):
    assert over(ordinal, part_way) is there


@pytest.mark.parametrize(("ordinal", "part_way"), [(10, True), (11, False)])
def test_a_slave_that_has_some_of_what_follows_is_beyond_the_point(ordinal, part_way):
    with pytest.raises(TransientError, match="SLC-092"):
        over(ordinal, part_way)
