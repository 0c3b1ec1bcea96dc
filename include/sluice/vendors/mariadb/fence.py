"""The position of a slave and its fence, which stands in the transaction of every batch and every chunk (R3, R6)."""

from __future__ import annotations

from collections.abc import Mapping

import pymysql

from sluice.changelog.points import PointWait
from sluice.errors import FencedError, SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.managed import SETTING
from sluice.vendors.mariadb.catalog.rights import expect_triggers_shown, plain
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import (
    Connection,
    changed,
    composed,
    end_others,
    execute,
    expect_pinned,
    quoted,
    transaction,
)

_LOCK_WAIT, _NO_TABLE = 1205, 1146
# Who waits for one that hangs ends it after so long. A comparison, which holds the row, too, is waited for.
_PATIENCE_S = 2


def raised(session: Connection, parts: Mapping[str, str], pair: Pair, epoch: int) -> tuple[Position, Snapshot | None]:
    """Raise the fence to `epoch`, and end sessions of an earlier job that hang in a transaction.

    Raises:
        FencedError: SLC-050, a job with a later epoch is at work.
    """
    try:
        execute(session, f"SET SESSION innodb_lock_wait_timeout = {_PATIENCE_S}")
        return _raised(session, parts, pair, epoch)
    except pymysql.err.OperationalError as error:
        if number_of(error) != _LOCK_WAIT:
            raise
        end_others(session, pair)
    finally:
        if session.open:
            execute(session, "SET SESSION innodb_lock_wait_timeout = 60")
    return _raised(session, parts, pair, epoch)


def _raised(session: Connection, parts: Mapping[str, str], pair: Pair, epoch: int) -> tuple[Position, Snapshot | None]:
    names = {"source": pair.source, "slave": pair.slave, "epoch": epoch}
    with transaction(session):
        # From here on nobody puts a trigger on it until the transaction ends.
        execute(session, f"SELECT 1 FROM {parts['position']} LIMIT 0")
        expect_triggers_shown(session, TableName(*map(plain, parts["position"].rsplit(".", 1))))
        expect_ours(session, parts)
        execute(session, composed("position/begin", **parts), names)
        ((found, segment, ordinal, snapshot),) = execute(session, composed("position/lock", **parts), names)
        if int(found) > epoch:
            raise FencedError(50, f"a drain of {pair} with an epoch above {epoch} is at work")
        execute(session, composed("position/take_over", **parts), names)
    return Position(int(segment), int(ordinal)), Snapshot(snapshot) if snapshot else None


def lock_fence(session: Connection, parts: Mapping[str, str], pair: Pair, epoch: int, *, shared: bool = False) -> None:
    """Lock the fence of a slave until the transaction ends: a job that takes over waits for it, or ends our session.

    Args:
        shared: others of the same epoch write at the same time.

    Raises:
        FencedError: SLC-050, another job took over.
        SluiceError: SLC-373, settings do not hold: this is not the session that was begun; SLC-291, see `expect_ours`.
    """
    names = {"source": pair.source, "slave": pair.slave}
    rows = execute(session, composed("position/share" if shared else "position/lock", **parts), names)
    if not rows or int(rows[0][0]) != epoch:
        raise fenced(pair, epoch)
    expect_ours(session, parts)
    expect_pinned(session)


def expect_ours(session: Connection, parts: Mapping[str, str]) -> None:
    """See that nobody else decides what becomes of our tables in a slave: a trigger could move the position.

    Raises:
        SluiceError: SLC-291, one has a trigger, or is no table of InnoDB.
    """
    schema, ours = parts["position"].rpartition(".")[0], set(parts.values())
    kinds = execute(session, composed("position/kinds", schema=schema))
    triggers = execute(session, composed("position/acting", schema=schema))
    found = [
        *((name, f"is {f'of {engine}' if engine else 'a view'}") for name, engine, *_ in kinds if engine != "InnoDB"),
        *((table, f"has the trigger {name}") for name, _, table, *_ in triggers),
    ]
    if strange := [f"{name} {what}" for name, what in found if f"{schema}.{quoted(str(name))}" in ours]:
        raise SluiceError(
            291,
            f"among our tables in the slave's database {schema} is what others can change: {', '.join(strange)}",
            "nothing was written, since changes could be passed over. See who made it; drop the trigger, rename what "
            "is no table of InnoDB. Then fill the slave by initial_update: the position may be wrong already",
        )


def advance(session: Connection, parts: Mapping[str, str], pair: Pair, moved: Mapping[str, object]) -> None:
    """Move the position on in the transaction of the data, from exactly where the one before left it."""
    names = {"source": pair.source, "slave": pair.slave}
    if execute(session, composed("position/ordinal", **parts), names) != [(str(moved["epoch"]), str(moved["from"]))]:
        raise fenced(pair, int(str(moved["epoch"])))
    changed(session, composed("position/advance", **parts), {**names, **moved})


def arrived(session: Connection, parts: Mapping[str, str], pair: Pair, at: PointWait, look: str) -> bool:
    """Whether a slave is at a point. With a command of the master that was begun it is at none.

    Args:
        look: the statement that reads the row of the position, and may hold it.

    Raises:
        TransientError: SLC-091 and SLC-092, see `PointWait.over`.
    """
    names = {"source": pair.source, "slave": pair.slave}
    rows = execute(session, composed(look, **parts), names)
    # Read after the position: a slave that has moved on in between is not at that one any more, either.
    return at.has_arrived(int(rows[0][2]) if rows else 0, part_way=bool(rows) and _has_begun(session, parts, names))


def _has_begun(session: Connection, parts: Mapping[str, str], names: Mapping[str, str]) -> bool:
    """Whether a command was begun. A drain makes the table that says so, where it needs it."""
    try:
        return bool(execute(session, composed("ddl/intended", **parts), names))
    except pymysql.err.ProgrammingError as error:
        if number_of(error) != _NO_TABLE:
            raise
        return False


def fenced(pair: Pair, epoch: int) -> FencedError:
    """Somebody took over a slave, or set its position."""
    return FencedError(
        50,
        f"somebody took over slave {pair.slave} of {pair.source} (our epoch was {epoch}), or set its position back: it "
        "is not where the last transaction left it",
    )


def expect_durable(session: Connection, pair: Pair) -> None:
    """See that a commit is on the disk when it returns: the log is trimmed below it then (R3).

    Raises:
        SluiceError: SLC-400, it is not; it is not in the binary log; SLC-038, the server is read_only.
    """
    ((flushes, read_only, logs, syncs),) = execute(
        session,
        "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.read_only, @@GLOBAL.log_bin, @@GLOBAL.sync_binlog",
    )
    if flushes != "1":
        raise SluiceError(
            400,
            f"the server of slave {pair.slave} has innodb_flush_log_at_trx_commit = {flushes}: a commit that it loses "
            "in a crash could not come again",
            f"nothing was written; run SET GLOBAL innodb_flush_log_at_trx_commit = 1; or, {SETTING}",
        )
    if session.server.undoes_unlogged and logs == "1" and syncs != "1":
        raise SluiceError(
            400,
            f"the server of slave {pair.slave} has sync_binlog = {syncs}: after a crash of its machine it undoes "
            "commits that its binary log lost, and they could not come again",
            f"nothing was written; let an administrator type: SET PERSIST sync_binlog = 1; or, {SETTING}",
        )
    if read_only == "1":
        raise SluiceError(
            38,
            f"the server of slave {pair.slave} is read_only",
            "point the connection at the primary, or set `read_only` off there",
        )
