"""Whether a source knows in which encoding its texts are."""

from __future__ import annotations

from sluice.errors import ConfigError
from sluice.vendors.postgresql.session import Connection


def expect_known(connection: Connection) -> None:
    """Raises ConfigError SLC-028 for SQL_ASCII: its texts may be any bytes, which no slave could take."""
    row = connection.execute("SELECT current_database(), current_setting('server_encoding')").fetchone()
    if row and row[1] == "SQL_ASCII":
        raise ConfigError(
            28,
            f"the database {row[0]} is in SQL_ASCII, which does not say what its texts mean",
            "make a database with ENCODING 'UTF8', load what `pg_dump --encoding` writes of this one into it, and fix "
            "the Airflow connection; nothing was changed",
        )
