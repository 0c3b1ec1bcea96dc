"""The scripts of grants for MariaDB name one database each, whatever signs are in its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.vendors.mariadb.grants import for_slave

INFO = ConnectionInfo("mysql", "db", 3306, "", "o'neil")


def test_signs_that_stand_for_others_and_quotes_are_escaped_twice():
    script = for_slave(INFO, "s`x", {"a_b%"}, [TableName("a_b%", "t")])
    assert r"QUOTE('o\'neil')" in script
    assert "CREATE DATABASE IF NOT EXISTS `s``x`" in script
    (given,) = [line for line in script.splitlines() if "TEMPORARY" in line]
    assert r"ON `a\\_b\\%`.* TO ', @account)" in given
    # Without a name they would go to everybody.
    with pytest.raises(ConfigError, match=r"SLC-014: .*has no login"):
        for_slave(replace(INFO, login=""), "s", set(), [])
