"""Comparing rows of given keys: each side is asked for some of them at a time, as a repair asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.protocol.read import Key
from sluice.verify.difference import Difference, RowReader
from sluice.verify.merge_compare import compare, key_of

# Keys of one statement.
_AT_ONCE = 500

# The lines of both sides for some keys, each sorted by key and row.
BothSides = Callable[[Sequence[Key]], AbstractContextManager[tuple[Iterator[bytes], Iterator[bytes]]]]


def tells_alike(job: Comparison, master: Connection, replica: Connection) -> bool:
    """Whether two values of the key are equal on one side where they are on the other: both find the same rows then."""
    sides = ((master, job.view.ours), (replica, job.view.layout))
    if job.view.is_shaped:
        sides = ((master, job.view.master), (replica, job.view.layout))
    assert job.only is not None
    one, other = (
        _equality(session, regclass(layout.name), names)
        for (session, layout), names in zip(sides, (job.only.columns, job.view.layout.key_names), strict=True)
    )
    return one == other and None not in one


def compare_given(job: Comparison, sides: BothSides, reader: RowReader) -> Difference:
    """Compare the rows of the keys of a comparison."""
    assert job.only is not None
    found, seen = Difference(), (_Seen(), _Seen())
    for start in range(0, len(job.only.keys), _AT_ONCE):
        with sides(job.only.keys[start : start + _AT_ONCE]) as (ours, theirs):
            compare(seen[0].fresh(ours), seen[1].fresh(theirs), reader, into=found)
        for one in seen:
            one.turn()
    found.size = found.moved
    if found.more:
        found.note_range((None, None))
    return found


class _Seen:
    """The rows of one side that an earlier statement gave: the log may have several texts of one key, as 1.0 and 1.00.

    Rows of one statement may share a key, where the slave's table lets them.
    """

    def __init__(self) -> None:
        self._before: set[bytes] = set()
        self._now: set[bytes] = set()

    def fresh(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Those that no earlier statement gave."""
        for line in lines:
            key = key_of(line)
            self._now.add(key)
            if key not in self._before:
                yield line

    def turn(self) -> None:
        """The next statement begins."""
        self._before |= self._now
        self._now.clear()


def _equality(session: Connection, relation: str, columns: Sequence[str]) -> list[str | None]:
    asked = {"relation": relation, "columns": list(columns)}
    return [kind for (kind,) in session.execute(composed("read/compare/equality"), asked)]
