"""Administrators as a provider of MariaDB and MySQL gives them: they make accounts, and lack every right on the server.

Source: Amazon RDS User Guide, "Master user account privileges", "mysql.rds_set_configuration".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pymysql
import pytest
from pymysql.constants import CLIENT
from support.mariadb import MariaServer

from sluice.vendors.mariadb.server import MYSQL

_RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, REFERENCES, INDEX, ALTER, SHOW DATABASES, "
    "CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, REPLICATION SLAVE, REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, "
    "CREATE ROUTINE, ALTER ROUTINE, CREATE USER, EVENT, TRIGGER"
)
_OF_MYSQL = ", CREATE ROLE, DROP ROLE, APPLICATION_PASSWORD_ADMIN, ROLE_ADMIN, XA_RECOVER_ADMIN"
_HOURS = "binlog retention hours"
_MADE = (
    "CREATE TABLE mysql.rds_configuration (name varchar(99) PRIMARY KEY, value varchar(99), description varchar(300))",
    f"INSERT INTO mysql.rds_configuration VALUES ('{_HOURS}', NULL, 'the duration in hours before binary logs are "
    "automatically deleted')",
    "CREATE PROCEDURE mysql.rds_show_configuration() SELECT name, value, description FROM mysql.rds_configuration",
    "CREATE PROCEDURE mysql.rds_set_configuration(which varchar(100), what int) "
    "UPDATE mysql.rds_configuration SET value = what WHERE name = which",
)
_DROPPED = (
    "DROP PROCEDURE mysql.rds_set_configuration",
    "DROP PROCEDURE mysql.rds_show_configuration",
    "DROP TABLE mysql.rds_configuration",
)


@pytest.fixture
def administrator(master_server: MariaServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of such an account, as which the server of the test is used from here on."""
    name, password = "provided", "secret-provided"
    rights = _RIGHTS + (_OF_MYSQL if master_server.kind is MYSQL else "")
    master_server.execute(f"CREATE USER {name}@'127.0.0.1' IDENTIFIED BY %s", password)
    master_server.execute(f"GRANT {rights} ON *.* TO {name}@'127.0.0.1' WITH GRANT OPTION")

    def session(**more: object) -> pymysql.Connection:
        where = {"host": "127.0.0.1", "port": master_server.port}
        return pymysql.connect(**where, user=name, password=password, autocommit=True, **more)

    def run(script: str) -> None:
        with closing(session(client_flag=CLIENT.MULTI_STATEMENTS)) as opened, opened.cursor() as cursor:
            cursor.execute(script)
            while cursor.nextset():
                pass

    with monkeypatch.context() as patched:
        patched.setattr(master_server, "session", session)
        patched.setattr(master_server, "run", run)
        yield name
    master_server.execute(f"DROP USER {name}@'127.0.0.1'")


@pytest.fixture
def hours(master_server: MariaServer) -> Iterator[None]:
    """What RDS has in the schema of the server itself, made by nobody's administrator."""
    for statement in _MADE:
        master_server.execute(statement)
    yield
    for statement in _DROPPED:
        master_server.execute(statement)
