"""Tables of Oracle to make triggers for: one by one, and many at random."""

from __future__ import annotations

import random

from sluice import sqlfiles
from sluice.model.names import TableName
from sluice.vendors.oracle.capture.triggers import CapturedTable, for_ddl, statements
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.names import composed, parts_of, resources
from sluice.vendors.oracle.read.key_order import key_order
from sluice.vendors.oracle.read.rows import expressions
from sluice.vendors.oracle.session import pinning
from sluice.vendors.protocol.read import KeyRange

RESOURCES = resources(None, "REPL_")
PARTS = parts_of(RESOURCES)
INSTALL = sqlfiles.names("oracle", "capture/install")

# One column of every type that can be captured.
COLUMNS: dict[str, OracleColumn] = {
    "NUMBER": OracleColumn("C", "NUMBER"),
    "NUMBER(*,0)": OracleColumn("C", "NUMBER", scale=0),
    "NUMBER(4)": OracleColumn("C", "NUMBER", precision=4, scale=0),
    "NUMBER(9)": OracleColumn("C", "NUMBER", precision=9, scale=0),
    "NUMBER(18)": OracleColumn("C", "NUMBER", precision=18, scale=0),
    "NUMBER(38)": OracleColumn("C", "NUMBER", precision=38, scale=0),
    "NUMBER(10,2)": OracleColumn("C", "NUMBER", precision=10, scale=2),
    "NUMBER(2,5)": OracleColumn("C", "NUMBER", precision=2, scale=5),
    "NUMBER(5,-2)": OracleColumn("C", "NUMBER", precision=5, scale=-2),
    "FLOAT(126)": OracleColumn("C", "FLOAT", precision=126),
    "BINARY_DOUBLE": OracleColumn("C", "BINARY_DOUBLE", length=8),
    "BINARY_FLOAT": OracleColumn("C", "BINARY_FLOAT", length=4),
    "VARCHAR2(40 CHAR)": OracleColumn("C", "VARCHAR2", length=160, chars=40, by_char=True),
    "VARCHAR2(40 BYTE)": OracleColumn("C", "VARCHAR2", length=40, chars=40),
    "VARCHAR2(32767 BYTE)": OracleColumn("C", "VARCHAR2", length=32767, chars=32767),
    "NVARCHAR2(40)": OracleColumn("C", "NVARCHAR2", length=80, chars=40, by_char=True),
    "NVARCHAR2(16383)": OracleColumn("C", "NVARCHAR2", length=32766, chars=16383, by_char=True),
    "CHAR(5 CHAR)": OracleColumn("C", "CHAR", length=20, chars=5, by_char=True),
    "CHAR(5 BYTE)": OracleColumn("C", "CHAR", length=5, chars=5),
    "NCHAR(5)": OracleColumn("C", "NCHAR", length=10, chars=5, by_char=True),
    "DATE": OracleColumn("C", "DATE", length=7),
    "TIMESTAMP(6)": OracleColumn("C", "TIMESTAMP(6)", length=11, scale=6),
    "TIMESTAMP(9)": OracleColumn("C", "TIMESTAMP(9)", length=11, scale=9),
    "TIMESTAMP(6) WITH TIME ZONE": OracleColumn("C", "TIMESTAMP(6) WITH TIME ZONE", length=13, scale=6),
    "TIMESTAMP(9) WITH TIME ZONE": OracleColumn("C", "TIMESTAMP(9) WITH TIME ZONE", length=13, scale=9),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": OracleColumn("C", "TIMESTAMP(3) WITH LOCAL TIME ZONE", length=11, scale=3),
    "INTERVAL YEAR(2) TO MONTH": OracleColumn("C", "INTERVAL YEAR(2) TO MONTH", length=5, precision=2, scale=0),
    "INTERVAL DAY(2) TO SECOND(6)": OracleColumn("C", "INTERVAL DAY(2) TO SECOND(6)", length=11, precision=2, scale=6),
    "INTERVAL DAY(9) TO SECOND(9)": OracleColumn("C", "INTERVAL DAY(9) TO SECOND(9)", length=11, precision=9, scale=9),
    "RAW(16)": OracleColumn("C", "RAW", length=16),
    "RAW(32767)": OracleColumn("C", "RAW", length=32767),
    "LONG": OracleColumn("C", "LONG", length=0),
    "LONG RAW": OracleColumn("C", "LONG RAW", length=0),
    "CLOB": OracleColumn("C", "CLOB", length=4000),
    "NCLOB": OracleColumn("C", "NCLOB", length=4000),
    "BLOB": OracleColumn("C", "BLOB", length=4000),
    "XMLTYPE": OracleColumn("C", "XMLTYPE", type_owner="SYS", length=2000),
    "JSON": OracleColumn("C", "JSON", length=8200),
    "BOOLEAN": OracleColumn("C", "BOOLEAN", length=1),
    "ROWID": OracleColumn("C", "ROWID", length=10),
    "UROWID": OracleColumn("C", "UROWID", length=4000),
}
_SIGNS = " 'ÄÖß€.,;:-+/%{}[]()&<>!?#$_0123456789ABCXYZabcxyz漢😀"
_WORDS = ("SELECT", "NUMBER", "new", "OLD", "it's", "A B", "x" * 128, "Ü" * 64, ":NEW", "{name}", "--", "/", "p1_")


