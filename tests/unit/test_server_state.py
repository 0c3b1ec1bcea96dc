"""Which server took the place of which, by what they say of themselves."""

from __future__ import annotations

import pytest

from sluice.vendors.postgresql.capture.server_state import ServerState
from sluice.vendors.protocol.sweep import SourceState


@pytest.mark.parametrize(
    ("now", "before", "succeeds"),
    [
        pytest.param("a:7:2", "a:7:1", True, id="promoted"),
        pytest.param("a:7:10", "a:7:9", True, id="timelines are numbers"),
        pytest.param("a:7:4", "a:7:1", True, id="promoted more than once"),
        pytest.param("a:7:1", "a:7:1", False, id="the same"),
        pytest.param("a:8:2", "a:7:1", False, id="another server"),
        pytest.param("b:7:2", "a:7:1", False, id="another installation"),
        pytest.param("a:7:2", "", False, id="nothing"),
        pytest.param("2", "1", False, id="no incarnations"),
        pytest.param("a:7:2", "a:7:x", False, id="no timeline"),
    ],
)
def test_a_server_of_a_later_timeline_succeeds_an_earlier_one(now, before, succeeds):
    assert ServerState(now, 1, "").succeeds(before) is succeeds
    assert ServerState(before, 1, "").is_succeeded_by(now) is succeeds
    assert not ServerState(before, 1, "").succeeds(now)
    assert not SourceState(now, 1, "").succeeds(before), "where a vendor cannot tell"
