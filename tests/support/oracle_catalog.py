"""The catalog of a slave on Oracle: what becomes of it by each form of DDL of ours, and what the manual refuses.

Source: SQL Language Reference, "CREATE TABLE", "ALTER TABLE", "DROP TABLE"; Database Error Messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import oracledb
from oracledb import errors

from sluice.vendors.oracle.names import composed

_LARGE = ("CLOB", "BLOB")
_QUOTED = r'"([^"]+)"'
_NAME = rf"{_QUOTED}\.{_QUOTED}"
_DEFINED = re.compile(
    rf"{_QUOTED}(?: (?P<kind>[A-Z_0-9]+(?:\([^)]*\))?(?: WITH TIME ZONE)?))??(?: DEFAULT (?P<default>.+?))?"
    r"(?P<null> NOT NULL| NULL)?",
    re.DOTALL,
)


def refuse(said: str) -> oracledb.DatabaseError:
    """An error in the driver's own class."""
    return oracledb.DatabaseError(errors._Error(said))


@dataclass
class Column:
    """One column; `value`: the default that rows of before have in it."""

    kind: str
    not_null: bool = False
    value: str | None = None


@dataclass
class Table:
    """One table; `has_rows`: rows are in it."""

    columns: dict[str, Column]
    key: list[str] = field(default_factory=list)
    has_rows: bool = False


