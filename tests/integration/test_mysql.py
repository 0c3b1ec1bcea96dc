"""A MySQL server is a slave, and none that would make other tables than were meant (R7)."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pymysql
import pytest

from sluice.errors import SluiceError
from sluice.vendors.mariadb.grants import for_slave
from sluice.vendors.mariadb.session import connect, execute

pytestmark = [pytest.mark.postgres]


@pytest.mark.full
def test_a_server_that_demands_a_key_or_adds_one_is_refused(mysql_server):
    info = mysql_server.create_account()
    for name in ("sql_require_primary_key", "sql_generate_invisible_primary_key"):
        mysql_server.execute(f"SET GLOBAL {name} = 1")
        with pytest.raises(SluiceError, match=rf"(?s)SLC-400: .* has {name} on.*SET PERSIST {name} = 0"):
            connect(info, "test")
        account = f"{info.login}@'127.0.0.1'"
        mysql_server.execute(f"GRANT SESSION_VARIABLES_ADMIN ON *.* TO {account}")
        with closing(connect(info, "test")) as session:
            assert execute(session, f"SELECT @@SESSION.{name}") == [("0",)]
        mysql_server.execute(f"REVOKE SESSION_VARIABLES_ADMIN ON *.* FROM {account}")
        mysql_server.execute(f"SET GLOBAL {name} = 0")
    connect(info, "test").close()


@pytest.mark.full
@pytest.mark.parametrize("mode", ["disable", "prefer", "require"])
def test_a_password_is_taken_with_tls_and_without(mysql_server, mode):
    info = replace(mysql_server.create_account(), extra={"sslmode": mode})
    with closing(connect(info, "test")) as session:
        ((_, cipher),) = execute(session, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    assert bool(cipher) == (mode != "disable")


@pytest.mark.full
def test_grants_to_an_account_that_is_not_there_make_none(mysql_server):
    info = replace(mysql_server.create_account(), login="nobody")
    with pytest.raises(AssertionError, match="not allowed to create a user with GRANT"):
        mysql_server.run(for_slave(info, info.database, [], []))
    assert not mysql_server.execute("SELECT host FROM mysql.user WHERE user = 'nobody'")


@pytest.mark.parametrize("slave_server", ["mysql_server"], indirect=True)
def test_commits_are_kept_by_the_log_and_tables_by_a_transaction(maria, slave_server):
    world = maria("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], slaves=("zurich",))
    database = world.infos["zurich"].database
    slave_server.execute("SET GLOBAL sync_binlog = 0")
    with pytest.raises(SluiceError, match=r"SLC-400.*sync_binlog = 0"):
        world.drainer()
    slave_server.execute("SET GLOBAL sync_binlog = 1")
    # As a batch looks at a table: from there on nobody alters it.
    with closing(connect(world.infos["zurich"], "test")) as session, closing(slave_server.session()) as other:
        session.begin()
        execute(session, f"SELECT 1 FROM {database}.t LIMIT 0")
        other.cursor().execute("SET SESSION lock_wait_timeout = 1")
        with pytest.raises(pymysql.err.OperationalError, match="1205"):
            other.cursor().execute(f"ALTER TABLE {database}.t ADD c int")