def table(seed: int) -> CapturedTable:
    """A table at random, always the same for a number."""
    chance = random.Random(seed)
    names = list(dict.fromkeys(_name(chance) for _ in range(chance.choice([1, 2, 3, 5, 8, 13]))))
    kinds = list(COLUMNS.values())
    columns: list[OracleColumn] = []
    for name in names:
        like = chance.choice([one for one in kinds if not (one.type.startswith("LONG") and _has_long(columns))])
        columns.append(_called(like, name))
    if all(one.type.startswith("LONG") for one in columns):
        columns.append(OracleColumn("PLAIN", "NUMBER"))
    keyed = [one.name for one in columns if not (one.type.startswith("LONG") or one.type.endswith("LOB"))]
    key = tuple(chance.sample(keyed, min(len(keyed), chance.randint(0, 3))))
    return CapturedTable(TableName(_name(chance), _name(chance)), chance.randint(1, 10**9), tuple(columns), key)


def made_for(one: CapturedTable, seed: int) -> list[str]:
    """The statements of the triggers of such a table."""
    chance = random.Random(seed)
    actions = chance.choice(["I", "U", "D", "IU", "ID", "UD", "IUD"])
    how = chance.choice(["full", "key"])
    made = statements(RESOURCES, PARTS, one, actions, old_images=how, debug=chance.randint(0, 1))
    return made if seed % 10 else [*made, *for_ddl(RESOURCES, PARTS, one.name.schema, seed)]


def installed() -> dict[str, str]:
    """Every statement but those of triggers, by the name of its file."""
    folders = ("capture/once", "catalog", "capture/grants", "grants")
    others = [name for folder in folders for name in sqlfiles.names("oracle", folder)]
    filled = {"user": '"REPL"', "table_space": '"USERS"', "table": '"APP"."T"'}
    made = {name: composed(name, **PARTS, **filled) for name in (*INSTALL, *others, "session/settings")}
    return made | {"session/pin": pinning()} | running()


def running() -> dict[str, str]:
    """Every statement of a source that is at work, by the name of its file."""
    folders = ("registry", "watch", "queue", "remove", "statements")
    names = [name for folder in folders for name in sqlfiles.names("oracle", f"capture/{folder}")]
    filled = {
        "table": '"APP"."T"',
        "values": 'kept."L", kept."ID"',
        "kind": "FUNCTION",
        "mode": "EXCLUSIVE",
        "name": '"REPL"."REPL_IMG1"',
    }
    filled |= {"parts": "4", "percent": "0.500000", "trigger": '"REPL"."REPL_CAP7"', "becomes": '"MINE"'}
    conditions = ("read/from_row", "read/to_row")
    filled["within"] = " ".join(composed(piece) for piece in conditions)
    columns = tuple(_called(COLUMNS[kind], name) for name, kind in (("A", "RAW(16)"), ("B", "CLOB"), ("C", "BLOB")))
    kinds = CapturedTable(TableName("APP", "T"), 1, columns).kinds
    filled["columns"] = expressions([f'source."{one.name}"' for one in columns], kinds, PARTS)
    pieces = (*conditions, "read/empty_long")
    wholes = [name for name in sqlfiles.names("oracle", "read") if name not in pieces]
    made = {name: composed(name, **PARTS, **filled, sorted="", taken="") for name in (*names, *wholes)}
    return made | by_keys()


def by_keys() -> dict[str, str]:
    """The statements that read by ranges of keys, of a key with a column of each type that one may have."""
    kinds = ("NUMBER(9)", "VARCHAR2(40 CHAR)", "NVARCHAR2(40)", "DATE", "TIMESTAMP(9)", "RAW(16)")
    columns = tuple(_called(COLUMNS[kind], f"K{place}") for place, kind in enumerate(kinds))
    table_ = CapturedTable(TableName("APP", "T"), 1, columns, tuple(one.name for one in columns))
    order = key_order(table_)
    assert order
    keys = ("7", "a'b", "\u6f22\\", "0044-03-15 00:00:00 BC", "2024-02-29 12:00:00.5", "\\x00ff")
    within = order.bounds(KeyRange(0, table_.name, order.sign, reached=keys, until=keys[:2]))
    filled = {"columns": expressions(order.names, order.kinds, PARTS), "table": '"APP"."T"', "sorted": order.sorted}
    filled |= {"within": within.condition, "taken": 'piece."C0", piece."C1"', "parts": "4", "percent": "0.500000"}
    return {name: composed(name, **filled) for name in ("read/end", "read/key_cuts")}


def _has_long(columns: list[OracleColumn]) -> bool:
    return any(one.type.startswith("LONG") for one in columns)


def _called(column: OracleColumn, name: str) -> OracleColumn:
    return OracleColumn(**{**vars(column), "name": name})


def _name(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(_WORDS)
    return "".join(chance.choice(_SIGNS) for _ in range(chance.randint(1, 12)))
