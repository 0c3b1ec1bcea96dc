"""A server that a slave on Oracle may take for one: SQLite behind our statements, where no server of Oracle is.

It keeps rows and positions, so an initial update comes to its end. It has neither locks nor change numbers: as of any
of them it shows what is there. Of MERGE it can do those that bring whole rows.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sluice.vendors.oracle.names import composed

_CATALOG = {
    "catalog/character_set": [("AL32UTF8",)],
    "catalog/obstacles": [],
    "catalog/references": [],
    "catalog/rights": [("CREATE TABLE",)],
    "catalog/room": [(1,)],
    "write/transaction": [("1.2.3",)],
    "capture/queue/scn": [("900",)],
    "position/tables": [("SLUICE_POSITION",), ("SLUICE_LOADED",)],
}


class SqliteServer:
    """One user, whose schema is a file. `tables`: for each table its columns as the catalog has them, and its key."""

    def __init__(self, path: Path, user: str, tables: Mapping[str, tuple[Sequence[tuple[Any, ...]], str]]) -> None:
        self.path, self.user, self.tables = path, user, tables
        with self.connect() as session:
            own = {"position": f'"{user}"."SLUICE_POSITION"', "loaded": f'"{user}"."SLUICE_LOADED"'}
            for one in own:
                session.execute(composed(f"position/{one}", **own), {})
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
        self._driver.create_function("TO_CHAR", 3, lambda value, *how: None if value is None else str(value))
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
        if statement in (composed("catalog/columns"), composed("catalog/primary_key"), composed("catalog/table")):
            named = f'SELECT 1 FROM "{self._server.user}".sqlite_master WHERE name = :name'
            there = self._driver.execute(named, {"name": values["name"]}).fetchall()
            columns, key = self._server.tables.get(values["name"], ((), ""))
            found = columns if statement == composed("catalog/columns") else [(key, "NOT DEFERRABLE")]
            if statement == composed("catalog/table"):
                found = [(7, "N", "NO", "NO")]
            return found if there else []
        return None


def _understood(statement: str) -> str:
    """One of our statements, without what is Oracle's own of it."""
    text = re.sub(r"\s*FOR UPDATE.*", "", statement).replace(" AS OF SCN :scn", "").removesuffix(" PURGE")
    text = re.sub(r"CREATE PRIVATE (TEMPORARY .*) ON COMMIT PRESERVE DEFINITION", r"CREATE \1", text, flags=re.DOTALL)
    whole = r"MERGE INTO (\S+) held\nUSING \(SELECT (.*?) FROM (\S+) kept WHERE kept\.(.*?)\) staged.*"
    text = re.sub(whole, r"INSERT OR REPLACE INTO \1 (\2) SELECT \2 FROM \3 WHERE \4", text, flags=re.DOTALL)
    text = re.sub(r"MERGE INTO (\S+) .*?THEN INSERT", r"INSERT OR IGNORE INTO \1", text, flags=re.DOTALL)
    if not text.startswith("SELECT"):
        text = re.sub(r" held\b(?!\.)", "", text).replace("held.", "")
    text = re.sub(r"\((\d+) (CHAR|BYTE)\)", r"(\1)", text)
    return re.sub(r":(\d+)", r"?\1", text)
