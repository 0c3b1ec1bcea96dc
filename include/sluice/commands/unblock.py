"""Commands for a slave that is blocked, called by the shell, a DAG and a page."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from sluice.config.mapper import Mapper
from sluice.context import Context
from sluice.errors import SluiceError, sanitize
from sluice.model.names import Pair, TableName
from sluice.model.watched import find_entry, split_table
from sluice.shell import unpause
from sluice.state.ddl_question import Decision
from sluice.state.dispatcher import Hold
from sluice.store import blocked, ddl_questions, known_differences, leases, rejected_changes, replications


def remove_first(context: Context, pair: Pair, ordinal: int, who: str | None = None) -> int:
    """Move a slave past the transaction that it stands in front of. Its changes are kept with the rejected ones.

    Args:
        who: if not this run, or the person at the shell.

    Returns:
        how many changes that are kept now.

    Raises:
        TransientError: SLC-051, a drain is at work.
        SluiceError: SLC-172, the slave does not stand in front of that transaction; nothing was changed.
    """
    # They move rows, and no other command here does.
    from sluice.drain.remove_transaction import no_obstacle
    from sluice.drain.step import drain_of

    with leases.hold_lease(context.store, f"drain {pair}") as lease:
        stuck = blocked.blocking_transaction(context.store, pair)
        if stuck is None or stuck.ordinal != ordinal:
            raise no_obstacle(pair, ordinal)
        slave = context.slave(pair)
        try:
            drain = drain_of(context, pair, slave, partial(rejected_changes.keep, removed=str(stuck), who=who))
            # A process that still writes to the slave under an earlier lease is fenced out before the slave is looked
            # at (R6).
            drain.begin(lease.epoch)
            left = {str(table) for table in blocked.skipped_tables(context.store, pair)}
            given = [
                touched
                for touched in stuck.touched
                if touched.table not in left and not _is_excluded(slave.mapper, touched.table)
            ]
            known_differences.record_removal(context.store, pair, ordinal, given)
            done = drain.remove(ordinal)
            replications.record_delivery(context.store, pair, drain.make_durable(), done.tolerated)
        finally:
            slave.close()
    blocked.count(context.store, pair, done.skipped)
    _release(context, pair, f"somebody has removed transaction {ordinal} since, and the slave differs by it")
    return sum(count for table in stuck.touched for count in table.actions.values())


def skip(context: Context, pair: Pair, name: str, who: str | None = None) -> TableName:
    """Leave a table of the master, given as schema.table, out for a slave until it is filled anew.

    Raises:
        TransientError: SLC-051, a drain is at work.
        SluiceError: SLC-040, there is no such table.
    """
    stuck = blocked.blocking_transaction(context.store, pair)
    # One that was renamed since has a name that the configuration does not know.
    met = {table.table for table in stuck.touched} if stuck else set()
    table = _table(name)
    if table is None or not (str(table) in met or find_entry(context.watch_settings(pair.source).entries, table)):
        raise SluiceError(
            40,
            f"{name} is no watched table of {pair.source}",
            "nothing was changed; name it as the master calls it: schema.table",
        )
    with leases.hold_lease(context.store, f"drain {pair}"):
        blocked.skip(context.store, pair, table, who or replications.actor())
    if met == {str(table)}:
        _release(context, pair, f"somebody has left out {table} since")
    return table


def _release(context: Context, pair: Pair, what: str) -> None:
    """Say that nothing is in the way of a slave any more."""
    reason = f"{what}; nothing else is in its way.\nHINT: to go on, type: {unpause(pair)}"
    replications.restate(context.store, pair, Hold.EXCEPTION, reason)


def decide(context: Context, pair: Pair, key: int, decision: Decision, who: str | None = None) -> str:
    """Say what becomes of a command that a slave waits in front of; what it is.

    Args:
        key: the command's REPL_KEY.
        who: if not this run, or the person at the shell.

    Raises:
        SluiceError: SLC-172, it waits for no decision any more; nothing was changed.
    """
    context.config.replication(pair.source, pair.slave)
    return sanitize(str(ddl_questions.decide(context.store, pair, key, decision, who)))


def _is_excluded(mapper: Mapper, name: str) -> bool:
    """Whether a slave does not get a table by its configuration."""
    table = _table(name)
    return table is not None and mapper.excludes(table)


def _table(name: str) -> TableName | None:
    with suppress(ValueError):
        return TableName(*split_table(name))
    return None
