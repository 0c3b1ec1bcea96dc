"""A place in the change log is read as people write it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sluice.model.log_place import LogPlace
from sluice.model.position import Position

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("41/8", LogPlace(position=Position(41, 8))),
        (" 42\n", LogPlace(segment=42)),
        ("20260131", LogPlace(segment=20260131)),
        ("2026-01-31T12:00Z", LogPlace(at=NOON)),
        ("2026-01-31 12:00", LogPlace(at=NOON)),
        ("2026-01-31T13:00:00+01:00", LogPlace(at=NOON)),
    ],
)
def test_it_is_a_position_a_segment_or_a_time(text, place):
    assert LogPlace.parse(text) == place


@pytest.mark.parametrize("text", ["", "yesterday", "41/", "/8", "-1", "41/8/9", "12:00", "2026-02-31", "٤", "9" * 19])
def test_no_other_text_is_one(text):
    with pytest.raises(ValueError, match="no position"):
        LogPlace.parse(text)
