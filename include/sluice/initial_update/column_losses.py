"""Column losses of slaves: found before anything is changed, reported, and allowed by people (R7).

A person allows a cast, as the configuration can, for the initial update, the stream and comparisons alike. It is
forgotten as soon as nothing would be lost any more, or something else would.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy.dialects.postgresql import insert

from sluice import shell
from sluice.config.mapper import Mapper
from sluice.errors import Lossy, SluiceError
from sluice.log import event
from sluice.model.layout import Column
from sluice.model.loss import Loss, page, report, with_dropped
from sluice.model.names import APPROVE_LOSSES, Pair, TableName
from sluice.paths import home
from sluice.storage import private_files
from sluice.store import replications, updates
from sluice.store.allowed_losses import allowed_casts, is_allowed
from sluice.store.engine import Store
from sluice.store.tables import allowed_loss, for_pair

if TYPE_CHECKING:
    from sluice.context import Context


def find_losses(context: Context, pair: Pair, *, partly: bool | None = None) -> list[Loss]:
    """The losses of a slave's columns by the configuration alone, including those that were allowed.

    Args:
        partly: only some tables, or keys of them, are filled; by default as in its newest update.

    Raises:
        TransientError: one of the databases does not answer.
    """
    if partly is None:
        partly = bool(updates.tables(context.store, replications.get(context.store, pair).update_id))
    source = context.source(pair.source)
    try:
        columns = source.master.columns(list(context.present(pair.source)))
    finally:
        source.close()
    return find_column_losses(context, pair, columns, partly=partly)


def find_column_losses(
    context: Context, pair: Pair, columns: Mapping[TableName, Sequence[Column]], *, partly: bool = False
) -> list[Loss]:
    """The same, of these columns of the master."""
    slave = context.slave(pair, context.configured_mapper(pair))
    try:
        given = {name: known for name, known in columns.items() if known and not slave.mapper.excludes(name)}
        # Tables are filled as they are then.
        losses = slave.losses(given, None if partly else context.wipe_out(pair))
        return [loss for name, known in given.items() for loss in _table_losses(slave.mapper, name, known, losses)]
    finally:
        slave.close()


def _table_losses(mapper: Mapper, name: TableName, columns: Sequence[Column], losses: Sequence[Loss]) -> Iterator[Loss]:
    entry, names = mapper.entry(name), mapper.columns(name, (column.name for column in columns))
    # What is computed or masked is as the configuration wants it.
    plain = [column for column in columns if column.name in names and column.name not in entry.mask]
    given = [
        (column.name, replace(column, name=names[column.name]))
        for column in plain
        if names[column.name] not in entry.compute
    ]
    return with_dropped(name, given, [loss for loss in losses if loss.table == name])


def expect_none(
    context: Context, pair: Pair, columns: Mapping[TableName, Sequence[Column]], *, partly: bool = False
) -> None:
    """Check that a slave's columns lose nothing of these columns, except allowed losses.

    Raises:
        SluiceError: SLC-220, it would, or as `find_losses` raises. The report says what.
    """
    _expect_allowed(context, pair, find_column_losses(context, pair, columns, partly=partly))


def look(context: Context, pair: Pair) -> None:
    """The same before a slave is filled; what was allowed and is out of date is forgotten.

    A slave that cannot be asked is let pass: the load looks again, and other slaves go on (R8).
    """
    try:
        losses = find_losses(context, pair)
    except SluiceError as error:
        event("not asked", slave=pair.slave, why=error.fact)
    else:
        _expect_allowed(context, pair, losses)
        _forget(context.store, pair, losses)


def question(context: Context, pair: Pair, *, partly: bool | None = None) -> dict[str, object]:
    """The question to people: `subject`, `body` in Markdown, the `report` as CSV, and `shown`, a hash that an answer
    refers to. Raises what `find_losses` raises.

    Raises:
        SluiceError: SLC-221, there is nothing to be asked.
    """
    losses = _castable(pair, find_losses(context, pair, partly=partly))
    body = [
        f"The slave **{pair.slave}** of {pair.source} would get these columns rounded, cut, or without a part of their "
        "values:",
        "",
        page(losses),
    ]
    return {
        "subject": f"What {pair.slave} would lose",
        "body": "\n".join(body),
        "report": report(losses),
        "shown": _digest(losses),
    }


def allow(context: Context, pair: Pair, asked: str, who: str, *, partly: bool | None = None) -> dict[str, object]:
    """Allow the losses that were shown. Raises what `find_losses` raises.

    Args:
        asked: the `shown` of what was shown.

    Raises:
        SluiceError: SLC-221, nothing is to be allowed; it is something else by now.
    """
    losses = _castable(pair, find_losses(context, pair, partly=partly))
    if _digest(losses) != asked:
        raise SluiceError(
            221,
            f"what {pair.slave} would lose is not what {who} was shown",
            f"nothing was allowed; let people look again: {_trigger(pair)}",
        )
    note = {"source": pair.source, "slave": pair.slave, "actor": who}
    with context.store.begin() as connection:
        connection.execute(allowed_loss.delete().where(for_pair(allowed_loss, pair)))
        rows = [
            {**note, "schema": loss.table.schema, "table": loss.table.table, "column": loss.column, "cast": loss.cast}
            for loss in losses
        ]
        connection.execute(insert(allowed_loss).values(rows))
        replications.note(connection, pair, "allow", "; ".join(map(str, losses)), who)
    return {"allowed": len(losses)}


def _expect_allowed(context: Context, pair: Pair, losses: Sequence[Loss]) -> None:
    known = allowed_casts(context.store, pair)
    if new := [loss for loss in losses if not is_allowed(loss, known)]:
        error = Lossy(
            220,
            f"columns of slave {pair.slave} would lose something of the master's values: {'; '.join(map(str, new))}. "
            f"The report is {write_report(pair, report(losses))}",
            "nothing was changed; alter the tables there, or allow it by casts in `compute` of its tables, or "
            f"type: {shell.losses(pair)} --allow. To let somebody else decide, type: {_trigger(pair)}. Then type: "
            f"{shell.update(pair.source, [pair.slave])}",
        )
        error.allowable = all(loss.cast for loss in new)
        raise error


def _castable(pair: Pair, losses: Sequence[Loss]) -> list[Loss]:
    could = [loss for loss in losses if loss.cast]
    if not could:
        raise SluiceError(
            221,
            f"no column of {pair.slave} would be rounded or cut, or lacks a part of its values",
            "nothing was changed; trigger initial_update, which says what else may be wrong with its tables",
        )
    return could


def _forget(store: Store, pair: Pair, losses: Sequence[Loss]) -> None:
    current = {(loss.table, loss.column): loss.cast for loss in losses}
    gone = [
        (table, column)
        for table, casts in allowed_casts(store, pair).items()
        for column, cast in casts.items()
        if current.get((table, column)) != cast
    ]
    columns = allowed_loss.c
    with store.begin() as connection:
        for table, column in gone:
            which = (columns.schema == table.schema, columns.table == table.table, columns.column == column)
            connection.execute(allowed_loss.delete().where(for_pair(allowed_loss, pair), *which))
            replications.note(connection, pair, "forget", f"{table}.{column} was allowed to lose something else")


def _trigger(pair: Pair) -> str:
    return shell.trigger(APPROVE_LOSSES, source=pair.source, slave=pair.slave)


def _digest(losses: Sequence[Loss]) -> str:
    return f"sha256:{hashlib.sha256(report(losses).encode()).hexdigest()}"


def write_report(pair: Pair, text: str) -> str:
    """Write a report into a file of this machine, in place of the last one; return its path."""
    directory = home() / "reports"
    private_files.make(directory)
    file = directory / f"losses-{pair.source}-{pair.slave}.csv"
    file.unlink(missing_ok=True)
    with private_files.create_file(file) as new:
        new.write(text.encode())
    return str(file)
