"""Tables as the source keeps them: their columns as the catalog had them, from a key on (R7)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from sluice.errors import Unwatchable
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn

# How a flag stands in a column.
YES, NO = "Y", "N"


@dataclass(frozen=True)
class RecordedTable:
    """A table from a key on.

    Attributes:
        number: the key, which is the id of its layout.
    """

    number: int
    table: CapturedTable

    @property
    def layout(self) -> Layout:
        """Its columns with the log's types. Raises Unwatchable SLC-477."""
        return layout_of(self.table, self.number)

    @property
    def values(self) -> dict[str, object]:
        """The values of the statement that records it."""
        return {
            "layout": self.number,
            "relation": self.table.relation,
            "schema": self.table.name.schema,
            "name": self.table.name.table,
            "columns": columns_text(self.table),
            "key": json.dumps(self.table.key),
            "deferred": YES if self.table.deferrable else NO,
        }


def recorded(
    number: int, relation: int, schema: str, name: str, columns: str, key: str, deferred: str
) -> RecordedTable:
    """The table of a row of LAYOUTS."""
    found = tuple(OracleColumn(**one) for one in json.loads(columns))
    table = CapturedTable(TableName(schema, name), int(relation), found, tuple(json.loads(key)), deferred == YES)
    return RecordedTable(int(number), table)


def columns_text(table: CapturedTable) -> str:
    """The columns of a table, as LAYOUTS has them."""
    return json.dumps([asdict(one) for one in table.columns])


def layout_of(table: CapturedTable, number: int = 0) -> Layout:
    """The layout of a table.

    Raises:
        Unwatchable: SLC-477, a column cannot be replicated; a LONG cannot be without a key.
    """
    columns = tuple(
        # A LONG is read later than the change, and may not be there any more.
        Column(one.name, how.type, bool(one.not_null and how.literal), dropped=how.dropped)
        for one, how in zip(table.columns, table.kinds, strict=True)
    )
    places = {one.name: place for place, one in enumerate(table.columns)}
    key = tuple(places[name] for name in table.key if name in places)
    # A virtual column of a key is not replicated, and the rest of the key tells no rows apart.
    layout = Layout(number, table.name, columns, key if len(key) == len(table.key) else (), table.deferrable)
    if table.longs and not layout.key:
        raise Unwatchable(
            477,
            f"{table.name} has a LONG and no primary key: the image of a row that goes lacks the LONG, so nothing "
            "tells which row of a slave goes",
            "nothing was changed; give it a primary key, alter the LONG to a CLOB or a BLOB, or set `exclude` of the "
            "table",
        )
    return layout
