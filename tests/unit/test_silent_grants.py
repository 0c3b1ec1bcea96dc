"""Only some kinds of databases let a role keep triggers from acting."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sluice.capture.grants import slave_grants
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError

# Slaves that are called after their vendors.
CONFIG = SimpleNamespace(
    replications=[], slave=lambda vendor: SimpleNamespace(vendor=vendor, connection="", schema_="S")
)
CONTEXT = SimpleNamespace(config=CONFIG, connection=lambda name: ConnectionInfo(name, "db1", None, "", "repl"))


@pytest.mark.parametrize("vendor", ["mariadb", "oracle"])
def test_where_no_role_keeps_triggers_from_acting_the_script_is_refused(vendor):
    assert "GRANT" in slave_grants(CONTEXT, vendor, silent=False)
    with pytest.raises(SluiceError, match=r"SLC-468: .*keep triggers"):
        slave_grants(CONTEXT, vendor, silent=True)


def test_elsewhere_the_right_comes_last():
    plain, silent = (slave_grants(CONTEXT, "postgresql", silent=one) for one in (False, True))
    assert silent.startswith(plain)
    assert "session_replication_role" in silent.removeprefix(plain)
