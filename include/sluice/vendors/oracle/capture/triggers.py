"""The triggers of a source: one for each watched table, with a function that makes images of its rows, and two for the
DDL of each schema that has watched tables. They are made from the templates in `sql/oracle/capture/trigger`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.errors import SluiceError, Unwatchable
from sluice.model.names import TableName
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.names import OracleResources, composed, literal, qualified, quoted
from sluice.vendors.oracle.types import Captured, NotCaptured, captured

# The most bytes of a trigger, and parameters of a function (PL/SQL Language Reference, "PL/SQL Program Limits").
_LONGEST = 32_760
_MOST_COLUMNS = 1_000
_EVENTS = {"I": "INSERT", "U": "UPDATE", "D": "DELETE"}
# Types of keys whose equality is that of their bytes, and how they are compared so.
_COMPARED = {"NUMBER": "{0}", "DATE": "{0}", "RAW": "{0}"}
_AS_BYTES = ("CHAR", "VARCHAR2", "NCHAR", "NVARCHAR2")


@dataclass(frozen=True)
class CapturedTable:
    """A table whose changes are captured.

    Attributes:
        relation: its number in the catalog.
        columns: those that images list: no computed ones.
        key: the names of its primary key's columns.
        deferrable: the key may be checked late.
    """

    name: TableName
    relation: int
    columns: tuple[OracleColumn, ...]
    key: tuple[str, ...] = ()
    deferrable: bool = False

    @property
    def kinds(self) -> list[Captured]:
        """How each column is captured. Raises Unwatchable SLC-477 for one that cannot be."""
        found = []
        for column in self.columns:
            how = captured(column)
            if isinstance(how, NotCaptured):
                raise Unwatchable(
                    477,
                    f"the column {column.name} of {self.name} cannot be replicated: {how.why}",
                    "nothing was changed; set `exclude` of the table, or move the column to a table of its own",
                )
            found.append(how)
        return found

    @property
    def longs(self) -> list[str]:
        """Its columns that no trigger can read."""
        return [column.name for column, how in zip(self.columns, self.kinds, strict=True) if not how.literal]


def statements(
    resources: OracleResources,
    parts: Mapping[str, str],
    table: CapturedTable,
    actions: str,
    *,
    trigger: str | None = None,
    old_images: str = "full",
    debug: int = 0,
    second: bool = False,
) -> list[str]:
    """What makes the image function of a table and then its trigger.

    Args:
        second: make the second of its two functions, since the trigger that is there calls the first one. That stays as
            it is until the new one is there, so that no statement of the application fails in between (R9).

    Raises:
        SluiceError: SLC-477, a column cannot be captured; there are too many of them.
    """
    name = TableName(resources.schema, trigger or resources.capture(table.relation))
    image = qualified(resources.image(table.relation, second=second))
    body = composed(
        "capture/trigger/compound",
        **parts,
        trigger=qualified(name),
        table=qualified(table.name),
        events=" OR ".join(_EVENTS[one] for one in actions),
        branches="\n        ".join(_branches(image, table, actions, old_images)),
        debugging=_debugging(parts, table) if debug else "",
        table_name=literal(table.name.table),
        schema_name=literal(table.name.schema),
        relation=str(table.relation),
    )
    if len(body.encode()) > _LONGEST or len(table.columns) > _MOST_COLUMNS:
        raise SluiceError(
            477,
            f"the trigger of {table.name} would have {len(body.encode())} bytes, for {len(table.columns)} columns; the "
            f"server takes {_LONGEST}",
            "nothing was changed; set `exclude` of the table, or divide it",
        )
    return [_image(image, parts, table), body]


def for_ddl(resources: OracleResources, parts: Mapping[str, str], schema: str, number: int) -> list[str]:
    """What makes the triggers for the DDL of a schema, which is the user of that number."""
    most, drops = resources.ddl(number)
    return [
        composed(f"capture/trigger/{template}", **parts, trigger=qualified(name), schema=quoted(schema))
        for template, name in (("ddl", most), ("drops", drops))
    ]


def _image(image: str, parts: Mapping[str, str], table: CapturedTable) -> str:
    parameters, pieces = [], []
    for number, (column, how) in enumerate(zip(table.columns, table.kinds, strict=True), 1):
        if how.literal:
            piece = how.literal.format(**{**parts, "name": literal(column.name), "value": f"p{number}_"})
            parameters.append(f"p{number}_ IN {how.parameter}")
            append = parts["append_long" if how.is_long else "append"]
            pieces.append(f"{append}(image_, buffer_, {piece});")
    if not pieces:
        raise SluiceError(
            477,
            f"{table.name} has nothing but a LONG, which no trigger can read",
            "nothing was changed; set `exclude` of the table, or alter the column to a CLOB",
        )
    return composed(
        "capture/trigger/image",
        **parts,
        image=image,
        parameters=",\n    ".join(parameters),
        pieces="\n    ".join(pieces),
    )


def _branches(image: str, table: CapturedTable, actions: str, old_images: str) -> list[str]:
    sides = {"new": _call(image, table, ":NEW"), "old": _call(image, table, ":OLD")}
    guid = "ROWIDTOCHAR(:NEW.ROWID)" if table.longs else "NULL"
    same_key = _same_key(table) if old_images == "key" else None
    templates = {"I": "inserting", "U": "updating_by_key" if same_key else "updating", "D": "deleting"}
    return [
        composed(f"capture/trigger/{templates[one]}", **sides, guid=guid, same_key=same_key or "") for one in actions
    ]


def _call(image: str, table: CapturedTable, side: str) -> str:
    values = [
        f"{side}.{quoted(column.name)}" for column, how in zip(table.columns, table.kinds, strict=True) if how.literal
    ]
    return f"{image}({', '.join(values)})"


def _same_key(table: CapturedTable) -> str | None:
    """Whether an update left the key as it was; None if that cannot be told by bytes."""
    by_name = {column.name: column for column in table.columns}
    compared = []
    for name in table.key:
        column = by_name.get(name)
        if column is None or not (column.type in _COMPARED or column.type in _AS_BYTES):
            return None
        old, new = (f"{side}.{quoted(name)}" for side in (":OLD", ":NEW"))
        if column.type in _AS_BYTES:
            # Not as the session's NLS_COMP compares texts.
            old, new = (f"UTL_I18N.STRING_TO_RAW({one}, 'AL32UTF8')" for one in (old, new))
        compared.append(f"{old} = {new}")
    return " AND ".join(compared) or None


def _debugging(parts: Mapping[str, str], table: CapturedTable) -> str:
    return "\n        " + composed("capture/trigger/debugging", **parts, table_name=literal(table.name.table))
