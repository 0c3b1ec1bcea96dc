"""Sessions on the control store, and its migrations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property

import psycopg
from psycopg.errors import UndefinedColumn, UndefinedTable
from psycopg.types.json import set_json_dumps, set_json_loads
from sqlalchemy import Connection, Engine, column, create_engine, event, exc, func, literal, select, table, text
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.pool import QueuePool

from sluice import passwords, shell
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.libpq import is_login_refused, open_session, parameters, refusal_sqlstate
from sluice.paths import FILES, unpack
from sluice.store import json_text
from sluice.store.tables import identity
from sluice.tls import remarks, trouble

# A login, a database that is not there, no right to connect to it.
_REFUSED = ("28", "3D000", "42501")
# A session of the pool is waited for so long.
_POOL_S = 30.0
_MIGRATIONS = "sql/control"
_APPLICATION = "control"
# Where alembic writes the version.
_VERSION = table("alembic_version", column("version_num"))


@cache
def newest() -> int:
    """The version that this code works with: the number of the last migration."""
    names = (file.name for file in FILES.joinpath(_MIGRATIONS, "versions").iterdir())
    return max(int(name[:4]) for name in names if name.endswith(".py"))


def is_new(connection: Connection, row: Insert) -> bool:
    """Insert a row unless its key is there; whether it was not. SQLAlchemy does not say how many rows were inserted."""
    return connection.execute(row.on_conflict_do_nothing().returning(literal(1))).first() is not None


class Store:
    """The control store. `begin` opens one transaction; every write goes through one.

    Args:
        patience_s: how long a session is waited for, and a statement may take; as the driver and the server have it, if
            nothing is said.
        conn_id: the id of its Airflow connection.
    """

    def __init__(self, info: ConnectionInfo, patience_s: float | None = None, conn_id: str = "sluice_control") -> None:
        self._conn_id = conn_id
        self._info = info
        self._patience_s = patience_s
        self._engine: Engine = create_engine(
            "postgresql+psycopg://",
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=2,
            pool_pre_ping=True,
            pool_timeout=_POOL_S if patience_s is None else patience_s,
            hide_parameters=True,
            json_serializer=json_text.dumps,
            json_deserializer=json_text.loads,
        )
        event.listen(self._engine, "do_connect", self._connect)
        self._has_tables = False

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction, committed at the end.

        Raises:
            TransientError: SLC-060 if the store cannot be reached, SLC-066 if its tables do not exist yet.
            SluiceError: SLC-031 if it refuses the login, SLC-311 if TLS cannot be set up, SLC-028 if it cannot hold a
                value.
            ConfigError: SLC-059 if a newer Sluice made its tables.
        """
        try:
            with self._engine.begin() as connection:
                if self._patience_s is not None:
                    # Not by `options`, which poolers refuse.
                    connection.execute(text(f"SET LOCAL statement_timeout = {round(self._patience_s * 1000)}"))
                if not self._has_tables:
                    self._has_tables = bool(_known_versions(connection))
                yield connection
        except (exc.OperationalError, exc.TimeoutError) as error:
            raise self._connection_error(error) from None
        except exc.DataError as error:
            # What follows its first line may be a row's value.
            raise SluiceError(
                28,
                f"the control store cannot hold a value: {str(error.orig).splitlines()[0]}",
                "nothing of it was written; let its database have the encoding UTF8; if it has that, report this",
            ) from None
        except (exc.ProgrammingError, exc.InternalError) as error:
            if isinstance(error.orig, UndefinedTable | UndefinedColumn):
                # DAGs may come up unpaused: a drain may run before anybody has made the tables, and waits for them.
                raise TransientError(
                    66,
                    f"the control store lacks tables of this version: {str(error.orig).splitlines()[0]}",
                    "trigger the DAG bootstrap, which makes them; this run tries again by itself",
                ) from None
            raise SluiceError(
                33, f"the control store refuses a statement: {error.orig}", "let the role own its database"
            ) from None

    @property
    def has_tables(self) -> bool:
        """Whether its tables were made, be it by an older Sluice."""
        if not self._has_tables:
            with self.begin():
                pass
        return self._has_tables

    @cached_property
    def id(self) -> str:
        """The id of this store; a restored store keeps it."""
        with self.begin() as connection:
            return str(connection.execute(select(identity.c.id)).scalar_one())

    def session(self) -> psycopg.Connection[tuple[object, ...]]:
        """A session of its own, in autocommit. Raises psycopg.Error."""
        return open_session(self._info, parameters(self._info, _APPLICATION))

    def remarks(self) -> list[str]:
        """Warnings about the transport to the store. Raises psycopg.Error."""
        with self.session() as session:
            return remarks(session)

    def migrate(self) -> None:
        """Bring the store to this version's tables; does nothing if they are there. Safe to run twice at once."""
        with self.begin() as connection:
            if _versions(connection) == [newest()]:
                return
        # Alembic takes long to load, and hardly a store needs it.
        from alembic import command
        from alembic.config import Config

        configuration = Config()
        with unpack(_MIGRATIONS) as scripts, self.begin() as connection:
            # Percent signs are its own.
            configuration.set_main_option("script_location", str(scripts).replace("%", "%%"))
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sluice control store'))"))
            configuration.attributes["connection"] = connection
            command.upgrade(configuration, "head")

    def close(self) -> None:
        """End all sessions."""
        self._engine.dispose()

    def _connection_error(self, error: exc.OperationalError | exc.TimeoutError) -> SluiceError:
        """A login that is wrong stays so; a server that is down, or whose sessions are all waited for, does not."""
        reason, state = "all sessions of this process wait for it", None
        if isinstance(error, exc.OperationalError):
            if insecure := trouble(error.orig, "the control store"):
                return insecure
            reason = "; ".join(filter(None, map(str.strip, str(error.orig).splitlines())))
            if isinstance(error.orig, psycopg.Error):
                state = refusal_sqlstate(error.orig, parameters(self._info, _APPLICATION))
        fact = f"the control store does not answer: {reason}"
        if (state or "").startswith(_REFUSED):
            refused = SluiceError(
                31, fact, f"correct login, password or database; type: {shell.connect(self._conn_id)}"
            )
            return passwords.login_error(self._info, refused, is_refused=is_login_refused(state))
        return TransientError(60, fact, "start its database; nothing moves until then, nothing is lost, runs try again")

    def _connect(
        self, dialect: object, record: object, args: object, how: object
    ) -> psycopg.Connection[tuple[object, ...]]:
        """Open a session for the event `do_connect` of SQLAlchemy."""
        session = self.session()
        # SQLAlchemy hands them to sessions that it opens itself.
        set_json_dumps(json_text.dumps, session)
        set_json_loads(json_text.loads, session)
        session.autocommit = False
        # A pooler may give the next transaction to another session, where nothing is prepared.
        session.prepare_threshold = None
        return session


def _versions(connection: Connection) -> list[int]:
    """The versions of the store's tables: one, or none before they are made."""
    if connection.scalar(select(func.to_regclass(_VERSION.name))) is None:
        return []
    return [int(version) for version in connection.scalars(select(_VERSION.c.version_num))]


def _known_versions(connection: Connection) -> list[int]:
    """See that no newer Sluice made what is there; an older one may have, which `migrate` brings up."""
    for version in (versions := _versions(connection)):
        if version > newest():
            raise ConfigError(
                59,
                f"the tables of the control store are of version {version:04}, and this Sluice knows {newest()}",
                "a newer Sluice made them: run that version, nothing was changed",
            )
    return versions
