"""HINT texts with complete commands to type after an error."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from sluice.errors import AGAIN, CommandRefused, LogBehind, LogTrimmed, SluiceError, names
from sluice.model.action import COMMANDS
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.names import INITIAL_UPDATE, Pair
from sluice.shell import cancel, dispatcher, trigger, unpause, update

_MOST_TABLES = 20


def for_question(pair: Pair, key: int) -> str:
    """The commands that approve or reject a command of the master."""
    return (
        f"type: `{dispatcher(pair, '--approve', key)}` to have it done on the slave, or `--reject {key}` to leave the "
        "slave's table as it is and keep the command; nothing is lost"
    )


def for_drain(
    error: SluiceError, pair: Pair, stuck: BlockingTransaction | None = None, *, updating: bool = False
) -> None:
    """Complete an error that a drain stands on: where it stands, what opens its gate again, and what does so by itself.

    Args:
        stuck: the transaction that it stands in front of, if that is known.
        updating: an initial update ends when this slave has its first changes.
    """
    said_by = error.fact
    if stuck:
        error.fact = f"{error.fact}. The slave stands in front of {stuck}"
    if isinstance(error, LogBehind):
        return
    if stuck and not isinstance(error, LogTrimmed):
        without = _without(stuck, pair, said_by, is_ddl=isinstance(error, CommandRefused))
        error.hint = f"{error.hint}. Or, instead of fixing it, {without}"
    anew = f"{update(pair.source, [pair.slave])}, which unpauses the DAG by itself"
    if isinstance(error, LogTrimmed):
        error.hint = f"{error.hint}. Type: {anew}"
    elif INITIAL_UPDATE in error.hint:
        error.hint = f"{error.hint}. Once it is fixed, type: {unpause(pair)}. Or, instead of fixing it: {anew}"
    else:
        error.hint = f"{error.hint}. Then type: {unpause(pair)}"
    if updating:
        then = f"An initial update waits for it, and is in the way of another one: end it, with {cancel(pair)}"
        error.hint = f"{error.hint}. {then}"


def by_repair(differing: Mapping[Pair, Sequence[str]]) -> str:
    """The commands for rows that differ: the smallest remedy, which every message names.

    Args:
        differing: by slave, the master's tables that differ there.
    """
    repairs = [trigger("repair", source=pair.source, slave=pair.slave) for pair in differing]
    few = max(map(len, differing.values())) <= _MOST_TABLES
    what = "these tables" if few else "all"
    fills = [
        update(pair.source, [pair.slave], **({"tables": list(tables)} if few else {}))
        for pair, tables in differing.items()
    ]
    return (
        f"find out who else writes there, then have these rows repaired, and type: {'; '.join(repairs)}. Where that is "
        f"refused, fill {what} again, which replaces what the {'' if few else 'watched '}tables hold; type: "
        + "; ".join(fills)
    )


def by_exclusion(columns: Sequence[str], anew: str) -> str:
    """The remedy for columns that a slave computes otherwise than the master: a repair or a fill computes the same.

    Args:
        anew: the command to type then.
    """
    return (
        f"a slave computes {', '.join(columns)} itself, and its settings may print values otherwise, each time: "
        "compute it by round(...) or encode(...) on the master, or name it in `exclude_columns` of the slaves' "
        f"`tables`; then type: {anew}"
    )


def for_update(error: SluiceError, pair: Pair | None = None, **choices: object) -> str:
    """The HINT of an error that a slave's update ended with: no run tries that again.

    Args:
        pair: whose update; none if it is said elsewhere what to type.
        choices: of the form of the update to type.
    """
    then = f": once that is fixed, type: {update(pair.source, [pair.slave], **choices)}" if pair else ""
    return error.hint.replace(AGAIN, f"its update is over{then}")


def _without(stuck: BlockingTransaction, pair: Pair, fact: str, *, is_ddl: bool) -> str:
    """The commands by which a slave goes on without what it does not take.

    Args:
        fact: of the error. Where the transaction is of several tables, it says which one has the trouble.
        is_ddl: it is about a command, and may call its table as the slave does.
    """
    first = f"`{dispatcher(pair, '--remove-first', stuck.ordinal)}` keeps the transaction aside"
    tables = list(dict.fromkeys(change.table for change in stuck.touched if change.table))
    if len(tables) > 1:
        defined = {change.table for change in stuck.touched if is_ddl and not COMMANDS.isdisjoint(change.actions)}
        tables = [table for table in tables if names(fact, table)] or [table for table in tables if table in defined]
    if len(tables) != 1:
        return first
    return f"{first}, `--skip {shlex.quote(tables[0])}` leaves that table out until the slave is filled anew"
