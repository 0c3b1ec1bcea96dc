"""Carries out changes that a slave had rejected, in their order and in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import BoundView, mapped_and_filtered, view
from sluice.apply.net.effects import Step
from sluice.changelog.schema import CHANGES
from sluice.connections import find_salt
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.drain.ddl_policy import expect_kept
from sluice.drain.plan import steps
from sluice.model.action import Command
from sluice.model.names import Pair
from sluice.store import rejected_changes, statement_results
from sluice.store.rejected_changes import KeptChange


def carry_out(
    context: Context, pair: Pair, numbers: Sequence[int], *, through: int | None = None, who: str | None = None
) -> tuple[int, int]:
    """Apply rejected changes in order and in one transaction, whatever the rows are now.

    Args:
        numbers: which ones; all if none are named.
        through: of all, those up to this number.
        who: wants it, if not this run or the person at the shell.

    Returns:
        how many changes that is, and how many rows were put right for it.

    Raises:
        SluiceError: SLC-003, one of them is not kept; or what the slave refuses. Nothing was changed.
    """
    slave = context.slave(pair)
    try:
        wanted = rejected_changes.take(
            context.store, pair, numbers, "rejected changes carried out", through=through, who=who
        )
        with wanted as (named, everything):
            # A run that is interrupted from here on learns from the slave, the next time, what that has already (R3).
            counts = slave.carry_out(
                [change.id for change in named],
                [change.id for change in everything],
                lambda left: _steps(context, pair, [change for change in named if change.id in left]),
                partial(statement_results.record_answer, context.store, pair),
            )
    finally:
        slave.close()
    return len(named), counts.total()


def _steps(context: Context, pair: Pair, chosen: Sequence[KeptChange]) -> Iterator[Step]:
    rows = [
        {"ordinal": kept.change.ordinal, "trans_key": "", "repl_key": kept.change.repl_key, "layout": index}
        | {"action": kept.change.action, "new": kept.change.new, "old": kept.change.old}
        for index, kept in enumerate(chosen, 1)
    ]
    changes = pa.Table.from_pylist(rows, CHANGES)
    layouts = {index: kept.change.layout for index, kept in enumerate(chosen, 1) if kept.change.layout}
    if unseen := [index for index in layouts if chosen[index - 1].change.unseen]:
        mapper, salt = context.mapper(pair), find_salt(context.connections, context.config.slave(pair.slave).salt)
        excluded = [index for index in unseen if mapper.excludes(layouts[index].name)]
        sights = {index: BoundView(view(mapper, layouts[index]), salt) for index in unseen if index not in excluded}
        of_excluded = pc.is_in(changes["layout"], value_set=pa.array(excluded, pa.int64()))
        changes = mapped_and_filtered(changes.filter(pc.invert(of_excluded)), sights)
        layouts |= {number: sight.view.layout for number, sight in sights.items()}
    for step in steps(changes, layouts):
        if not isinstance(step, Command):
            expect_kept(step, partial(shared_tables.others, context, pair))
        yield step
