"""Decides which definitions of the master a slave creates without a decision: those that call trusted functions only.

The slave's own server reads them, as checks of a table that is made for it and rolled back. No row comes into it, and a
check is planned with the first row alone, so that nothing is evaluated. See "Definitions that travel" in security.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import user_types
from sluice.vendors.postgresql.catalog.definition import PostgresTable, identifier, regclass
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl import definition_text
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.session import Connection, composed

_MODEL = TableName("pg_temp", "sluice_doubted")


@dataclass(frozen=True)
class Expression:
    """An expression of a definition.

    Attributes:
        identity: what tells it from others: the number of a column, or a name, and the text.
        label: whose it is, with the text of the definition, for people.
        text: what goes into a statement, in brackets of its own.
    """

    identity: tuple[object, ...]
    label: str
    text: str


def doubts(
    connection: Connection,
    table: PostgresTable,
    names: SlaveNames,
    types: TypeNames,
    *,
    before: PostgresTable | None = None,
    exists: bool = False,
) -> tuple[str, ...]:
    """The expressions of a table and its types that need a decision, each with the reason; nothing is changed.

    Args:
        table: in the slave's words.
        before: what it was; what it had then is not asked about again.
        exists: the slave has it, so that its types alone are made.

    Raises:
        SluiceError: SLC-321, SLC-322, it cannot be made, whoever would allow it; see `usertypes.provide`.
    """
    known = {one.identity for one in _expressions(before)} if before else set()
    new = [] if exists else [one for one in _expressions(table) if one.identity not in known]
    with connection.transaction(force_rollback=True):
        made = user_types.provide(connection, table.types, names)
        if not (made or new):
            return ()
        if new:
            _model(connection, table, new, types)
        query = composed(
            "catalog/doubtful",
            model=sql.Literal(regclass(_MODEL)),
            domains=sql.Literal([regclass(name) for name in made]),
            trusted=sql.Literal(sorted(names.mapper.trusted)),
        )
        found: dict[str, list[str]] = dict(connection.execute(query).fetchall())
    label = {f"sluice_{index}": one.label for index, one in enumerate(new)}
    texts = {names.slave_name(one.name): one.definition for one in table.types}
    # Whatever else it is called by is a check or the default of a type that is made for it.
    others = ", ".join(f"the type {name}, {texts.get(name)}" for name in made)
    return tuple(f"{label.get(name, others)}, calls {', '.join(what)}" for name, what in sorted(found.items()))


def expect_trusted(
    connection: Connection, table: PostgresTable, names: SlaveNames, types: TypeNames, *, exists: bool
) -> None:
    """See that a slave makes a table by itself; nothing is changed.

    Raises:
        SluiceError: SLC-320, it does not; see `doubts`.
    """
    if found := doubts(connection, table, names, types, exists=exists):
        raise SluiceError(
            320,
            f"the slave does not make {table.name} by itself, since what it calls may execute a text or reach outside: "
            f"{'; '.join(found)}",
            "nothing was changed. Make the table, or the type, on the slave by hand, as its rows need it: it is then "
            "filled as it is. Or add what it calls to `trusts` of the slave, if that may run there with the rights of "
            f"{connection.info.user}",
        )


def _model(connection: Connection, table: PostgresTable, expressions: Sequence[Expression], types: TypeNames) -> None:
    """A table with the columns that expressions name, and one check for each of these."""
    columns: list[sql.Composable] = [
        sql.SQL("{} {}").format(sql.Identifier(one.name), types.type(one.type)) for one in table.columns
    ]
    checks = [
        sql.SQL("CONSTRAINT {} CHECK ({} IS NULL)").format(sql.Identifier(f"sluice_{index}"), sql.SQL(one.text))
        for index, one in enumerate(expressions)
    ]
    made = sql.SQL("CREATE TABLE {} ({})")
    connection.execute(made.format(identifier(_MODEL), sql.SQL(", ").join([*columns, *checks])))


def _expressions(table: PostgresTable) -> Iterator[Expression]:
    for column in table.columns:
        if column.expression is not None and column.kind != "identity":
            kind = "default" if column.kind == "default" else "expression"
            label, text = f"the {kind} of column {column.name}, {column.expression}", column.expression
            yield Expression((column.number, column.kind, text), label, definition_text.expression(text))
    for name, text in table.constraints:
        for one in definition_text.constraint(text).expressions:
            yield Expression((name, text), f"the constraint {name}, {text}", one)
    for name, _, text in table.indexes:
        for one in definition_text.index(text).expressions:
            yield Expression((name, text), f"the index {name}, {text}", one)
