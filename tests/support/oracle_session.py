"""A session of a source on Oracle that answers from a list: our own side of it, where no server is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

import oracledb
import pyarrow as pa
from oracledb import errors
from support.oracle import PARTS

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.vendors.oracle import source_session
from sluice.vendors.oracle.capture.queue.capture import QueueCapture
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import columns_text
from sluice.vendors.oracle.master import OracleMaster
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.source_session import SourceSession

Rows = Sequence[tuple[Any, ...]]
Answer = Rows | int | Callable[[Any], Rows | int]


def refusal(said: str) -> Callable[[Any], Rows]:
    """An answer that is an error, in the driver's own class."""

    def refuse(values: Any) -> Rows:
        raise oracledb.DatabaseError(errors._Error(said))

    return refuse


class RecordedCursor:
    """What our code uses of the driver's cursor."""

    def __init__(self, session: RecordedSession) -> None:
        self._session = session
        self._rows: list[tuple[Any, ...]] = []
        self.arraysize = 100
        self.rowcount = 0
        self.warning = None
        self.description: object = None

    def __enter__(self) -> RecordedCursor:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held."""

    def execute(self, statement: str, values: Mapping[str, Any]) -> None:
        self._take(statement, values)

    def executemany(self, statement: str, rows: Rows, batcherrors: bool = False) -> None:
        self._take(statement, rows)

    def setinputsizes(self, *types: Any, **named: Any) -> None:
        self._session.typed.append(list(types) or named)

    def getbatcherrors(self) -> Sequence[Any]:
        return self._session.refused

    def _take(self, statement: str, values: Any) -> None:
        answer = self._session.answer(statement, values)
        self.rowcount = answer if isinstance(answer, int) else 0
        self._rows = [] if isinstance(answer, int) else list(answer)
        self.description = None if isinstance(answer, int) else [()]

    def fetchall(self) -> Rows:
        return self._rows

    def fetchmany(self, size: int) -> Rows:
        some, self._rows = self._rows[:size], self._rows[size:]
        return some


class RecordedSession:
    """What our code uses of the driver's connection.

    Attributes:
        said: the statements in their order, and the ends of transactions, each by the name of its file if it has one.
        typed: what the driver was told of the types of values.
        refused: what the server says of rows of an array that it refuses.
    """

    username, version = "REPL", "19.3.0.0.0"

    def __init__(self, answers: Mapping[str, Answer], names: Mapping[str, str] | None = None) -> None:
        self.answers = dict(answers)
        self._names = {composed(name, **PARTS): name for name in answers} if names is None else names
        self.said: list[str] = []
        self.given: list[Any] = []
        self.typed: list[Any] = []
        self.refused: Sequence[Any] = ()

    def cursor(self) -> RecordedCursor:
        return RecordedCursor(self)

    def answer(self, statement: str, values: Any) -> Rows | int:
        name = self._names.get(statement, statement)
        self.said.append(name)
        self.given.append(values)
        found = self.answers.get(name, 0)
        return found(values) if callable(found) else found

    def fetch_df_batches(self, statement: str, values: Any, size: int) -> Iterator[pa.Table]:
        found: Any = self.answer(statement, values)
        yield from found or ()

    def values_of(self, name: str) -> list[Any]:
        return [given for said, given in zip(self.said, self.given, strict=True) if said == name]

    def commit(self) -> None:
        self._end("COMMIT")

    def rollback(self) -> None:
        self._end("ROLLBACK")

    def _end(self, how: str) -> None:
        self.said.append(how)
        self.given.append(None)

    def is_healthy(self) -> bool:
        return True

    def close(self) -> None:
        self._end("CLOSE")


INFO = ConnectionInfo("oracle", "db1", None, "FREEPDB1", "repl", "secret")
NAME = TableName("APP", "T")
ID, TEXT, LONG = (
    OracleColumn("ID", "NUMBER", precision=9, scale=0, not_null=True),
    OracleColumn("V", "VARCHAR2", length=9, chars=9),
    OracleColumn("L", "LONG", length=0),
)
TABLE = CapturedTable(NAME, 7, (ID, TEXT), ("ID",))
WIDER = CapturedTable(NAME, 7, (ID, TEXT, OracleColumn("D", "DATE")), ("ID",))
RIGHTS = [f"CREATE {one}" for one in ("TABLE", "SEQUENCE", "VIEW", "PROCEDURE", "TRIGGER", "JOB", "ANY TRIGGER")]
STATE = "capture/registry/state"
PURGE = "capture/queue/purge"


def source(monkeypatch, **answers):
    """A session that answers so, its capture and its master; names of files have two lines for a slash."""
    at_rest = {
        "capture/registry/lock_state": [(3,)],
        STATE: [("INC", 5, "NONE", 3, 1, "NONE")],
        "capture/queue/noted": [],
        "capture/queue/definitions": [],
        "capture/registry/registered": [],
        "capture/registry/layouts": [],
        "capture/registry/restored": [],
        "capture/queue/scn": [("900",)],
        "capture/queue/queued_as_of": [("1.2.3",)],
        "capture/queue/sweep": [],
        PURGE: len,
        "catalog/objects": [],
        "catalog/rights": [(one,) for one in RIGHTS],
        "catalog/room": [(1,)],
    }
    at_rest |= {name.replace("__", "/"): answer for name, answer in answers.items()}
    # Nobody marks a table as LOST between two looks.
    marks = [(row[6],) for row in at_rest["capture/registry/registered"]]
    session = RecordedSession({"capture/registry/lock_lost": marks} | at_rest)
    monkeypatch.setattr(source_session, "connect", lambda info, application: session)
    shared = SourceSession(INFO, None, "REPL_")
    return session, QueueCapture(shared), OracleMaster(shared)


def catalog_of(table):
    """What the catalog says of a table."""
    kinds = [
        (one.name, one.type, None, one.length, one.precision, one.scale, one.chars, "B", "N" if one.not_null else "Y")
        for one in table.columns
    ]
    return {
        "catalog__table": [(table.relation, "N", "NO", "NO")],
        "catalog__columns": [(*one, "NO", "NO") for one in kinds],
        "catalog__primary_key": [(name, "NOT DEFERRABLE") for name in table.key],
        "catalog__eligible": [("APP", "T")],
        "catalog__user_number": [(107,)],
    }


def registered(table, number=40, *, lost="N", status="OK"):
    columns = (number, columns_text(table), json.dumps(table.key), "N", number)
    return [("APP", "T", "IUD", "REPL_CAP7", 0, "full", lost, status, 7, *columns)]


def layouts(*tables):
    return [(number, 7, "APP", "T", columns_text(one), json.dumps(one.key), "N") for number, one in tables]


def note(table):
    """A table as the function `definition` of the source describes it."""

    def cell(name, text):
        return f'<col name="{escape(name, {chr(34): "&quot;"})}"><![CDATA[{text}]]></col>'

    def fields(one):
        digits = ["" if number is None else str(number) for number in (one.length, one.precision, one.scale, one.chars)]
        used = {True: "C", False: "B"}[one.by_char]
        flags = [used, "N" if one.not_null else "Y", *("YES" if is_so else "NO" for is_so in (one.virtual, one.hidden))]
        return '"'.join([*digits, *flags, one.type_owner or "", one.type, one.default or ""])

    key = [cell(f'"key{place}', f'NOT DEFERRABLE"{name}') for place, name in enumerate(table.key, 1)]
    columns = [cell(one.name, fields(one)) for one in table.columns]
    return "".join([cell('"schema', table.name.schema), cell('"table', table.name.table), *key, *columns])
