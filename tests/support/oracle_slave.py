"""A slave on Oracle whose server answers from a list, and every statement of one, to the letter."""

from __future__ import annotations

import re
from dataclasses import replace

from oracledb import errors as driver
from support.oracle_session import INFO, RecordedSession

from sluice import sqlfiles
from sluice.config.mapper import Mapper
from sluice.model.layout import Column, Layout
from sluice.model.names import Pair, TableName
from sluice.vendors.oracle import fence, slave
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable, making, names_of, table_of
from sluice.vendors.oracle.load import tables
from sluice.vendors.oracle.names import composed, literal, qualified
from sluice.vendors.oracle.read import compare
from sluice.vendors.oracle.read.slave_rows import selecting
from sluice.vendors.oracle.slave import OracleSlave
from sluice.vendors.oracle.statements.dialect import OracleDialect
from sluice.vendors.oracle.statements.execution import asking
from sluice.vendors.oracle.write.writer import alike_of, parts_of, staged_columns
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Select
from sluice.vendors.portable.type_check import fitted

PAIR = Pair("sales", "depot")
SCHEMA = "REPL"
PARTS = fence.our_tables(SCHEMA)
NAME = TableName("APP", "T")
STAGE = '"ORA$PTT_SLUICE_0"'
LAYOUT = Layout(
    7,
    NAME,
    (
        Column("id", "integer", not_null=True),
        Column("note", "text"),
        Column("label", "character varying(9)"),
        Column("at", "timestamp with time zone"),
        Column("day", "date"),
        Column("image", "bytea"),
    ),
    (0,),
)
UNKEYED = Layout(8, TableName("APP", "U"), LAYOUT.columns)
IMAGE = ["1", "a long text", "x", "2024-02-29 12:00:00.5+00", "2024-02-29", "\\x0a"]
# What the catalog says of the table that is made for the layout.
COLUMNS = [
    ("id", "NUMBER", None, 22, 10, 0, 0, None, "N", "NO", "NO"),
    ("note", "CLOB", None, 4000, None, None, 0, None, "Y", "NO", "NO"),
    ("label", "VARCHAR2", None, 36, None, None, 9, "C", "Y", "NO", "NO"),
    ("at", "TIMESTAMP(6) WITH TIME ZONE", None, 13, None, 6, 0, None, "Y", "NO", "NO"),
    ("day", "DATE", None, 7, None, None, 0, None, "Y", "NO", "NO"),
    ("image", "BLOB", None, 4000, None, None, 0, None, "Y", "NO", "NO"),
]

