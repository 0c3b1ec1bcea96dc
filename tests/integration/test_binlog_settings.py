"""A MariaDB master whose log does not tell all that is needed, or whose account may not read it (SLC-443)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.binlog import MASTERS

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import Watch
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

FULL = [(f"binlog_row_{one}", "FULL", "MINIMAL") for one in ("image", "metadata")]


@MASTERS
def test_the_filters_of_a_log_are_where_they_are_looked_for(master_server):
    with closing(master_server.session()) as session, session.cursor() as cursor:
        cursor.execute(master_server.kind.log_status)
        assert [one[0].lower() for one in cursor.description[2:4]] == ["binlog_do_db", "binlog_ignore_db"]


def test_settings_and_rights_that_are_missing_are_named_with_what_to_type(binlog, maria_server):
    world, master = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], slaves=("zurich",), update=False)
    (text,) = [one.text for one in findings(world.context) if one.subject == "source flights"]
    assert text == "answers; DbResources installed; DDL is seen as it happens"
    for name, right, wrong in [("binlog_format", "ROW", "MIXED"), ("sync_binlog", "1", "0"), *FULL]:
        maria_server.execute(f"SET GLOBAL {name} = {wrong}")
        try:
            with (
                closing(world.context.source("flights")) as source,
                pytest.raises(SluiceError, match=f"(?s)SLC-443.*{name} is {wrong}.*SET GLOBAL {name} = "),
            ):
                source.capture.capabilities()
        finally:
            maria_server.execute(f"SET GLOBAL {name} = {right}")
    # It was another server's replica, and may be so again.
    maria_server.execute("SET GLOBAL gtid_slave_pos = '0-9-1'")
    try:
        told = r"(?s)SLC-443.*log_slave_updates is 0.*\[mysqld\] log_slave_updates = ON"
        with closing(world.context.source("flights")) as source:
            for asks in (source.capture.capabilities, source.capture.queued):
                with pytest.raises(SluiceError, match=told):
                    asks()
        with pytest.raises(SluiceError, match=told):
            world.publish()
    finally:
        maria_server.execute("SET GLOBAL gtid_slave_pos = ''")
    account = world.infos["master"].login
    # Without it the server shows no action of a foreign key.
    master.execute("CREATE TABLE c (id int PRIMARY KEY REFERENCES t (id) ON DELETE CASCADE)")
    maria_server.execute(f"REVOKE ALL PRIVILEGES ON `{master.name}`.* FROM {account}@'127.0.0.1'")
    maria_server.execute(f"GRANT SELECT ON {master.name}.* TO {account}@'127.0.0.1'")
    with (
        closing(world.context.source("flights")) as source,
        pytest.raises(SluiceError, match=r"(?s)SLC-536.*GRANT REFERENCES ON"),
    ):
        source.master.dumpable({TableName(master.name, "c"): Watch("IDU")})
    for right_name in ("REPLICATION SLAVE", "REPLICATION CLIENT"):
        maria_server.execute(f"REVOKE {right_name} ON *.* FROM {account}@'127.0.0.1'")
        with (
            closing(world.context.source("flights")) as source,
            pytest.raises(SluiceError, match=f"(?s)SLC-443.*GRANT {right_name} ON"),
        ):
            source.capture.capabilities()
        maria_server.execute(f"GRANT {right_name} ON *.* TO {account}@'127.0.0.1'")
    world.configure(lambda settings: settings["sources"]["flights"].update(capture="triggers"))
    with pytest.raises(SluiceError, match=r"SLC-461.*triggers do not see what foreign keys change"):
        world.context.source("flights")
