"""A statement of the stream on a slave that executes portable ones alone, in the transaction of its batch.

Its words are made there from its parts; no text that a person wrote reaches the server. It commits nothing by itself,
so it is executed exactly once, as rows are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.statement import Answer, Answered, NodeOutcome, Statement, compare
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Portable
from sluice.vendors.portable.type_check import fitted
from sluice.vendors.protocol.ddl_errors import not_ours
from sluice.vendors.protocol.statement_errors import unmapped

# Executes a statement on the table of a layout, under the slave's name of that.
Execute = Callable[[Statement, Portable, Layout], Answer]


def carry_out(text: str, mapper: Mapper, pair: Pair, answered: Answered, execute: Execute) -> None:
    """Execute a statement, and record its answer before this transaction ends.

    Raises:
        SluiceError: SLC-068, it is none that Sluice wrote; SLC-103, nobody looked whether it is portable; or what
            `execute` raises.
    """
    try:
        statement = Statement.from_json(text)
        layout = statement.table
    except ValueError as error:
        raise not_ours(error) from None
    try:
        if layout is None:
            raise _not_looked_at(statement, pair)
        found = fitted(portable(statement.sql, statement.schema), layout)
        answer = execute(statement, found, replace(layout, name=expect_seen(mapper, found.table)))
    except SluiceError as error:
        answered(statement, NodeOutcome(False, error.fact))
        # A query that fails stops nothing, unless the session may be lost.
        if statement.reads and not isinstance(error, TransientError):
            return
        raise
    answered(statement, compare(statement.answer, answer))


def expect_seen(mapper: Mapper, name: TableName) -> TableName:
    """What a slave calls the table. Raises SluiceError SLC-103, it does not have all of it as it is."""
    if not mapper.whole(name):
        raise unmapped(f"the slave does not have {name} as it is")
    return mapper.table(name)


def _not_looked_at(statement: Statement, pair: Pair) -> SluiceError:
    return SluiceError(
        103,
        f"statement {statement.id} was issued when slave {pair.slave} took no part in statements, and nobody looked "
        "whether it does the same there",
        "set `statements: false` for its replication until it is passed over, and do there by hand what the statement "
        "did; or leave it behind by initial_update",
    )