# A statement that somebody issues, and how a slave executes it.
SEEN = TableName("REPL", "o")
COLUMNS_ISSUED = {
    "id": "integer",
    "n": "numeric(9,2)",
    "v": "character varying(9)",
    "w": "text",
    "b": "boolean",
    "d": "date",
    "at": "timestamp(3) without time zone",
    "zone": "timestamp with time zone",
}
_TOLD = (
    """CASE WHEN DBMS_LOB.GETLENGTH("w") <> DBMS_LOB.GETLENGTH(TO_CLOB('x')) THEN 1 WHEN DBMS_LOB.GETLENGTH("w") = 0 """
    """AND DBMS_LOB.GETLENGTH(TO_CLOB('x')) = 0 THEN 0 ELSE DBMS_LOB.COMPARE("w", TO_CLOB('x')) END"""
)
_DIGITS = "'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''"
ISSUED = {
    "UPDATE t SET n = n * 2 - -1.25, v = 'it''s', b = FALSE WHERE b AND NOT v = 'A' OR w <> 'x'": [
        """UPDATE "REPL"."o" SET "n" = (("n" * 2) - (-1.25)), "v" = 'it''s', "b" = 0 """
        f"""WHERE ((("b" = 1) AND (NOT ("v" = 'A'))) OR ({_TOLD} <> 0))"""
    ],
    "UPDATE t SET d = '2024-02-29', at = '2024-01-01 00:00:00.5', zone = '2024-01-01 23:59:59.5+00', w = NULL": [
        """UPDATE "REPL"."o" SET "d" = DATE '2024-02-29', "at" = TIMESTAMP '2024-01-01 00:00:00.5', """
        """"zone" = TIMESTAMP '2024-01-01 23:59:59.5 +00:00', "w" = NULL"""
    ],
    "DELETE FROM t WHERE n NOT BETWEEN 1 AND 2.5 AND w IS NOT NULL AND id IN (1, -2)": [
        """DELETE FROM "REPL"."o" WHERE (((NOT (("n" >= 1) AND ("n" <= 2.5))) AND (NOT ("w" IS NULL))) """
        """AND ("id" IN (1, (-2))))"""
    ],
    "SELECT count(*), count(w), sum(n) AS total, min(d) FROM t WHERE b": [
        f"""SELECT TO_CHAR(COUNT(*), {_DIGITS}) AS "C0", TO_CHAR(COUNT(CASE WHEN held."w" IS NOT NULL THEN 1 END), """
        f"""{_DIGITS}) AS "C1", TO_CHAR(SUM(held."n"), {_DIGITS}) AS "C2", """
        """TO_CHAR(MIN(held."d"), 'SYYYY-MM-DD HH24:MI:SS') AS "C3" FROM "REPL"."o" held WHERE ("b" = 1)"""
    ],
    "TRUNCATE t": ["""DELETE FROM "REPL"."o\""""],
    "INSERT INTO t (v, id, n, w, b, d, at, zone) VALUES ('a', 1, 0.5, 'b', TRUE, '2024-02-29', '2024-01-01', "
    "'2024-01-01'), (NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL)": [
        """INSERT INTO "REPL"."o" ("v", "id", "n", "w", "b", "d", "at", "zone") VALUES ('a', 1, 0.5, 'b', 1, """
        """DATE '2024-02-29', TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-01 00:00:00 +00:00')""",
        """INSERT INTO "REPL"."o" ("v", "id", "n", "w", "b", "d", "at", "zone") VALUES """
        """(NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL)""",
    ],
}


def spoken(text: str) -> list[str]:
    """The statements that execute one."""
    layout = Layout(1, TableName("public", "t"), tuple(Column(*one) for one in COLUMNS_ISSUED.items()), (0,))
    found, words = fitted(portable(text, "public"), layout), OracleDialect({"w"})
    if isinstance(found, Select):
        return [asking(words, table_of(replace(layout, name=SEEN)), found)[0]]
    return list(words.statements(found, SEEN))


def issued() -> dict[str, str]:
    """All of them, each under a name."""
    return {f"issued {text} {number}": one for text in ISSUED for number, one in enumerate(spoken(text))}


def statements() -> dict[str, str]:
    """Every statement of a slave for one table, by the name of its file."""
    table = table_of(LAYOUT)
    alike = alike_of(table_of(UNKEYED), IMAGE)[0]
    insert = {"columns": names_of(table.names), "places": ", ".join(_places(table))}
    filled = {
        **PARTS,
        **parts_of(table, STAGE),
        "alike": alike,
        "held": "SKIP LOCKED",
        "user": '"REPL"',
        "table_space": '"USERS"',
    }
    own = {
        "write/insert": insert,
        "write/stage": {"columns": staged_columns(table)},
        "load/drop": {"kind": "VIEW", "name": '"APP"."V"'},
        "load/drop_key": {"key": '"T_KEY"'},
        "ddl/add": {"columns": '"n" NUMBER(9,2) DEFAULT 1.50 NOT NULL, "d" DATE DEFAULT DATE \'2024-02-29\' NULL'},
        "ddl/modify": {"columns": '"label" VARCHAR2(20 CHAR) NOT NULL, "n" NULL, "d" DEFAULT NULL'},
        "ddl/set_unused": {"columns": '"day", "image"'},
        "ddl/add_key": {"columns": '"id", "label"'},
        "ddl/rename_column": {"column": '"label"', "becomes": '"it\'s"'},
        "ddl/convert": {
            "assigned": '"SLUICE_ON_THE_WAY_0" = "label"',
            "statement": literal(composed("ddl/set_unused", table='"APP"."T"', columns='"label"')),
        },
        "ddl/rename": {"becomes": '"ORDER"'},
        "load/apart": {"statement": literal(composed("load/drop", kind="VIEW", name='"APP"."IT\'S"'))},
    }
    folders = ("position", "load", "write", "grants", "compare", "ddl")
    # Without a piece of another.
    names = [name for one in folders for name in sqlfiles.names("oracle", one) if name != "write/becomes"]
    wholes = {"write/make": making(table), "compare/rows": selecting(table)}
    made = {name: composed(name, **{**filled, **own.get(name, {})}) for name in names if name not in wholes}
    others = {f"catalog/{name}": composed(f"catalog/{name}") for name in ("obstacles", "character_set", "references")}
    return made | others | wholes


