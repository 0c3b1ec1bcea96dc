"""Decides which definitions of the master a slave creates without a decision: those that call trusted functions only.

The slave's own server reads them, as checks of a table that is made for it and rolled back. No row comes into it, and a
check is planned with the first row alone, so that nothing is evaluated but the values that stand in it. To read a value
runs the checks of its type: so types come first, and what follows one that is doubted is not read at all. See
"Definitions that travel" in security.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from psycopg import sql

from sluice.errors import AGAIN, AlteredMeanwhile, SluiceError
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
        identity: what tells it from others: the number of a column and its type, or a name, and the text.
        label: whose it is, with the text of the definition, for people.
        text: what goes into a statement, in brackets of its own.
        type: what it becomes, by a cast that nobody has written.
    """

    identity: tuple[object, ...]
    label: str
    text: str
    type: str | None = None


@dataclass(frozen=True)
class Judged:
    """Definitions that were looked at before they are made. Names may mean something else by then: nothing else is
    made.

    Attributes:
        doubts: the expressions that need a decision, each with the reason.
        types: those that the slave lacked.
        exists: the slave had the table.
    """

    doubts: tuple[str, ...] = ()
    types: Collection[TableName] = frozenset()
    exists: bool = True

    def expect_looked_at(self, name: TableName) -> None:
        """See that a table that the slave is about to make was looked at. Raises TransientError SLC-095."""
        if self.exists:
            raise _gone(name)

    def expect_lacked(self, name: TableName) -> None:
        """See that a type that the slave is about to make was looked at. Raises TransientError SLC-095."""
        if name not in self.types:
            raise _gone(name)


def _gone(name: TableName) -> AlteredMeanwhile:
    return AlteredMeanwhile(
        95,
        f"the slave had {name} when its definition was looked at, and no more when it was to be made",
        f"nothing was changed, {AGAIN}: the definition is looked at then. If it stays so, look who "
        "drops or renames it there",
    )


def judge(
    connection: Connection,
    table: PostgresTable,
    names: SlaveNames,
    types: TypeNames,
    *,
    before: PostgresTable | None = None,
    exists: bool = False,
) -> Judged:
    """Look at the expressions of a table and of those of its types that the slave lacks; nothing is changed.

    Args:
        table: in the slave's words.
        before: what it was; what it had then is not asked about again.
        exists: the slave has it, so that its types alone are made.

    Raises:
        SluiceError: SLC-321, SLC-322, it cannot be made, even if somebody allows it; see `usertypes.provide`.
    """
    known = {one.identity for one in _expressions(before)} if before else set()
    new = [] if exists else [one for one in _expressions(table) if one.identity not in known]
    texts = {
        names.slave_name(one.name): f"the type {names.slave_name(one.name)}, {one.definition}" for one in table.types
    }
    unread, made = dict(texts), set()
    with connection.transaction(force_rollback=True):
        for name in user_types.making(connection, table.types, names):
            unread.pop(name, None)
            made.add(name)
            if found := _doubtful(connection, names, [name]):
                called = ", ".join(sorted({what for some in found.values() for what in some}))
                rest = [*unread.values(), *(one.label for one in new)]
                first, then = f"{texts[name]}, calls {called}", (f"{one}, is not read before that" for one in rest)
                return Judged((first, *then), made, exists)
        if not new:
            return Judged((), made, exists)
        _model(connection, table, new, types)
        found = _doubtful(connection, names)
    labels = {f"sluice_{index}": one.label for index, one in enumerate(new)}
    doubts = tuple(f"{labels[name]}, calls {', '.join(what)}" for name, what in sorted(found.items()))
    return Judged(doubts, made, exists)


def _doubtful(connection: Connection, names: SlaveNames, domains: Sequence[TableName] = ()) -> dict[str, list[str]]:
    trusted = sorted(names.mapper.trusted)
    query = composed(
        "catalog/doubtful",
        model=sql.Literal(regclass(_MODEL)),
        domains=sql.Literal([regclass(name) for name in domains]),
        schemas=sql.Literal([schema for schema, _ in trusted]),
        functions=sql.Literal([function for _, function in trusted]),
        harmless=composed("catalog/harmless"),
    )
    return dict(connection.execute(query).fetchall())


def expect_trusted(
    connection: Connection, table: PostgresTable, names: SlaveNames, types: TypeNames, *, exists: bool
) -> Judged:
    """See that a slave makes a table by itself; nothing is changed.

    Raises:
        SluiceError: SLC-320, it does not; see `judge`.
    """
    judged = judge(connection, table, names, types, exists=exists)
    if found := judged.doubts:
        raise SluiceError(
            320,
            f"the slave does not make {table.name} by itself, since what it calls may execute a text or reach outside: "
            f"{'; '.join(found)}",
            "nothing was changed. Make the table, or the type, on the slave by hand, as its rows need it: it is then "
            "filled as it is. Or add what it calls to `trusts` of the slave, if that may run there with the rights of "
            f"{connection.info.user}; that means functions of this role, of superusers, and of the schema's owner. "
            "Operators and types of others have to become this role's",
        )
    return judged


def _model(connection: Connection, table: PostgresTable, expressions: Sequence[Expression], types: TypeNames) -> None:
    """A table with the columns that expressions name, and one check for each of these."""
    columns: list[sql.Composable] = [
        sql.SQL("{} {}").format(sql.Identifier(one.name), types.type(one.type)) for one in table.columns
    ]
    checks = [
        sql.SQL("CONSTRAINT {} CHECK ({}{} IS NULL)").format(
            sql.Identifier(f"sluice_{index}"),
            sql.SQL(one.text),
            sql.SQL("::{}").format(types.type(one.type)) if one.type else sql.SQL(""),
        )
        for index, one in enumerate(expressions)
    ]
    made = sql.SQL("CREATE TABLE {} ({})")
    connection.execute(made.format(identifier(_MODEL), sql.SQL(", ").join([*columns, *checks])))


def _expressions(table: PostgresTable) -> Iterator[Expression]:
    for column in table.columns:
        if column.expression is not None and column.kind != "identity":
            kind = "default" if column.kind == "default" else "expression"
            label, text = f"the {kind} of column {column.name}, {column.expression}", column.expression
            identity = (column.number, column.kind, column.type, text)
            yield Expression(identity, label, definition_text.expression(text), column.type)
    for name, text in table.constraints:
        yield from _within((name, text), f"the constraint {name}, {text}", definition_text.constraint(text))
    for name, _, text in table.indexes:
        yield from _within((name, text), f"the index {name}, {text}", definition_text.index(text))


def _within(identity: tuple[object, ...], label: str, found: definition_text.Definition) -> Iterator[Expression]:
    yield from (Expression(identity, label, one) for one in found.expressions)
    yield from (Expression(identity, label, one, "boolean") for one in found.conditions)
