"""Rejected changes of a slave: kept with their values until an administrator retries or drops them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, case, func, null, select
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by, insert

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.row_conflict import RejectedChange, RowConflict
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import REMOVED, REMOVED_UNSEEN, for_pair, rejected

_IMAGES = (rejected.c.new, rejected.c.old)
_IN_ORDER = (rejected.c.ordinal, rejected.c.repl_key, rejected.c.part)


@dataclass(frozen=True)
class KeptChange:
    """A change that was rejected, and since when it is kept."""

    id: int
    at: datetime
    change: RejectedChange


def keep(
    store: Store, pair: Pair, changes: Iterable[RejectedChange], removed: str = "", who: str | None = None
) -> None:
    """Store rejected changes; each is stored once, also if it is reported again.

    Args:
        removed: what somebody removes with it, for the audit trail; and `who` that is, if not this run or person.
    """
    with store.begin() as connection:
        if removed:
            replications.note(connection, pair, "remove first", removed, who)
        keep_in(connection, pair, changes)


def keep_in(connection: Connection, pair: Pair, changes: Iterable[RejectedChange]) -> None:
    """Keep what a slave does not carry out, in the caller's transaction."""
    # What a plugin splits a change into bears one key, and comes together.
    part = key = 0
    for change in changes:
        part, key = part + 1 if change.repl_key == key else 1, change.repl_key
        values = {
            "source": pair.source,
            "slave": pair.slave,
            "ordinal": change.ordinal,
            "repl_key": change.repl_key,
            "part": part,
            "reason": change.conflict or (REMOVED_UNSEEN if change.unseen else REMOVED),
            "layout": change.layout and change.layout.to_json(),
            "action": change.action,
            "new": null() if change.new is None else change.new,
            "old": null() if change.old is None else change.old,
        }
        connection.execute(insert(rejected).values(values).on_conflict_do_nothing())


def list_changes(store: Store, pair: Pair) -> list[KeptChange]:
    """The rejected changes of a slave, in the order of the stream."""
    with store.begin() as connection:
        return _read(connection, select(rejected), pair)


def counts(store: Store, pair: Pair | None = None) -> dict[Pair, int]:
    """Count the changes that are kept for each replication that has any, or for this one."""
    counted = select(rejected.c.source, rejected.c.slave, func.count()).group_by(rejected.c.source, rejected.c.slave)
    with store.begin() as connection:
        rows = connection.execute(counted.where(for_pair(rejected, pair)) if pair else counted).all()
    return {Pair(source, slave): number for source, slave, number in rows}


def page(store: Store, pair: Pair, most: int, after: int, *, letters: int) -> list[KeptChange]:
    """Some of the rejected changes of a slave, in the order of the stream: those behind the first `after` ones.

    Args:
        letters: so many of each value are read; none if zero, and the images are None.
    """
    wanted = select(rejected.c.id).where(for_pair(rejected, pair)).order_by(*_IN_ORDER).limit(most).offset(after)
    others = [column for column in rejected.c if column not in _IMAGES]
    images = [(_beginnings(image, letters) if letters else null()).label(image.name) for image in _IMAGES]
    with store.begin() as connection:
        return _read(connection, select(*others, *images).where(rejected.c.id.in_(wanted)), pair)


def newest(store: Store, pair: Pair) -> int:
    """The number of the change that was kept last; zero if there is none."""
    with store.begin() as connection:
        return connection.scalar(select(func.max(rejected.c.id)).where(for_pair(rejected, pair))) or 0


def drop(
    store: Store, pair: Pair, numbers: Sequence[int], *, through: int | None = None, who: str | None = None
) -> int:
    """Forget what was rejected; how many changes that is. Raises SluiceError SLC-003 if one of them is not kept.

    Args:
        numbers, through, who: as `chosen` has them.
    """
    with take(store, pair, numbers, "rejected changes dropped", through=through, who=who) as (dropped, _):
        return len(dropped)


@contextmanager
def take(
    store: Store,
    pair: Pair,
    numbers: Sequence[int],
    done: str,
    *,
    through: int | None = None,
    who: str | None = None,
) -> Iterator[tuple[list[KeptChange], list[KeptChange]]]:
    """The chosen rejected changes, and all of them; the chosen ones are deleted if the block succeeds. They are locked
    until then.

    Args:
        numbers: which ones; all if none are named.
        through: with all, the changes up to this number: the person who chose has not seen later ones.
        who: wants it, if not this run or the person at the shell.
    """
    with store.begin() as connection:
        everything = _read(connection, select(rejected).with_for_update(), pair)
        if unknown := set(numbers) - {kept.id for kept in everything}:
            raise SluiceError(
                3,
                f"no rejected change of {pair} is kept under {', '.join(map(str, sorted(unknown)))}",
                f"name those that `{shell.rejected_changes(pair)}` lists; nothing was changed",
            )
        last = float("inf") if through is None else through
        named = [kept for kept in everything if (kept.id in numbers if numbers else kept.id <= last)]
        yield named, everything
        connection.execute(rejected.delete().where(rejected.c.id.in_([kept.id for kept in named])))
        replications.note(connection, pair, done, ", ".join(str(kept.id) for kept in named), who)


def _beginnings(image: Column[Any], letters: int) -> ColumnElement[Any]:
    """The values of an image, cut where they are stored: they may be larger than who asks for them can hold."""
    values = func.jsonb_array_elements_text(image).table_valued("value", with_ordinality="place").render_derived()
    each = func.jsonb_agg(aggregate_order_by(func.left(values.c.value, letters), values.c.place), type_=JSONB)
    # No image may be a null of JSON as well.
    return case((func.jsonb_typeof(image) == "array", select(each).scalar_subquery()))


def _read(connection: Connection, selected: Select[Any], pair: Pair) -> list[KeptChange]:
    rows = connection.execute(selected.where(for_pair(rejected, pair)).order_by(*_IN_ORDER))
    return [
        KeptChange(
            row.id,
            row.at,
            RejectedChange(
                row.layout and Layout.from_json(row.layout),
                None if row.reason in (REMOVED, REMOVED_UNSEEN) else RowConflict(row.reason),
                row.action,
                row.ordinal,
                row.repl_key,
                row.new,
                row.old,
                unseen=row.reason == REMOVED_UNSEEN,
            ),
        )
        for row in rows
    ]
