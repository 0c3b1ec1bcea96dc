"""The script that ends the leftovers of a source."""

from __future__ import annotations

from sluice.commands.leftovers import LeftoverPlace, as_script
from sluice.model.leftover import Leftover


def test_no_name_ends_a_comment():
    odd = "x\nDROP TABLE t; --\u2028y"
    script = as_script([LeftoverPlace(odd, [Leftover(odd, "REVOKE x")]), LeftoverPlace("a", note=odd, is_shell=True)])
    assert [line[:2] for line in script.splitlines()] == ["--", "--", "RE", "# "]
