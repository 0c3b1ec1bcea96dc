"""The position of a slave and its fence, which stands in the transaction of every batch and every chunk (R3, R6).

A batch holds the row of the position. A chunk cannot: others of the same job load beside it, and rows here are locked
by one session alone. So a loader holds the row of its chunk first, and reads the epoch then. Whoever takes over raises
the epoch first, and waits for the holders of chunks then. Either the loader sees the new epoch, or it is waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import oracledb

from sluice.errors import FencedError
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import changed, execute, transaction

# Our tables in the schema of the connection's user.
TABLES = ("position", "loaded", "intent")
_MADE_BY = ("position/position", "position/loaded", "ddl/intents")
_THERE_ALREADY = "ORA-00955"


def our_tables(schema: str) -> dict[str, str]:
    """Our tables in a slave, for the statements that name them."""
    return {name: qualified(TableName(schema, name_of(name))) for name in TABLES}


def name_of(table: str) -> str:
    """One of our tables, as the catalog has it."""
    return f"SLUICE_{table.upper()}"


def is_ours(masters: Collection[Resources], name: TableName) -> bool:
    """Whether a table is one that we keep in a slave, or one of these masters' DbResources."""
    return name.table in map(name_of, TABLES) or any(master.has(name) for master in masters)


def make_tables(session: oracledb.Connection, parts: Mapping[str, str]) -> None:
    """Make those of our tables that are not there; each commits."""
    there = {str(row[0]) for row in execute(session, composed("position/tables"))}
    for table, statement in zip(TABLES, _MADE_BY, strict=True):
        if name_of(table) in there:
            continue
        try:
            execute(session, composed(statement, **parts))
        except oracledb.DatabaseError as error:
            # Another job has made it since.
            if code_of(error) != _THERE_ALREADY:
                raise


def raised(
    session: oracledb.Connection, parts: Mapping[str, str], pair: Pair, epoch: int
) -> tuple[Position, Snapshot | None]:
    """Raise the fence to `epoch`, and wait for sessions of an earlier job that are in a transaction.

    Raises:
        FencedError: SLC-050, a job with a later epoch is at work.
    """
    names = {"source": pair.source, "slave": pair.slave}
    with transaction(session):
        execute(session, composed("position/begin", **parts), names)
    with transaction(session):
        ((found, segment, ordinal, snapshot),) = execute(session, composed("position/lock", **parts), names)
        if int(found) > epoch:
            raise FencedError(50, f"a drain of {pair} with an epoch above {epoch} is at work")
        execute(session, composed("position/take_over", **parts), {**names, "epoch": epoch})
    with transaction(session):
        execute(session, composed("position/holders", **parts), names)
    return Position(int(segment), int(ordinal)), Snapshot(str(snapshot)) if snapshot else None


def lock_fence(session: oracledb.Connection, parts: Mapping[str, str], pair: Pair, epoch: int) -> None:
    """Lock the position of a slave until the transaction ends. Raises FencedError SLC-050, another job took over."""
    rows = execute(session, composed("position/lock", **parts), {"source": pair.source, "slave": pair.slave})
    if not rows or int(rows[0][0]) != epoch:
        raise fenced(pair, epoch)


def expect_epoch(session: oracledb.Connection, parts: Mapping[str, str], pair: Pair, epoch: int) -> None:
    """See that nobody took over, in a session that holds a chunk. Raises FencedError SLC-050."""
    rows = execute(session, composed("position/epoch", **parts), {"source": pair.source, "slave": pair.slave})
    if not rows or int(rows[0][0]) != epoch:
        raise fenced(pair, epoch)


def advance(session: oracledb.Connection, parts: Mapping[str, str], pair: Pair, moved: Mapping[str, object]) -> None:
    """Move the position on in the transaction of the data, from exactly where the one before left it."""
    names = {"source": pair.source, "slave": pair.slave, **moved}
    if changed(session, composed("position/advance", **parts), names) != 1:
        raise fenced(pair, int(str(moved["epoch"])))


def has_begun(
    session: oracledb.Connection, parts: Mapping[str, str], pair: Pair, as_of: Mapping[str, object] | None = None
) -> bool:
    """Whether a command was begun on a slave, so that it is beyond its position.

    Args:
        as_of: the change number for which that is asked, if it is not now.
    """
    statement = composed("ddl/intended" if as_of is None else "compare/intended", **parts)
    names = {"source": pair.source, "slave": pair.slave, **(as_of or {})}
    return bool(execute(session, statement, names))


def forget_command(session: oracledb.Connection, parts: Mapping[str, str], pair: Pair) -> None:
    """In the transaction that sets or removes the position: a command that was begun is none any more."""
    names = {"source": pair.source, "slave": pair.slave}
    changed(session, composed("ddl/forget", **parts), names)


def fenced(pair: Pair, epoch: int) -> FencedError:
    """Somebody took over a slave, or set its position."""
    return FencedError(
        50,
        f"somebody took over slave {pair.slave} of {pair.source} (our epoch was {epoch}), or set its position back: it "
        "is not where the last transaction left it",
    )
