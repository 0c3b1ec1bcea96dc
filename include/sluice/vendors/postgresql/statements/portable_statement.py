"""Whether a statement does on this master what it does on a node that is no PostgreSQL, and nothing beside it.

Such a node has the columns and the key of a table alone. So a statement is refused if anything else acts on its rows
here: a trigger, a rule, a foreign key that deletes or sets rows, a policy, a collation by which texts are equal that
differ. Asked under the lock that keeps others from altering the table.
"""

from __future__ import annotations

from sluice.model.layout import Layout
from sluice.model.statement import Statement
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Select, not_portable
from sluice.vendors.portable.type_check import fitted
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.statement_errors import acts_beside

# Names of the catalog come before those of any schema.
_CATALOG = "pg_"


def expect_portable(connection: Connection, statement: Statement) -> Statement:
    """The statement, with its table as it is here.

    Raises:
        SluiceError: SLC-577, it may mean something else elsewhere; SLC-578, something acts beside it here.
    """
    found = portable(statement.sql, statement.schema)
    name = found.table
    columns = relations.columns(connection, name)
    if not columns or name.table.startswith(_CATALOG):
        raise not_portable(f"there is no table {name}")
    if computed := [one.name for one in columns if one.generated]:
        raise not_portable(f"the master computes {', '.join(computed)}")
    key = relations.primary_key(connection, name)
    names = [one.name for one in columns]
    layout = Layout(0, name, tuple(columns), tuple(names.index(one) for one in key))
    made = fitted(found, layout)
    named = {"schema": name.schema, "table": name.table}
    beside = [] if isinstance(made, Select) else connection.execute(composed("statements/beside"), named).fetchall()
    told = connection.execute(composed("statements/unequal"), named).fetchall()
    if acting := [str(why) for (why,) in (*beside, *told)]:
        raise acts_beside(acting)
    return statement.with_table(layout)
