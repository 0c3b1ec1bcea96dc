"""Changes that a slave did not carry out: kept with their values, until somebody has them carried out or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Select, null, select
from sqlalchemy.dialects.postgresql import insert

from sluice import shell
from sluice.apply.mapping.table_view import Sight, seen, view
from sluice.apply.net.effects import Step
from sluice.changelog.schema import CHANGES
from sluice.connections import salt_of
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.drain.ddl_policy import expect_kept
from sluice.drain.plan import steps
from sluice.errors import SluiceError
from sluice.model.action import Command
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.row_conflict import Oddity, Rejected
from sluice.store import replications, statement_results
from sluice.store.engine import Store
from sluice.store.tables import of, rejected

_REMOVED, _UNSEEN = "removed", "removed unseen"
_IN_ORDER = (rejected.c.ordinal, rejected.c.repl_key, rejected.c.part)


@dataclass(frozen=True)
class Kept:
    """A change that was rejected, and since when it is kept."""

    id: int
    at: datetime
    change: Rejected


def keep(store: Store, pair: Pair, changes: Iterable[Rejected], removed: str = "", who: str | None = None) -> None:
    """Keep what a slave did not carry out; once, however often it is told.

    Args:
        removed: what somebody removes with it, for the audit trail; and `who` that is, if not this run or person.
    """
    with store.begin() as connection:
        if removed:
            replications.note(connection, pair, "remove first", removed, who)
        keep_in(connection, pair, changes)


def keep_in(connection: Connection, pair: Pair, changes: Iterable[Rejected]) -> None:
    """Keep what a slave does not carry out, in the caller's transaction."""
    # What a plugin splits a change into bears one key, and comes together.
    part = key = 0
    for one in changes:
        part, key = part + 1 if one.repl_key == key else 1, one.repl_key
        values = {
            "source": pair.source,
            "slave": pair.slave,
            "ordinal": one.ordinal,
            "repl_key": one.repl_key,
            "part": part,
            "reason": one.oddity or (_UNSEEN if one.unseen else _REMOVED),
            "layout": one.layout and one.layout.to_json(),
            "action": one.action,
            "new": null() if one.new is None else one.new,
            "old": null() if one.old is None else one.old,
        }
        connection.execute(insert(rejected).values(values).on_conflict_do_nothing())


def kept(store: Store, pair: Pair) -> list[Kept]:
    """What is kept of a slave, in the order of the stream."""
    with store.begin() as connection:
        return _kept(connection, select(rejected), pair)


def carry_out(context: Context, pair: Pair, numbers: Sequence[int]) -> tuple[int, int]:
    """Carry out what was rejected, in its order and in one transaction, whatever the rows are now.

    Args:
        numbers: which ones; all if none are named.

    Returns:
        how many changes that is, and how many rows were put right for it.

    Raises:
        SluiceError: SLC-122, one of them is not kept; or what the slave refuses. Nothing was changed.
    """
    slave = context.slave(pair)
    try:
        with _chosen(context.store, pair, numbers, "rejected changes carried out") as (chosen, there):
            # Whoever is interrupted from here on is told by the slave, the next time, what it has already (R3).
            found = slave.carry_out(
                [one.id for one in chosen],
                [one.id for one in there],
                lambda left: _steps(context, pair, [one for one in chosen if one.id in left]),
                partial(statement_results.answered, context.store, pair),
            )
    finally:
        slave.close()
    return len(chosen), found.total()


def drop(store: Store, pair: Pair, numbers: Sequence[int]) -> int:
    """Forget what was rejected; how many changes that is. Raises SluiceError SLC-122 if one of them is not kept."""
    with _chosen(store, pair, numbers, "rejected changes dropped") as (chosen, _):
        return len(chosen)


@contextmanager
def _chosen(store: Store, pair: Pair, numbers: Sequence[int], done: str) -> Iterator[tuple[list[Kept], list[Kept]]]:
    """Those that are named, and all that are kept; the former are forgotten when the block ends well. Who else wants to
    deal with them waits for it."""
    with store.begin() as connection:
        there = _kept(connection, select(rejected).with_for_update(), pair)
        if unknown := set(numbers) - {one.id for one in there}:
            raise SluiceError(
                122,
                f"no rejected change of {pair} is kept under {', '.join(map(str, sorted(unknown)))}",
                f"name those that `{shell.rejected(pair)}` lists; nothing was changed",
            )
        chosen = [one for one in there if one.id in numbers or not numbers]
        yield chosen, there
        connection.execute(rejected.delete().where(rejected.c.id.in_([one.id for one in chosen])))
        replications.note(connection, pair, done, ", ".join(str(one.id) for one in chosen))


def _kept(connection: Connection, selected: Select[Any], pair: Pair) -> list[Kept]:
    rows = connection.execute(selected.where(of(rejected, pair)).order_by(*_IN_ORDER))
    return [
        Kept(
            row.id,
            row.at,
            Rejected(
                row.layout and Layout.from_json(row.layout),
                None if row.reason in (_REMOVED, _UNSEEN) else Oddity(row.reason),
                row.action,
                row.ordinal,
                row.repl_key,
                row.new,
                row.old,
                unseen=row.reason == _UNSEEN,
            ),
        )
        for row in rows
    ]


def _steps(context: Context, pair: Pair, chosen: Sequence[Kept]) -> Iterator[Step]:
    rows = [
        {"ordinal": one.change.ordinal, "trans_key": "", "repl_key": one.change.repl_key, "layout": place}
        | {"action": one.change.action, "new": one.change.new, "old": one.change.old}
        for place, one in enumerate(chosen, 1)
    ]
    changes = pa.Table.from_pylist(rows, CHANGES)
    layouts = {place: one.change.layout for place, one in enumerate(chosen, 1) if one.change.layout}
    if unseen := [place for place in layouts if chosen[place - 1].change.unseen]:
        mapper, salt = context.mapper(pair), salt_of(context.connections, context.config.slave(pair.slave).salt)
        excluded = [place for place in unseen if mapper.excludes(layouts[place].name)]
        sights = {place: Sight(view(mapper, layouts[place]), salt) for place in unseen if place not in excluded}
        of_excluded = pc.is_in(changes["layout"], value_set=pa.array(excluded, pa.int64()))
        changes = seen(changes.filter(pc.invert(of_excluded)), sights)
        layouts |= {place: one.view.layout for place, one in sights.items()}
    for step in steps(changes, layouts):
        if not isinstance(step, Command):
            expect_kept(step, partial(shared_tables.others, context, pair))
        yield step