def _places(table: SlaveTable) -> list[str]:
    return [one.taken(f":{number + 1}") for number, one in enumerate(table.columns)]


class SlaveSession(RecordedSession):
    """It refuses, as the driver does, a place without a value, and a value without a place."""

    def answer(self, statement, values):
        places = set(re.findall(r":([a-z]\w*)", re.sub(r"'[^']*'", "", statement)))
        assert not isinstance(values, dict) or set(values) == places, (statement, values)
        return super().answer(statement, values)


def server(**answers) -> RecordedSession:
    """A session that answers so; names of files have two lines for a slash."""
    at_rest = {
        "catalog/character_set": [("AL32UTF8",)],
        "catalog/columns": lambda values: COLUMNS if values["name"] in ("T", "U") else [],
        "catalog/primary_key": lambda values: [("id", "NOT DEFERRABLE")] if values["name"] == "T" else [],
        "catalog/obstacles": [],
        "position/user": [(SCHEMA,)],
        "position/tables": [("SLUICE_POSITION",), ("SLUICE_LOADED",), ("SLUICE_INTENT",)],
        "position/lock": [(5, 2, 40, None)],
        "position/epoch": [(5,)],
        "position/holders": [],
        "position/advance": 1,
        "ddl/intended": [],
        "compare/intended": [],
        "capture/queue/scn": [("900",)],
        "catalog/rights": [("CREATE TABLE",)],
        "catalog/room": [(1,)],
    }
    texts = {text: name for name, text in statements().items()}
    texts |= {
        composed(name): name
        for name in (
            *("catalog/columns", "catalog/primary_key", "catalog/table", "catalog/rights", "catalog/room"),
            "capture/queue/scn",
        )
    }
    texts[composed("write/empty", table=STAGE)] = "write/empty of the stage"
    texts[composed("capture/queue/commit_durably")] = "durable commit"
    texts[composed("load/claim", **PARTS, held="WAIT 600")] = "load/claim, waiting"
    texts[selecting(table_of(UNKEYED))] = "compare/rows"
    texts |= {composed("write/hold", table=qualified(UNKEYED.name)): "write/hold of U"}
    given = {name.replace("__", "/"): answer for name, answer in answers.items()}
    return SlaveSession(at_rest | given, texts)


def refused(code, message):
    """An error of a row, as the driver keeps it."""
    found = driver._Error(message, offset=1)
    assert found.full_code == code
    return found


def depot(monkeypatch, mapper: Mapper | None = None, schema: str = SCHEMA, **answers):
    """The slave, and the session that its parts share."""
    session = server(**answers)
    for module in (slave, tables, compare):
        monkeypatch.setattr(module, "connect", lambda info, application: session)
    return session, OracleSlave(INFO, PAIR, schema, mapper or Mapper({}, {}))
