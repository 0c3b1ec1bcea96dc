"""Boundary values of each logical type in their canonical text, and which vendors they travel between.

A vendor that can be a slave joins the matrix by one line of `SLAVES`; one that can be a master by one of `MASTERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

import pyarrow as pa
import pymysql
from psycopg import sql
from support.exactly import pinned, text_of
from support.lake import Lake
from support.world import World

from sluice.model.layout import Column
from sluice.vendors.mariadb.server import MARIADB, MYSQL, Server
from sluice.vendors.mariadb.types import stored
from sluice.vendors.parquet.types import TEXT, typed

# By the log's names of types: texts that are values of them.
VALUES: Mapping[str, tuple[str, ...]] = {
    "boolean": ("t", "f"),
    "smallint": ("-32768", "0", "32767"),
    "integer": ("-2147483648", "0", "2147483647"),
    "bigint": ("-9223372036854775808", "0", "9223372036854775807"),
    "numeric": ("NaN", "Infinity", "-Infinity", "0", "0.000", "-0.10", "9" * 200 + "." + "1" * 200),
    "numeric(38,10)": ("0.0000000000", "NaN", "-" + "9" * 28 + "." + "9" * 10),
    "numeric(39,0)": ("9" * 39,),
    "real": ("NaN", "Infinity", "-Infinity", "-0", "1e-45", "3.4028235e+38", "0.1"),
    "double precision": ("NaN", "-Infinity", "-0", "5e-324", "1.7976931348623157e+308", "0.1", "1e+22", "100000"),
    "text": ("", " ", "\\N", "NULL", "\x01\x7f\t\r\n", "é ﷽ 😀 \U0010ffff"),
    "character varying(5)": ("", "ab   ", "äöüß€"),
    "character(5)": ("     ", "ab   "),
    "bytea": ("\\x", "\\x00", "\\x" + bytes(range(256)).hex()),
    "date": ("4713-01-01 BC", "-infinity", "infinity", "0001-12-31 BC", "2024-02-29", "9999-12-31", "5874897-12-31"),
    "time without time zone": ("00:00:00", "23:59:59.999999", "24:00:00"),
    "time with time zone": ("00:00:00+15:59:59", "24:00:00-15:59:59", "12:00:00.000001+05:30"),
    "timestamp without time zone": (
        "4713-01-01 00:00:00 BC",
        "infinity",
        "-infinity",
        "0044-03-15 12:00:00.000001 BC",
        "2024-02-03 04:05:06.1",
        "294276-12-31 23:59:59.999999",
    ),
    "timestamp with time zone": ("0044-03-15 12:00:00.000001+00 BC", "infinity", "2024-10-27 00:30:00+00"),
    "interval": ("00:00:00", "1 mon -1 days +25:00:00", "-178000000 years", "-00:00:00.000001", "infinity"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "json": ("null", ' { "a" : 1,\n\t"a":2 } ', "1.10"),
    "jsonb": ("null", '{"a": [1.10, null, {}]}'),
    "bit(7)": ("1010101",),
    "bit varying": ("", "1", "01" * 100),
    "integer[]": ("{}", "{NULL}", "[-1:0][3:4]={{1,2},{3,NULL}}"),
    "text[]": ('{"",NULL,"NULL"," "}', '{"a,b","\\"\\\\"}'),
    "inet": ("0.0.0.0/0", "10.1.2.3/8"),
}
# What is in a table: a key, and one column of each type by its number.
NAMES = [f"v{number}" for number in range(len(VALUES))]
COLUMNS = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, VALUES, strict=True))
DDL = f"CREATE TABLE t (id int PRIMARY KEY, {COLUMNS})"
# Each row has the next value of each type, or NULL where there are no more.
ROWS = [
    [values[place] if place < len(values) else None for values in VALUES.values()]
    for place in range(max(map(len, VALUES.values())) + 1)
]
Texts = dict[int, list[str | None]]
EXPECTED: Texts = dict(enumerate(ROWS))


def insert(world: World, base: int) -> None:
    """Rows with these values on a PostgreSQL master, from a number on."""
    places = sql.SQL(", ").join([sql.Placeholder()] * (len(NAMES) + 1))
    for place, row in enumerate(ROWS):
        world.master.execute(sql.SQL("INSERT INTO t VALUES ({})").format(places), [base + place, *row])


def of_tables(world: World, slave: str) -> Texts:
    """The texts that a PostgreSQL slave prints."""
    columns = sql.SQL(", ").join(map(text_of, NAMES))
    return {
        number: list(texts)
        for number, *texts in pinned(world, slave).execute(sql.SQL("SELECT id, {} FROM public.t").format(columns))
    }


def of_files(there: Lake, slave: str) -> Texts:
    """The texts that rows of files stand for: those whose typed values they have."""
    columns = [Column(name, kind) for name, kind in zip(NAMES, VALUES, strict=True)]
    meant = typed(columns, [pa.array(list(texts), pa.string()) for texts in zip(*ROWS, strict=True)]).to_pylist()
    found: Texts = {}
    for row in there.read(slave, "public.t"):
        number = row.pop("id")
        found[number] = [
            text if _same(row, like, name) else repr(row[name])
            for name, like, text in _cells(meant[number % 100], ROWS[number % 100])
        ]
    return found


def _cells(like: dict[str, Any], texts: list[str | None]) -> Iterable[tuple[str, dict[str, Any], str | None]]:
    return ((name, like, text) for name, text in zip(NAMES, texts, strict=True))


def _same(row: dict[str, Any], like: dict[str, Any], name: str) -> bool:
    one, other = (repr((side[name], dict(side[TEXT] or ()).get(name))) for side in (row, like))
    return one == other


# Types some of whose boundary values MariaDB has only as texts: there the column is one that takes every text.
AS_TEXT = {
    "numeric(38,10)",
    "real",
    "double precision",
    "date",
    "timestamp without time zone",
    "timestamp with time zone",
}


def made_on_maria(server: Server = MARIADB) -> str:
    """The table, as somebody makes it on MariaDB or MySQL for all of these values."""
    columns = []
    for name, kind in zip(NAMES, VALUES, strict=True):
        made = stored(Column(name, kind), server, key=False)
        assert made
        columns.append(f"{name} {(made.as_text if kind in AS_TEXT else made).declared}")
    return f"CREATE TABLE {{}}.t (id int PRIMARY KEY, {', '.join(columns)})"


def of_maria(world: World, slave: str) -> Texts:
    """The texts that the values of a MariaDB slave stand for."""
    info = world.infos[slave]
    with closing(
        pymysql.connect(host=info.host, port=info.port or 0, user=info.login, password=info.password)
    ) as session:
        cursor = session.cursor()
        cursor.execute("SET SESSION time_zone = '+00:00'")
        cursor.execute(f"SELECT id, {', '.join(map(_as_text, NAMES, VALUES))} FROM {info.database}.t")
        return {
            number: [_meant(kind, text) for kind, text in zip(VALUES, texts, strict=True)]
            for number, *texts in cursor.fetchall()
        }


def _as_text(name: str, kind: str) -> str:
    if kind == "bytea":
        return f"CONCAT('\\\\x', LOWER(HEX({name})))"
    if kind == "boolean":
        return f"IF({name}, 't', IF({name} IS NULL, NULL, 'f'))"
    return f"CAST({name} AS CHAR)"


def _meant(kind: str, text: str | None) -> str | None:
    if text and kind in ("real", "double precision"):
        return re.sub(r"e(?=\d)", "e+", text)
    if text and kind == "timestamp with time zone" and not re.search(r"\+|infinity", text):
        text += "+00"
    if text and kind.startswith(("time ", "timestamp ")):
        return re.sub(r"(\.\d*?)0+($|\+)", r"\1\2", text).replace(".+", "+").removesuffix(".")
    return text


# How a world with such slaves is made of fixtures, and what a slave of it has. Each has all that was inserted before.
Fixture = Callable[[str], Callable[..., Any]]
SLAVES: Mapping[str, tuple[Callable[[Fixture], Any], Callable[[Any, str], Texts]]] = {
    "postgresql": (lambda fixture: fixture("updating")(DDL, ["public.t"], renamed={}), of_tables),
    "mariadb": (
        lambda fixture: fixture("maria")(DDL, ["public.t"], before=made_on_maria(), update=False),
        of_maria,
    ),
    "mysql": (
        lambda fixture: fixture("mysql")(DDL, ["public.t"], before=made_on_maria(MYSQL), update=False),
        of_maria,
    ),
    "parquet": (lambda fixture: fixture("lake")(DDL, ["public.t"], update=False), of_files),
    "iceberg": (lambda fixture: fixture("lake")(DDL, ["public.t"], update=False, vendor="iceberg"), of_files),
}
# How rows get into a master.
MASTERS: Mapping[str, Callable[[World, int], None]] = {"postgresql": insert}
