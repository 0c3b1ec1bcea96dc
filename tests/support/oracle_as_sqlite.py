"""A server that a slave on Oracle may take for one: SQLite behind our statements, where no server of Oracle is.

It keeps rows and positions, so an initial update comes to its end, and so does DDL: the catalog of `oracle_catalog` has
the tables. It has neither locks nor change numbers: as of any of them it shows what is there. Of MERGE it can do those
that bring whole rows.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from support.oracle_catalog import Catalog, Table

from sluice.vendors.oracle import fence
from sluice.vendors.oracle.names import composed

_CATALOG = {
    "catalog/character_set": [("AL32UTF8",)],
    "catalog/obstacles": [],
    "catalog/references": [],
    "catalog/rights": [("CREATE TABLE",)],
    "catalog/room": [(1,)],
    "ddl/kind": [],
    "write/transaction": [("1.2.3",)],
    "capture/queue/scn": [("900",)],
    "position/tables": [(fence.name_of(one),) for one in fence.TABLES],
}
_DEFINING = re.compile(r'(CREATE|ALTER|DROP) TABLE "[^"]*"\."(?!SLUICE_)')
_CONVERTING = re.compile(r"BEGIN\s+(UPDATE .*?);\s+EXECUTE IMMEDIATE '(.*)';\s+END;", re.DOTALL)
sqlite3.register_adapter(Decimal, str)
# Of Oracle; each with the number of its arguments.
_FUNCTIONS: tuple[tuple[str, int, Any], ...] = (
    ("TO_CHAR", 3, lambda value, *how: None if value is None else str(value)),
    ("TO_CLOB", 1, lambda value: value),
    ("EMPTY_CLOB", 0, lambda: ""),
    ("LOB_COMPARE", 2, lambda one, other: None if None in (one, other) else (one > other) - (one < other)),
)


class SqliteServer:
    """One user, whose schema is a file."""

    def __init__(self, path: Path, user: str) -> None:
        self.path, self.user, self.catalog = path, user, Catalog(user)
        own = fence.our_tables(user)
        with self.connect() as session:
            for one in ("position/position", "position/loaded", "ddl/intents"):
                session.execute(composed(one, **own), {})
            session.commit()

    def connect(self, *of_the_driver: object) -> SqliteSession:
        """A session."""
        return SqliteSession(self)


class SqliteSession:
    """What our code uses of the driver's connection, and of its cursor."""

    version, warning, arraysize = "19.3.0.0.0", None, 100

    def __init__(self, server: SqliteServer) -> None:
        self._server = server
        self._driver = sqlite3.connect(":memory:", check_same_thread=False, timeout=60)
        self._driver.execute(f"ATTACH '{server.path}' AS \"{server.user}\"")
        for name, places, function in _FUNCTIONS:
            self._driver.create_function(name, places, function)
        self._rows: list[tuple[Any, ...]] = []
        self.description: Any = None
        self.rowcount = 0

    def cursor(self) -> SqliteSession:
        return self

    def __enter__(self) -> SqliteSession:
        return self

    def __exit__(self, *error: object) -> None:
        """Sessions are closed by name."""

    def execute(self, statement: str, values: Mapping[str, Any]) -> None:
        answer = self._catalog(statement, values)
        self.description = [()]
        if answer is None:
            done = self._driver.execute(_understood(statement), values)
            self.description, self.rowcount, answer = done.description, done.rowcount, done.fetchall()
        self._rows = list(answer)

    def executemany(self, statement: str, rows: Sequence[tuple[Any, ...]], batcherrors: bool = False) -> None:
        self._driver.executemany(_understood(statement), rows)

    def fetch_df_batches(self, statement: str, values: Mapping[str, Any], size: int) -> Iterator[pa.Table]:
        self.execute(statement, values)
        names = [name for name, *_ in self.description]
        for begin in range(0, len(self._rows), size):
            columns = zip(*self._rows[begin : begin + size], strict=True)
            yield pa.table([pa.array(column, pa.string()) for column in columns], names)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def setinputsizes(self, *types: Any, **named: Any) -> None:
        """Values have types of their own here."""

    def getbatcherrors(self) -> Sequence[Any]:
        return ()

    def commit(self) -> None:
        self._driver.commit()

    def rollback(self) -> None:
        self._driver.rollback()

    def is_healthy(self) -> bool:
        return self._driver is not None

    def close(self) -> None:
        self._driver.close()

    def _catalog(self, statement: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]] | None:
        """The answer of what SQLite does not have."""
        fixed = {composed(name): rows for name, rows in _CATALOG.items()} | {
            composed("position/user"): [(self._server.user,)]
        }
        if statement in fixed:
            return fixed[statement]
        if statement.startswith("LOCK TABLE"):
            return []
        if statement == composed("capture/queue/commit_durably"):
            self.commit()
            return []
        if statement == composed("ddl/carry_out"):
            # The transaction around it has read alone, and would lose what it wrote.
            assert not self._driver.in_transaction
            statement = values["statement"]
            if converting := _CONVERTING.fullmatch(statement):
                self._driver.execute(_understood(converting[1]))
                self._define(converting[2].replace("''", "'"))
                return []
        if _DEFINING.match(statement):
            self._define(statement)
            return []
        return self._server.catalog.answer(statement, values)

    def _define(self, statement: str) -> None:
        """DDL of a table: a new one with its rows takes the place of the old one. It commits."""
        self.commit()
        catalog = self._server.catalog
        for name, table in catalog.tables.items():
            table.has_rows = bool(self._driver.execute(f"SELECT 1 FROM {self._named(name)} LIMIT 1").fetchall())
        before = {name: {*table.columns} for name, table in catalog.tables.items()}
        catalog.define(statement)
        (old,), new = re.findall(r'TABLE "[^"]*"\."([^"]*)"', statement), re.search(r'RENAME TO "(.*)"$', statement)
        name = new[1] if new else old
        kept = "on the way"
        if old in before:
            self._driver.execute(f'ALTER TABLE {self._named(old)} RENAME TO "{kept}"')
        if table_now := catalog.tables.get(name):
            self._driver.execute(f"CREATE TABLE {self._named(name)} ({_body(table_now)})")
            if old in before:
                taken = ", ".join(_source(one, table_now, before[old], statement) for one in table_now.columns)
                self._driver.execute(f"INSERT INTO {self._named(name)} SELECT {taken} FROM {self._named(kept)}")
        if old in before:
            self._driver.execute(f"DROP TABLE {self._named(kept)}")
        self.commit()

    def _named(self, name: str) -> str:
        return f'"{self._server.user}"."{name}"'


