"""Issuing a statement: one function for the shell, and for whatever else may call it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sluice.context import Context
from sluice.control import answers
from sluice.control.answers import Answered, Standing
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.statement import Statement

_LOOK_S = 0.5


def issue(context: Context, source: str, text: str, *, schema: str = "public", varying: bool = False) -> Statement:
    """Execute a statement on the master, and send it to every slave that executes statements.

    Args:
        schema: where names without a schema are looked up, on every node.
        varying: execute it although it may do something else on another node.

    Returns:
        the statement with its number and the master's answer.

    Raises:
        SluiceError: SLC-100 to SLC-103, it is refused, SLC-105, it failed; nothing was changed on any node.
        TransientError: the master was lost: whether it has executed the statement is told by the slaves' answers.
    """
    slaves = _slaves(context, source)
    limit = context.config.source(source).statement_max_rows
    wanted = Statement(0, text, schema, reads=False, max_rows=limit)
    context.source(source).understands(text)
    for slave in slaves:
        context.slave(Pair(source, slave)).understands(wanted)
    context.store.migrate()
    number = answers.begin(context.store, source, slaves, text, schema)
    try:
        wanted = Statement(number, text, schema, reads=False, max_rows=limit)
        done, trans_key = context.source(source).issue(wanted, varying=varying)
    except TransientError:
        raise
    except SluiceError as error:
        answers.refused(context.store, number, error.fact)
        raise
    answers.executed(context.store, done, trans_key)
    event("statement", source=source, id=number, reads=done.reads, slaves=len(slaves))
    return done


def awaited(context: Context, number: int, patience_s: float) -> Sequence[Answered]:
    """What every node answered, the master first; waits for all of them, so long and no longer."""
    end = time.monotonic() + patience_s
    while True:
        found = answers.answers(context.store, number)
        if time.monotonic() >= end or all(one.status is not Standing.WAITING for one in found):
            return found
        time.sleep(_LOOK_S)


def _slaves(context: Context, source: str) -> list[str]:
    chosen = context.config.slaves_of(source)
    return [slave for slave in chosen if context.config.replication(source, slave).statements]
