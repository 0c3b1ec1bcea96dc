"""MariaDB and MySQL as providers run them: an administrator without SUPER, and a log that is deleted at once (R2)."""

from __future__ import annotations

import pytest
from support.binlog import MASTERS
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.monitor.check import findings
from sluice.vendors.mariadb.capture.binlog import retention

pytestmark = [pytest.mark.full(but=["mariadb"]), pytest.mark.postgres, MASTERS]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v varchar(9));\nINSERT INTO t VALUES (1, 'é')"


def text_of(world):
    (text,) = [found.text for found in findings(world.context) if found.subject == f"source {SOURCE}"]
    return text


def test_all_is_done_without_super_once_the_log_is_kept(hours, administrator, binlog, master_server, monkeypatch):
    rights = str(master_server.execute("SHOW GRANTS"))
    assert not [right for right in ("SUPER", "SYSTEM_VARIABLES_ADMIN", "BINLOG ADMIN") if right in rights]
    lost = r"(?s)SLC-400.*`binlog retention hours` is NULL.*CALL mysql\.rds_set_configuration\('binlog retention hours'"
    with pytest.raises(SluiceError, match=lost):
        binlog(DDL, ["t"], slaves=("zurich",))
    master_server.execute("CALL mysql.rds_set_configuration('binlog retention hours', 72)")
    world, master = binlog(DDL, ["t"], into="mariadb", slaves=("geneva",))
    assert text_of(world) == "answers; DbResources installed; DDL is seen as it happens"
    master.execute("UPDATE t SET v = 'ü'", "ALTER TABLE t ADD n int", "INSERT INTO t VALUES (2, 'x', 7)")
    world.catch_up()
    assert world.verify() == {"geneva": 0}
    master_server.execute("CALL mysql.rds_set_configuration('binlog retention hours', 0)")
    with pytest.raises(SluiceError, match=r"SLC-400.*`binlog retention hours` is 0"):
        bootstrap(world.context, SOURCE)
    # An account that the script did not give that right, on a server that RDS runs.
    account = world.infos["master"].login
    master_server.execute(f"REVOKE EXECUTE ON PROCEDURE mysql.rds_show_configuration FROM {account}@'127.0.0.1'")
    assert "binlog retention" not in text_of(world)
    monkeypatch.setattr(retention, "_OF_RDS", "/")
    assert "how long it keeps its binary log: run the script of ./sluice grants" in text_of(world)
