"""The position of a slave and its fence, which stands in the transaction of every batch and every chunk (R3, R6)."""

from __future__ import annotations

from collections.abc import Mapping

import pymysql

from sluice.errors import FencedError
from sluice.model.names import Pair
from sluice.model.position import Position, Snapshot
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import (
    Connection,
    changed,
    composed,
    end_others,
    execute,
    expect_pinned,
    transaction,
)

_LOCK_WAIT = 1205
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
        SluiceError: SLC-435, settings do not hold: this is not the session that was begun.
    """
    names = {"source": pair.source, "slave": pair.slave}
    rows = execute(session, composed("position/share" if shared else "position/lock", **parts), names)
    if not rows or int(rows[0][0]) != epoch:
        raise fenced(pair, epoch)
    expect_pinned(session)


def advance(session: Connection, parts: Mapping[str, str], pair: Pair, moved: Mapping[str, object]) -> None:
    """Move the position on in the transaction of the data, from exactly where the one before left it."""
    names = {"source": pair.source, "slave": pair.slave}
    if execute(session, composed("position/ordinal", **parts), names) != [(str(moved["epoch"]), str(moved["from"]))]:
        raise fenced(pair, int(str(moved["epoch"])))
    changed(session, composed("position/advance", **parts), {**names, **moved})


def fenced(pair: Pair, epoch: int) -> FencedError:
    """Somebody took over a slave, or set its position."""
    return FencedError(
        50,
        f"somebody took over slave {pair.slave} of {pair.source} (our epoch was {epoch}), or set its position back: it "
        "is not where the last transaction left it",
    )
