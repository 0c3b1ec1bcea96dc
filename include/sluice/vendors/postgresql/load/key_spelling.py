"""Keys that are equal and of other bytes, as 1.0 and 1.00 are: they become what the master has, byte by byte."""

from __future__ import annotations

from psycopg import sql

from sluice.apply.mapping.table_view import TableView
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.session import Connection, composed

# They have one spelling. No other type can be GENERATED ALWAYS AS IDENTITY, which an UPDATE cannot set.
_WHOLE = ("smallint", "integer", "bigint")


def respelling(session: Connection, view: TableView) -> sql.Composed | None:
    """The statement that gives rows of the slave the keys of the equal rows that were staged; None if none can differ.

    ON CONFLICT could set the key as well, but locks each row as if others must not refer to it meanwhile.
    """
    here = relations.target_columns(session, view.layout.name)
    key = {name: here[name] for name in view.layout.key_names}
    names = [name for name, one in key.items() if one.type not in _WHOLE and not one.generated]
    if not names:
        return None
    its, come = ({name: sql.Identifier(side, name) for name in key} for side in ("there", "come"))
    return composed(
        "load/respell",
        rows=relations.rows_of(session, view.layout.name),
        then=sql.SQL(", ").join(sql.SQL("{} = {}").format(sql.Identifier(name), come[name]) for name in names),
        alike=sql.SQL(" AND ").join(one.equality.between(its[name], come[name]) for name, one in key.items()),
        its=sql.SQL(", ").join(its[name] for name in names),
        key=sql.SQL(", ").join(come[name] for name in names),
    )