class Catalog:
    """The tables of one schema. `done`: the statements that were carried out."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.tables: dict[str, Table] = {}
        self.done: list[str] = []

    def answer(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
        """The rows of a query of ours on the catalog; None if it is another one."""
        if statement not in _QUERIES:
            return None
        table = self.tables.get(values["name"]) if values["schema"] == self.schema else None
        return _QUERIES[statement](table) if table else []

    def define(self, statement: str) -> None:
        """Carry out one statement as a whole, or refuse it."""
        self._carry_out(statement)
        self.done.append(statement)

    def _carry_out(self, statement: str) -> None:
        for form, carry_out in _FORMS.items():
            if found := re.fullmatch(form, statement, re.DOTALL):
                carry_out(self, *found.groups())
                return
        raise refuse(f"ORA-00900: invalid SQL statement: {statement}")

    def _convert(self, schema: str, name: str, assigned: str, statement: str) -> None:
        for one in re.findall(r'"([^"]+)"', assigned):
            _column(self._table(name), one)
        self._carry_out(statement.replace("''", "'"))

    def _create(self, schema: str, name: str, body: str) -> None:
        if name in self.tables:
            raise refuse("ORA-00955: name is already used by an existing object")
        parts = split(body)
        key = re.fullmatch(r"PRIMARY KEY \((.*)\)", parts[-1]) if parts else None
        table = Table({})
        for part in parts[:-1] if key else parts:
            _added(table, part)
        if key:
            table.key = [one.strip('"') for one in split(key[1])]
        self.tables[name] = table

    def _drop(self, schema: str, name: str) -> None:
        self._table(name)
        del self.tables[name]

    def _add(self, schema: str, name: str, body: str) -> None:
        for part in split(body):
            _added(self._table(name), part)

    def _modify(self, schema: str, name: str, body: str) -> None:
        table = self._table(name)
        for part in split(body):
            found = _defined(part)
            column = _column(table, found[1])
            if kind := found["kind"]:
                _expect_modifiable(table, column.kind, kind)
                column.kind = kind
            if found["null"]:
                wanted = found["null"] == " NOT NULL"
                # A primary key makes a column NOT NULL, too.
                if wanted == (column.not_null or (wanted and found[1] in table.key)):
                    raise refuse(
                        "ORA-01442: is already NOT NULL" if wanted else "ORA-01451: cannot be modified to NULL"
                    )
                column.not_null = wanted

    def _set_unused(self, schema: str, name: str, body: str) -> None:
        table = self._table(name)
        for one in split(body):
            _column(table, one.strip('"'))
            if one.strip('"') in table.key and len(table.key) > 1:
                raise refuse("ORA-12991: column is referenced in a multi-column constraint")
            del table.columns[one.strip('"')]
            table.key = [key for key in table.key if key != one.strip('"')]
        if not table.columns:
            raise refuse("ORA-12983: cannot drop all columns in a table")

    def _rename_column(self, schema: str, name: str, column: str, becomes: str) -> None:
        table = self._table(name)
        _column(table, column)
        if becomes in table.columns:
            raise refuse("ORA-00957: duplicate column name")
        table.columns[becomes] = table.columns.pop(column)
        table.key = [becomes if one == column else one for one in table.key]

    def _rename(self, schema: str, name: str, becomes: str) -> None:
        self._table(name)
        if becomes in self.tables:
            raise refuse("ORA-00955: name is already used by an existing object")
        self.tables[becomes] = self.tables.pop(name)

    def _drop_key(self, schema: str, name: str) -> None:
        if not self._table(name).key:
            raise refuse("ORA-02441: Cannot drop nonexistent primary key")
        self._table(name).key = []

    def _add_key(self, schema: str, name: str, body: str) -> None:
        table = self._table(name)
        if table.key:
            raise refuse("ORA-02260: table can have only one primary key")
        table.key = [one.strip('"') for one in split(body)]
        if any(_column(table, one).kind in _LARGE for one in table.key):
            raise refuse("ORA-02329: column of datatype LOB cannot be unique or a primary key")

    def _table(self, name: str) -> Table:
        if name not in self.tables:
            raise refuse("ORA-00942: table or view does not exist")
        return self.tables[name]


def split(body: str) -> list[str]:
    """The parts between commas that are in no brackets and in no quotes."""
    parts, depth, quote = [""], 0, ""
    for sign in body:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        depth += 0 if quote else (sign == "(") - (sign == ")")
        if sign == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [one.strip() for one in parts]


def _defined(part: str) -> re.Match[str]:
    found = _DEFINED.fullmatch(part)
    if not found:
        raise refuse(f"ORA-00907: missing right parenthesis: {part}")
    return found


def _added(table: Table, part: str) -> None:
    found = _defined(part)
    if not found["kind"]:
        raise refuse("ORA-02263: need to specify the datatype for this column")
    if found[1] in table.columns:
        raise refuse("ORA-01430: column being added already exists in table")
    not_null = found["null"] == " NOT NULL"
    if not_null and table.has_rows and not found["default"]:
        raise refuse("ORA-01758: table must be empty to add mandatory (NOT NULL) column")
    table.columns[found[1]] = Column(found["kind"], not_null, found["default"])


def _column(table: Table, name: str) -> Column:
    if name not in table.columns:
        raise refuse(f'ORA-00904: "{name}": invalid identifier')
    return table.columns[name]


def _expect_modifiable(table: Table, was: str, becomes: str) -> None:
    if was != becomes and (was in _LARGE or becomes in _LARGE):
        raise refuse("ORA-22858: invalid alteration of datatype")
    before, after = (re.fullmatch(r"(\w+)\((\d+)(?:,(\d+)| CHAR)?\)", one) for one in (was, becomes))
    if not table.has_rows or was == becomes:
        return
    if not (before and after and before[1] == after[1]):
        raise refuse("ORA-01439: column to be modified must be empty to change datatype")
    sizes = [(int(one[2]), int(one[3] or 0)) for one in (before, after)]
    (digits, scale), (more, finer) = sizes
    if finer < scale or more - finer < digits - scale:
        raise refuse("ORA-01440: column to be modified must be empty to decrease precision or scale")


def _columns(table: Table) -> list[tuple[Any, ...]]:
    """Rows of `catalog/columns`."""
    rows: list[tuple[Any, ...]] = []
    for name, one in table.columns.items():
        found = re.fullmatch(r"(NUMBER|VARCHAR2)\((\d+)(?:,(\d+)| CHAR)\)", one.kind)
        nullable = "N" if one.not_null or name in table.key else "Y"
        precision = scale = used = None
        chars, kind = 0, one.kind
        if found and found[1] == "NUMBER":
            kind, precision, scale = found[1], int(found[2]), int(found[3])
        elif found:
            kind, chars, used = found[1], int(found[2]), "C"
        rows.append((name, kind, None, 22, precision, scale, chars, used, nullable, "NO", "NO"))
    return rows


def _not_null(table: Table) -> list[tuple[Any, ...]]:
    return [(f'"{name}" IS NOT NULL',) for name, one in table.columns.items() if one.not_null]


def _key(table: Table) -> list[tuple[Any, ...]]:
    return [(name, "NOT DEFERRABLE") for name in table.key]


def _object(table: Table) -> Sequence[Any]:
    return [(7, "N", "NO", "NO")]


_QUERIES: Mapping[str, Any] = {
    composed("catalog/columns"): _columns,
    composed("catalog/primary_key"): _key,
    composed("catalog/table"): _object,
    composed("ddl/not_null"): _not_null,
}
_FORMS = {
    rf"BEGIN\s+UPDATE {_NAME} SET (.*?);\s+EXECUTE IMMEDIATE '(.*)';\s+END;": Catalog._convert,
    rf"CREATE TABLE {_NAME} \((.*)\)": Catalog._create,
    rf"DROP TABLE {_NAME}": Catalog._drop,
    rf"ALTER TABLE {_NAME} ADD PRIMARY KEY \((.*)\)": Catalog._add_key,
    rf"ALTER TABLE {_NAME} DROP PRIMARY KEY": Catalog._drop_key,
    rf"ALTER TABLE {_NAME} SET UNUSED \((.*)\)": Catalog._set_unused,
    rf"ALTER TABLE {_NAME} RENAME COLUMN {_QUOTED} TO {_QUOTED}": Catalog._rename_column,
    rf"ALTER TABLE {_NAME} RENAME TO {_QUOTED}": Catalog._rename,
    rf"ALTER TABLE {_NAME} ADD \((.*)\)": Catalog._add,
    rf"ALTER TABLE {_NAME} MODIFY \((.*)\)": Catalog._modify,
}
