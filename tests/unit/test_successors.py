"""Which server goes on from another one after an upgrade."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.capture.successors import expect_continued, expect_copy, expect_newest
from sluice.errors import SluiceError
from sluice.model.server_identity import ServerIdentity
from sluice.vendors.postgresql.capture.server_state import ServerState

NOTED = ServerIdentity("a:7:3", 9, "hash", 5, "a", 1000, 70, "16401 (0,7) 990", "PostgreSQL 15")
NOW = replace(NOTED, incarnation="a:8:1", next_transaction=1030, last_key=80, version="PostgreSQL 18")


def test_a_server_with_all_that_the_old_one_had_goes_on():
    assert expect_continued("flights", NOTED, NOW, []) == NOW


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (None, "not installed on it"),
        (replace(NOW, installation="b"), "installed on it anew"),
        (replace(NOW, epoch=4), "of an earlier moment"),
        (replace(NOW, epoch=6), "a publisher was at work"),
        (replace(NOW, segment=8), "purged segment 8"),
        (replace(NOW, sha256="other"), "purged segment 9"),
        (replace(NOW, next_transaction=999), "set back to 999"),
        (replace(NOW, place="16401 (0,7) 1011"), "written there anew"),
        (replace(NOW, last_key=69), "set back to 69"),
    ],
)
def test_a_server_that_lacks_something_is_refused(now, said):
    with pytest.raises(SluiceError, match=f"SLC-962: .*{said}"):
        expect_continued("flights", NOTED, now, [])


def test_what_was_copied_is_dropped_from_a_logical_copy_alone():
    expect_copy("flights", NOTED, replace(NOW, place="16401 (0,1) 20"))
    for now in (NOTED, replace(NOTED, epoch=6), NOW):
        with pytest.raises(SluiceError, match=r"SLC-962: .*no logical copy"):
            expect_copy("flights", NOTED, now)
    for segment, sha256 in ((0, ""), (9, "hash")):
        expect_copy("flights", NOTED, replace(NOW, installation="b", segment=segment, sha256=sha256))
    with pytest.raises(SluiceError, match=r"SLC-962: .*another source"):
        expect_copy("flights", NOTED, replace(NOW, installation="b", segment=4, sha256="other"))


def test_a_server_that_was_replaced_is_refused_unless_the_log_goes_on_with_it_again():
    state = ServerState("a:7:3", 9, "hash")
    expect_newest("flights", state, "a:7:3", "a:7:3")
    with pytest.raises(SluiceError, match="SLC-552"):
        expect_newest("flights", state, "a:8:1", "a:7:3")
