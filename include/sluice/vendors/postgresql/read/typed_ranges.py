"""Ranges of keys of a comparison: both sides have to understand them alike, and get the master's spelling of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import psycopg
from psycopg import sql

from sluice.model.key_range import KeyInterval
from sluice.model.layout import Layout
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.read.checksums import ChecksumSide
from sluice.vendors.postgresql.read.key_range import keys
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.compare import NO_KEY, SHAPED, Comparison, no_keys, not_by_keys
from sluice.vendors.protocol.read import Key


def typed(job: Comparison, master: Connection, replica: Connection) -> Comparison:
    """The comparison with values of the key's types in its ranges.

    A value such as `now` is another one each time that it is read, so it is read once.

    Raises:
        SluiceError: SLC-622, the sides do not sort these keys alike; SLC-640, there are no such keys.
    """
    layout = job.view.layout
    if not layout.key:
        raise not_by_keys(job, NO_KEY)
    if job.view.is_shaped:
        raise not_by_keys(job, SHAPED)
    bounds = [bound for one in job.keys for bound in (one.first, one.until) if bound]
    used = max(map(len, bounds), default=0)
    if used > len(layout.key):
        raise no_keys(job, f"the key has fewer values than {used}")
    ours, theirs = (
        ChecksumSide(session, side, job.sample, job.seeds)
        for session, side in ((master, job.view.ours), (replica, layout))
    )
    for column in layout.key[:used]:
        sorting = ours.sorting(column)
        if sorting is None or sorting != theirs.sorting(column):
            raise not_by_keys(job, f"its key {layout.columns[column].name} may be sorted otherwise there, or be NULL")
    try:
        found = tuple(_spelled(master, job.view.ours, one) for one in job.keys)
        for one in found:
            _spelled(replica, layout, one)
    except (ValueError, psycopg.DataError) as error:
        raise no_keys(job, str(error).splitlines()[0]) from None
    return replace(job, keys=found)


def _spelled(session: Connection, layout: Layout, one: KeyInterval) -> KeyInterval:
    first, until = (bound and _key(session, layout, bound) for bound in (one.first, one.until))
    if first and until:
        sides = [
            sql.SQL(", ").join(_values(session, layout, bound[: min(len(first), len(until))]))
            for bound in (first, until)
        ]
        asked = composed("read/sorted", one=sides[0], other=sides[1])
        if session.execute(asked).fetchone() != (True,):
            raise ValueError(f"{', '.join(until)} is before {', '.join(first)}")
    return replace(one, first=first, until=until)


def _key(session: Connection, layout: Layout, bound: Key) -> Key:
    values = sql.SQL(", ").join(_values(session, layout, bound))
    return keys(session.execute(composed("read/compare/typed_key", values=values)))[0]


def _values(session: Connection, layout: Layout, bound: Sequence[str]) -> list[sql.Composable]:
    """Each value, which gets the type of its column."""
    read, rows = sql.SQL("coalesce((SELECT {} FROM {} LIMIT 0), {})"), relations.rows_of(session, layout.name)
    return [
        read.format(sql.Identifier(name), rows, sql.Literal(value))
        for name, value in zip(layout.key_names, bound, strict=False)
    ]
