"""Masters of each vendor for the same tests: how a world of one is made, and values with the texts that its log has.

A real Oracle is a server that somebody names, see `./sluice test --oracle-dsn`. Where nobody does, it is none of the
masters, so that no test is skipped.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import oracledb
from support.world import World

from sluice.connections import ConnectionInfo
from sluice.dev import oracle_server
from sluice.initial_update import column_losses
from sluice.model.names import TableName
from sluice.vendors.oracle import grants

Pairs = Mapping[str, tuple[tuple[str, str], ...]]
# By the declared type: pairs of a literal, and the canonical text.
ON_POSTGRES: Pairs = {
    "numeric": (("-12.25", "-12.25"), ("1.10", "1.10")),
    "numeric(10,2)": (("1.5", "1.50"),),
    "double precision": (("0.1", "0.1"), ("'NaN'", "NaN")),
    "varchar(40)": (("'ab  '", "ab  "), ("'ä€'", "ä€")),
    "char(5)": (("'ab'", "ab   "),),
    "timestamp": (("'0044-03-15 00:00:00 BC'", "0044-03-15 00:00:00 BC"), ("'2024-02-29'", "2024-02-29 00:00:00")),
    "timestamptz": (("'2024-10-27 02:30:00.000001+02'", "2024-10-27 00:30:00.000001+00"),),
    "interval": (("'1 day 01:01:01.5'", "1 day 01:01:01.5"), ("'1 year 2 mons'", "1 year 2 mons")),
    "bytea": ((r"'\x00ff'", r"\x00ff"),),
    "text": (("'a]]>b'", "a]]>b"),),
    "boolean": (("true", "t"),),
}
ON_ORACLE: Pairs = {
    "NUMBER": (("-12.25", "-12.25"), ("0.5", "0.5"), ("1.1E125", "11" + "0" * 124)),
    "NUMBER(10,2)": (("1.5", "1.50"),),
    "NUMBER(2,5)": ((".00099", "0.00099"),),
    "NUMBER(5,-2)": (("1234500", "1234500"),),
    "BINARY_DOUBLE": (("0.1d", "0.1"), ("BINARY_DOUBLE_NAN", "NaN")),
    "BINARY_FLOAT": (("0.1f", "0.1"),),
    "VARCHAR2(40 CHAR)": (("'ab  '", "ab  "), (r"UNISTR('\00e4\20ac')", "ä€")),
    "NVARCHAR2(40)": ((r"UNISTR('\6f22')", "漢"),),
    "CHAR(5 CHAR)": (("'ab'", "ab   "),),
    "DATE": (
        ("TO_DATE('-0044-03-15', 'SYYYY-MM-DD')", "0044-03-15 00:00:00 BC"),
        ("DATE '2024-02-29'", "2024-02-29 00:00:00"),
    ),
    "TIMESTAMP(6)": (("TIMESTAMP '2024-01-01 00:00:00.1'", "2024-01-01 00:00:00.1"),),
    "TIMESTAMP(9)": (("TIMESTAMP '2024-01-01 00:00:00.123456789'", "2024-01-01 00:00:00.123456789"),),
    "TIMESTAMP(6) WITH TIME ZONE": (
        ("TIMESTAMP '2024-10-27 02:30:00.000001 +02:00'", "2024-10-27 00:30:00.000001+00"),
    ),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": (("TIMESTAMP '2024-01-01 01:00:00.5 +01:00'", "2024-01-01 00:00:00.5+00"),),
    "INTERVAL YEAR(2) TO MONTH": (("INTERVAL '1-2' YEAR TO MONTH", "1 year 2 mons"),),
    "INTERVAL DAY(2) TO SECOND(6)": (("INTERVAL '1 01:01:01.5' DAY TO SECOND", "1 day 01:01:01.5"),),
    "RAW(16)": (("HEXTORAW('00ff')", r"\x00ff"),),
    "CLOB": (("TO_CLOB('a]]>b')", "a]]>b"),),
    "BLOB": (("TO_BLOB(HEXTORAW('deadbeef'))", r"\xdeadbeef"),),
}


@dataclass(frozen=True)
class Master:
    """One kind of master, whose table ``t`` has a key, and a column of each type."""

    values: Pairs
    begin: Callable[[Any, ExitStack, str], World]

    @property
    def ddl(self) -> str:
        """What makes the table."""
        columns = "".join(f", v{place} {kind}" for place, kind in enumerate(self.values))
        return f"CREATE TABLE t (id int PRIMARY KEY{columns})"

    @property
    def rows(self) -> list[list[tuple[str, str | None]]]:
        """Each row has the next value of each type, or NULL where there are no more; the last has NULLs alone."""
        longest = max(map(len, self.values.values()))
        return [
            [pairs[place] if place < len(pairs) else ("NULL", None) for pairs in self.values.values()]
            for place in range(longest + 1)
        ]

    @property
    def texts(self) -> dict[int, list[str | None]]:
        """The canonical texts, by the numbers of rows."""
        return {number: [text for _, text in row] for number, row in enumerate(self.rows)}

    def world(self, updating: Any, afterwards: ExitStack) -> World:
        """A world of such a master, whose slaves have no table yet. What its log lacks of values is allowed."""
        return self.begin(updating, afterwards, self.ddl)

    def insert(self, world: World, base: int) -> None:
        """Rows with these values, from a number on."""
        for number, row in enumerate(self.rows):
            literals = "".join(f", {literal}" for literal, _ in row)
            world.master.execute(f"INSERT INTO t VALUES ({base + number}{literals})")


def _users() -> tuple[str, str]:
    name = secrets.token_hex(4).upper()
    return f"SLUICE_APP_{name}", f"SLUICE_REPL_{name}"


@dataclass(frozen=True)
class OracleServer:
    """What a world uses of a server: there, two users stand for a database, of the tables and of the DbResources."""

    ddl: str
    users: tuple[str, str] = field(default_factory=_users)
    secret: str = field(default_factory=lambda: f"s{secrets.token_hex(12)}")

    def create_database(self) -> ConnectionInfo:
        """The users, and the table; the connection is for that of the DbResources."""
        app, repl = self.users
        with oracle_server.administrator() as admin:
            for user in self.users:
                _execute(admin, f'CREATE USER {user} IDENTIFIED BY "{self.secret}" QUOTA UNLIMITED ON users')
            _execute(admin, f"GRANT CREATE SESSION, CREATE TABLE TO {app}")
            with self._session() as owner:
                _execute(owner, self.ddl)
            for statement in grants.script(repl, [TableName(app, "T")]).split(";\n"):
                if statement.strip():
                    _execute(admin, statement)
        host, port, service = oracle_server.address()
        return ConnectionInfo("oracle", host, port, service, repl, self.secret)

    def connect(self, info: ConnectionInfo) -> OracleSession:
        """A session of the application."""
        return OracleSession(self._session())

    def drop(self) -> None:
        """Drop the users, that of the triggers first."""
        with oracle_server.administrator() as admin:
            for user in reversed(self.users):
                _execute(admin, f"DROP USER {user} CASCADE")

    def _session(self) -> oracledb.Connection:
        made = oracle_server.connect(self.users[0], self.secret)
        made.autocommit = True
        return made


@dataclass
class OracleSession:
    """What a world uses of a session of an ordinary client."""

    driver: oracledb.Connection
    closed: bool = False

    def execute(self, statement: str | bytes) -> None:
        # Bytes are what a world runs everywhere at its beginning.
        if isinstance(statement, str):
            _execute(self.driver, statement)

    def close(self) -> None:
        self.closed = True
        self.driver.close()


def _execute(session: oracledb.Connection, statement: str) -> None:
    with session.cursor() as cursor:
        cursor.execute(statement)


def _on_postgres(updating: Any, afterwards: ExitStack, ddl: str) -> World:
    made: World = updating(ddl, ["public.t"], renamed={}, slaves=["zurich"])
    return made


def _on_oracle(updating: Any, afterwards: ExitStack, ddl: str) -> World:
    server = OracleServer(ddl)
    app, repl = server.users
    afterwards.callback(server.drop)
    source = {"vendor": "oracle", "prefix": "REPL_", "schema": repl}
    # What a world runs at its beginning is nothing here: the table is there, and an update makes it on the slaves.
    more = {"source": source, "elsewhere": {"master": server}, "slaves": ["zurich"]}
    made: World = updating("SELECT", [f"{app}.T"], renamed={}, **more)
    for slave in made.slaves:
        shown = column_losses.question(made.context, made.pair(slave))
        column_losses.allow(made.context, made.pair(slave), str(shown["shown"]), "a test")
    return made


MASTERS: dict[str, Master] = {"postgresql": Master(ON_POSTGRES, _on_postgres)}
if oracle_server.is_named():
    MASTERS["oracle"] = Master(ON_ORACLE, _on_oracle)