def _body(table: Table) -> str:
    kinds = [f'"{name}" {one.kind.replace(" CHAR", "")}' for name, one in table.columns.items()]
    key = ", ".join(f'"{one}"' for one in table.key)
    return ", ".join([*kinds, *([f"PRIMARY KEY ({key})"] if key else [])])


def _source(name: str, table: Table, before: set[str], statement: str) -> str:
    """From where a column has its values."""
    if renamed := re.search(rf'RENAME COLUMN "(.*)" TO "{name}"$', statement):
        return f'"{renamed[1]}"'
    value = table.columns[name].value
    return f'"{name}"' if name in before else _plain(value) if value else "NULL"


def _plain(text: str) -> str:
    """Functions that SQLite has by other names."""
    return text.replace("DBMS_LOB.GETLENGTH", "LENGTH").replace("DBMS_LOB.", "LOB_")


def _understood(statement: str) -> str:
    """One of our statements, without what is Oracle's own of it."""
    text = re.sub(r"\s*FOR UPDATE.*", "", statement).replace(" AS OF SCN :scn", "").removesuffix(" PURGE")
    text = _plain(text).replace("WHERE ROWNUM = 1", "LIMIT 1")
    text = re.sub(r"CREATE PRIVATE (TEMPORARY .*) ON COMMIT PRESERVE DEFINITION", r"CREATE \1", text, flags=re.DOTALL)
    whole = r"MERGE INTO (\S+) held\nUSING \(SELECT (.*?) FROM (\S+) kept WHERE kept\.(.*?)\) staged.*"
    text = re.sub(whole, r"INSERT OR REPLACE INTO \1 (\2) SELECT \2 FROM \3 WHERE \4", text, flags=re.DOTALL)
    text = re.sub(r"MERGE INTO (\S+) .*?THEN INSERT", r"INSERT OR IGNORE INTO \1", text, flags=re.DOTALL)
    if not text.startswith("SELECT"):
        text = re.sub(r" held\b(?!\.)", "", text).replace("held.", "")
    text = re.sub(r"\((\d+) (CHAR|BYTE)\)", r"(\1)", text)
    return re.sub(r":(\d+)", r"?\1", text)
