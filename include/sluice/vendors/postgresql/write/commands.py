"""Applies commands of the stream in order, in the transaction of the batch."""

from __future__ import annotations

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.action import Action, Command
from sluice.model.statement import Answered, NodeOutcome, Statement
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.ddl.apply import define
from sluice.vendors.postgresql.ddl.trust import Judged
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys
from sluice.vendors.postgresql.session import Connection, restore
from sluice.vendors.protocol.ddl_errors import not_ours


def execute(
    connection: Connection,
    command: Command,
    mapper: Mapper,
    loop_filter: LoopFilter,
    references: WaitingForeignKeys,
    answered: Answered | None,
    judged: Judged | None = None,
    *,
    silent: bool,
) -> bool:
    """Carry out one command. Returns whether tables of the slave may be others now.

    Args:
        answered: called with the result of a statement; without it statements are skipped.
        judged: see `define`.

    Raises:
        SluiceError: SLC-068, it is not one that Sluice wrote; see `define` and `statements.execute`.
    """
    if command.action is Action.STATEMENT:
        return answered is not None and _answer(connection, command.text, mapper, loop_filter, answered, silent=silent)
    try:
        change = command.table_change()
    except ValueError as error:
        raise not_ours(error) from None
    define(connection, change, mapper, loop_filter, references, command.existing, judged, silent=silent)
    restore(connection)
    return True


def _answer(
    connection: Connection, text: str, mapper: Mapper, loop_filter: LoopFilter, answered: Answered, *, silent: bool
) -> bool:
    """Execute a broadcast statement and record its answer before this transaction ends; after a rollback that is
    repeated.
    """
    # A parser takes long to import, and hardly a drain needs it.
    from sluice.vendors.postgresql.statements import execution

    try:
        statement = Statement.from_json(text)
    except ValueError as error:
        raise not_ours(error) from None
    try:
        outcome = execution.execute(connection, statement, mapper, loop_filter, silent=silent)
    except SluiceError as error:
        answered(statement, NodeOutcome(False, error.fact))
        raise
    answered(statement, outcome)
    return not statement.reads
