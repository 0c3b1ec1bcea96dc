"""Writing net effects into a slave's tables: staged by COPY, then one statement an effect and table.

Two ways to write the same end: *in place* (delete what is gone, update what changed, insert what is new), and
*replaced* (delete every key in hand, insert every last image), for what in-place writing cannot do: unique values that
rows swapped among themselves, rows that are there against expectation, keys that nothing checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import pyarrow as pa
from psycopg import Copy, sql
from pyarrow import csv

from sluice.apply.net.net_effect import CountedNet, KeyedNet, Net, cells
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, restore
from sluice.vendors.postgresql.write.staging import StagedTable


class StagedCounts(NamedTuple):
    """The numbers of rows in a stage, by their effects.

    Attributes:
        gone, known_gone, changed, fresh: as in `KeyedNet`.
        images, added: of a table without a key, how many images, and the sum of what is added to their counts.
        shrinking: of how many of these the count may be kept from falling below 0.
    """

    gone: int = 0
    known_gone: int = 0
    changed: int = 0
    fresh: int = 0
    images: int = 0
    added: int = 0
    shrinking: int = 0

    def and_(self, other: StagedCounts) -> StagedCounts:
        """Both of them."""
        return StagedCounts(*map(add, self, other))


def stage(connection: Connection, target: StagedTable, net: Net, changes: pa.Table) -> StagedCounts:
    """Send what becomes of some keys, or of some images, to the stage of their table."""
    if isinstance(net, KeyedNet):
        _stage_keyed(connection, target, net, changes)
        return StagedCounts(len(net.gone), net.known_gone, len(net.changed), len(net.fresh))
    _stage_counted(connection, target, net)
    added = [added for _, added, _ in net.effects]
    shrinking = sum(least > added for _, added, least in net.effects)
    return StagedCounts(images=len(added), added=sum(added), shrinking=shrinking)


def _stage_keyed(connection: Connection, target: StagedTable, net: KeyedNet, changes: pa.Table) -> None:
    """Send the rows of a net effect to the stage, each with what is to become of it."""
    width = len(net.layout.columns)
    places = {"D": net.gone, "U": net.changed, "I": net.fresh}
    for op, chosen in places.items():
        if chosen:
            side, columns = ("old", net.layout.key) if op == "D" else ("new", target.written)
            rows = cells(changes[side], chosen, width, columns)
            _copy(connection, target, [pa.array([op] * len(chosen)), *(rows[index] for index in target.written)])


def _stage_counted(connection: Connection, target: StagedTable, net: CountedNet) -> None:
    """Send the images of a table without a key, with what is to become of their counts."""
    if net.effects:
        images, added, least = zip(*net.effects, strict=True)
        columns = [pa.array([image[index] for image in images], pa.string()) for index in target.written]
        _copy(connection, target, [pa.array(added), pa.array(least), *columns])


def delete_doubled(connection: Connection, target: StagedTable) -> Tolerated:
    """Delete rows that exist against expectation, where no unique index would report them. Returns their number."""
    found = 0 if target.enforced else _run(connection, "delete_doubled", target)
    return conflict_counts(target.name, duplicate=found)


def broken(connection: Connection, target: StagedTable) -> str | None:
    """A constraint that is checked late, and that rows which came have broken; its name, if there is one."""
    came = "stage.sluice_op <> 'D'" if target.key else "stage.sluice_a > 0 OR stage.sluice_b > 0"
    for name, same in target.late:
        if _run(connection, "late", target, same=same, came=sql.SQL(came)):
            return name
    return None


def delete_gone(connection: Connection, target: StagedTable, staged: StagedCounts) -> Tolerated:
    """Delete the keys that are absent at the end. Returns what was not as expected: there, or not there."""
    found = _run(connection, "delete", target, op="D") if staged.gone else staged.known_gone
    return conflict_counts(target.name, missing=staged.known_gone - found)


def write_changed(connection: Connection, target: StagedTable, staged: StagedCounts) -> Tolerated:
    """In place: update what changed; a row that is missing is put back. Returns how many were missing."""
    if not staged.changed:
        return Tolerated()
    renumbered = _run(connection, "delete_renumbered", target) if target.numbered else 0
    found = _run(connection, "update", target) if target.updated else 0
    if found == staged.changed:
        return Tolerated()
    return conflict_counts(target.name, missing=_run(connection, "insert_missing", target) - renumbered)


def write_fresh(connection: Connection, target: StagedTable, staged: StagedCounts) -> None:
    """In place: insert what is new; fails on a key that is there already."""
    if staged.fresh:
        _run(connection, "insert", target, op="I")


def delete_all(connection: Connection, target: StagedTable, staged: StagedCounts) -> Tolerated:
    """Replaced, first half: delete every key in hand. Returns what was not as expected."""
    found = delete_gone(connection, target, staged)
    if staged.changed:
        found += conflict_counts(target.name, missing=staged.changed - _run(connection, "delete", target, op="U"))
    if staged.fresh:
        found += conflict_counts(target.name, duplicate=_run(connection, "delete", target, op="I"))
    return found


def insert_all(connection: Connection, target: StagedTable, staged: StagedCounts) -> None:
    """Replaced, second half: insert every last image."""
    for op, rows in (("U", staged.changed), ("I", staged.fresh)):
        if rows:
            _run(connection, "insert", target, op=op)


def empty(connection: Connection, target: StagedTable) -> None:
    """Apply a TRUNCATE of the master, by DELETE, since foreign keys may refer to the table."""
    _run(connection, "empty", target)


def write_counts(connection: Connection, target: StagedTable, staged: StagedCounts) -> Tolerated:
    """Bring each image's count to max(c + a, b). Returns how many rows to be deleted were not there."""
    if not staged.images:
        return Tolerated()
    gone = _run(connection, "count", target) if staged.shrinking else 0
    came = _run(connection, "count_add", target)
    return conflict_counts(target.name, missing=came - gone - staged.added)


def _run(connection: Connection, name: str, target: StagedTable, op: str | None = None, **parts: sql.Composable) -> int:
    more = parts | ({"op": sql.Literal(op)} if op else {})
    with translated(f"writing to {target.name}"):
        # Planned each time: a plan made for a large batch would read the whole table for each small one after it.
        rows = connection.execute(composed(f"write/{name}", **target.parts, **more), prepare=False).rowcount
        if target.coded:
            restore(connection)
    return rows


def _copy(connection: Connection, target: StagedTable, columns: Sequence[pa.Array]) -> None:
    table = pa.table(list(columns), names=[str(number) for number in range(len(columns))])
    copy_in = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(sql.Identifier(target.stage))
    with translated(f"staging changes of {target.name}", target.named):
        with connection.cursor().copy(copy_in) as copy:
            csv.write_csv(table, _Sink(copy), csv.WriteOptions(include_header=False, quoting_style="needed"))
        if target.coded:
            restore(connection)


class _Sink:
    """A COPY as Arrow's writer sees a file."""

    closed = False

    def __init__(self, copy: Copy) -> None:
        self.write = copy.write

    def flush(self) -> None:
        """The COPY sends what it has when it likes."""
