"""The columns of a slave's table after an ALTER: as parts of one statement, and as the catalog shows them then."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.tables import SlaveTable, names_of
from sluice.vendors.mariadb.session import quoted
from sluice.vendors.mariadb.types import LONGTEXT, Form, Stored
from sluice.vendors.planned_ddl import Rows
from sluice.vendors.protocol.ddl_errors import unknown_values

_LONG = (LONGTEXT, "longblob")
# What the server makes of these in a column of texts is the canonical text.
_AS_TEXT = {Form.NUMBER, Form.TEXT}


def described(columns: Iterable[Stored], key: Sequence[str]) -> Rows:
    """Columns of a table that is made so, in the catalog's words.

    For each its name, type, collation, whether it may be NULL, what else it is, and its place in the primary key.
    """
    return sorted(
        [
            one.column.name,
            one.type,
            one.collation,
            "NO" if one.column.not_null or one.column.name in key else "YES",
            "",
            str(key.index(one.column.name) + 1) if one.column.name in key else None,
        ]
        for one in columns
    )


class Alteration:
    """One table on its way from one definition to another.

    Args:
        rows: the columns that it has.
        twins: for each column of `after` the name that it has now; None if it is new.
    """

    def __init__(
        self, table: TableName, rows: Rows, twins: Sequence[str | None], before: SlaveTable, after: SlaveTable
    ) -> None:
        self._table = table
        self._there = {str(row[0]): row for row in rows}
        self._twins = twins
        self._before, self._after = before, after
        self._text = (LONGTEXT, after.server.collation)
        stays = {twin: one.column.name for one, twin in zip(after.columns, twins, strict=True) if twin}
        held = sorted((row for row in rows if row[5]), key=lambda row: int(str(row[5])))
        self._key_stays = [stays.get(one) for one in before.key] == [*after.key]
        # The slave may have the columns of its key in another order.
        self._key = [stays[str(row[0])] for row in held] if self._key_stays else [*after.key]

    def parts(self, filled: Mapping[str, str]) -> list[str]:
        """The parts of the statement.

        Args:
            filled: new columns with the value that rows have in them, as a literal.
        """
        parts = []
        if not self._key_stays and self._before.key:
            parts.append("DROP PRIMARY KEY")
        parts += [f"DROP COLUMN {quoted(name)}" for name in self._there if name not in self._twins]
        for one, twin in zip(self._after.columns, self._twins, strict=True):
            row = self._row(one, twin)
            declared = f"{quoted(one.column.name)} {row[1]}{f' COLLATE {row[2]}' if row[2] else ''} "
            declared += "NOT NULL" if row[3] == "NO" else "NULL"
            if twin is None:
                value = filled.get(one.column.name)
                if value is not None and row[1] in _LONG and not self._after.server.has_long_defaults:
                    value = f"({value})"
                parts.append(f"ADD COLUMN {declared}{'' if value is None else f' DEFAULT {value}'}")
            elif row[:5] != self._there[twin][:5]:
                parts.append(f"CHANGE COLUMN {quoted(twin)} {declared}")
        if not self._key_stays and self._after.key:
            parts.append(f"ADD PRIMARY KEY ({names_of(self._key)})")
        return parts

    def becomes(self) -> Rows:
        """The columns after it."""
        return sorted(self._row(one, twin) for one, twin in zip(self._after.columns, self._twins, strict=True))

    def expect_known(self, filled: Collection[str]) -> None:
        """See that its rows have values that are known from here on. Raises SluiceError SLC-140."""
        was = {one.column.name: one for one in self._before.columns}
        for one, twin in zip(self._after.columns, self._twins, strict=True):
            name, row = one.column.name, self._row(one, twin)
            if twin is None:
                if one.column.not_null and name not in filled:
                    why = f"{name} is new and NOT NULL, and the command says no value for it"
                    raise unknown_values(self._table, why)
            elif row[1:3] != self._there[twin][1:3]:
                form = Form.TEXT if self._is_as_text(twin) else was[twin].form
                if form is not one.form and not (tuple(row[1:3]) == self._text and form in _AS_TEXT):
                    raise unknown_values(self._table, f"{name} was a {self._there[twin][1]}, and becomes a {row[1]}")

    def _row(self, one: Stored, twin: str | None) -> list[str | None]:
        """A column after it, in the catalog's words. It stays as somebody made it, where it takes every value."""
        name = one.column.name
        place = str(self._key.index(name) + 1) if name in self._key else None
        nullable = "NO" if one.column.not_null or place else "YES"
        if twin is None:
            return [name, one.type, one.collation, nullable, "", place]
        _, kind, collation, held, extra, _ = self._there[twin]
        was = next(known for known in self._before.columns if known.column.name == twin)
        # No index takes a text of any length.
        becomes_key = place and (kind, collation) == self._text
        if becomes_key or not (self._is_as_text(twin) or (was.type, was.collation) == (one.type, one.collation)):
            kind, collation = one.type, one.collation
        if nullable == "NO" and held == "YES" and was.column.not_null and not place:
            nullable = held
        return [name, kind, collation, nullable, extra, place]

    def _is_as_text(self, twin: str) -> bool:
        """Whether somebody made a column so that it takes every value as its text."""
        was = next(known for known in self._before.columns if known.column.name == twin)
        return tuple(self._there[twin][1:3]) == self._text and was.type != LONGTEXT
