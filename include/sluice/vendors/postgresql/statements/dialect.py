"""A portable statement in the words of PostgreSQL, for a slave whose master is of another kind.

What such a master took is not always taken here: `INSERT t (a)`, and a product of small numbers that is no small one.
So numbers are computed without a bound, and no text that a person wrote is executed.
"""

from __future__ import annotations

from psycopg import sql

from sluice.config.mapper import Mapper
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.statement import Statement
from sluice.vendors.portable.carried_out import expect_seen
from sluice.vendors.portable.dialect import Dialect
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Arithmetic, Shown, Value
from sluice.vendors.portable.type_check import fitted
from sluice.vendors.postgresql.catalog.definition import identifier


class PostgresDialect(Dialect):
    """See there."""

    def quoted(self, name: str) -> str:
        """See `Dialect`."""
        return sql.Identifier(name).as_string()

    def qualified(self, name: TableName) -> str:
        """See `Dialect`."""
        return identifier(name).as_string()

    def text(self, text: str) -> str:
        """See `Dialect`. `standard_conforming_strings` is pinned: a backslash is one."""
        return "'{}'".format(text.replace("'", "''"))

    def truth(self, *, holds: bool) -> str:
        """See `Dialect`."""
        return "TRUE" if holds else "FALSE"

    def day(self, text: str) -> str:
        """See `Dialect`."""
        return f"DATE '{text}'"

    def moment(self, text: str, *, has_zone: bool) -> str:
        """See `Dialect`."""
        return f"TIMESTAMPTZ '{text}+00'" if has_zone else f"TIMESTAMP '{text}'"

    def shown(self, one: Shown) -> str:
        """See `Dialect`."""
        return f"{super().shown(one)} AS {self.quoted(one.label)}"

    def value(self, one: Value) -> str:
        """See `Dialect`."""
        if isinstance(one, Arithmetic):
            left, right = (f"CAST({self.value(side)} AS numeric)" for side in (one.left, one.right))
            return f"({left} {one.sign} {right})"
        return super().value(one)


def written(statement: Statement, layout: Layout, mapper: Mapper) -> str:
    """A statement that a master of another kind executed, under the slave's names. Raises SluiceError SLC-103."""
    found = fitted(portable(statement.sql, statement.schema), layout)
    return PostgresDialect().statement(found, expect_seen(mapper, found.table))
