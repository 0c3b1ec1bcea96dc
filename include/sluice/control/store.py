"""Sessions on the control store, and its migrations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, Engine, create_engine, exc
from sqlalchemy.pool import QueuePool

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError
from sluice.sqlfiles import SQL


class Store:
    """The control store. `begin` opens one transaction; every write goes through one."""

    def __init__(self, info: ConnectionInfo) -> None:
        self._engine: Engine = create_engine(
            URL.create(
                "postgresql+psycopg",
                username=info.login,
                password=info.password,
                host=info.host,
                port=info.port or 5432,
                database=info.database,
            ),
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=2,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "application_name": "sluice control"},
            hide_parameters=True,
        )

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction, committed at the end. Raises TransientError SLC-060 if the store cannot be reached."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except exc.OperationalError as error:
            raise TransientError(
                60, f"the control store does not answer: {error.orig}", "nothing is lost; the run tries again by itself"
            ) from None
        except exc.ProgrammingError as error:
            raise SluiceError(
                61, f"the control store is not as expected: {error.orig}", "run `./sluice up`, or the bootstrap DAG"
            ) from None

    def migrate(self) -> None:
        """Bring the store to this version's tables; does nothing if they are there. Safe to run twice at once."""
        from alembic import command
        from alembic.config import Config
        from sqlalchemy import text

        configuration = Config()
        configuration.set_main_option("script_location", str(SQL / "control"))
        with self.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sluice control store'))"))
            configuration.attributes["connection"] = connection
            command.upgrade(configuration, "head")

    def close(self) -> None:
        """End all sessions."""
        self._engine.dispose()
