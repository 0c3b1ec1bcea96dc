"""Databases that cannot be asked for keys alike are refused by name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.protocol.compare import Comparison, GivenKeys, Side
from sluice.verify import ranges

VIEW = SimpleNamespace(master=SimpleNamespace(name=TableName("public", "t")))


@pytest.mark.parametrize(
    ("master", "slave"), [("mariadb", "postgresql"), ("postgresql", "mariadb"), ("gaussdb", "postgresql")]
)
def test_rows_changed_since_a_position_need_both_sides_of_one_kind(master, slave):
    sides = (Side(vendor, "c", "1") for vendor in (master, slave))
    job = Comparison("", "zurich", VIEW, *sides, only=GivenKeys(("id",), ()))
    with pytest.raises(SluiceError, match=r"SLC-622: .* on slave zurich: public\.t: "):
        ranges.cut([job], 4)
