"""Decoded changes: immutable, by columns, with the boundaries of transactions between them.

A parser gives one row after the other; `Records` keeps them by form, so that what has to be done to values is done to
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sluice.arrow_rows import concat, row_lists, take_rows
from sluice.changelog.schema import ROW
from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.names import TableName

# The server builds a message in a buffer of 1 GB at most.
MOST_BYTES = 1 << 30

# `lsn` is null where the stream does not say it; `form` is a place in `Decoded.forms`; `new` and `old` have the values
# that the form names, in its order, and are null where the stream has no such image.
DECODED = pa.schema(
    [
        ("lsn", pa.uint64()),
        ("form", pa.int32()),
        ("action", pa.string()),
        ("new", ROW),
        ("old", ROW),
    ]
)


@dataclass(frozen=True)
class Field:
    """A column of an image: its name, and its type as the server prints it, or the OID of that."""

    name: str
    type: str | int


@dataclass(frozen=True)
class Form:
    """All that changes of one kind have in common: values are the rest.

    Attributes:
        new: the columns of the new image; None if the stream has no new image.
        old: those of the old image. The server leaves out columns that are null, or not of the replica identity.
        unchanged: columns of the new image whose value is out of line and did not change, so that it is not sent.
        clauses: words that follow a TRUNCATE.
    """

    table: TableName
    action: Action
    new: tuple[Field, ...] | None = None
    old: tuple[Field, ...] | None = None
    unchanged: tuple[Field, ...] = ()
    clauses: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many values a change of this form has."""
        return len(self.new or ()) + len(self.old or ())


@dataclass(frozen=True)
class Begin:
    """The begin of a transaction. `at` counts, as in every mark, the changes of this piece that come before it.

    Attributes:
        lsn: of its first record, as the text says it.
        time: of its commit, as the server prints it.
    """

    at: int
    xid: int | None = None
    csn: int | None = None
    lsn: int | None = None
    time: str | None = None
    user: str | None = None
    origin: int | None = None


@dataclass(frozen=True)
class Commit:
    """The end of a transaction; `lsn` is where the next one can begin."""

    at: int
    xid: int | None = None
    csn: int | None = None
    lsn: int | None = None
    time: str | None = None


@dataclass(frozen=True)
class Message:
    """A logical message, which somebody wrote into the log."""

    at: int
    transactional: bool
    prefix: str
    content: str


Mark = Begin | Commit | Message


@dataclass(frozen=True)
class Decoded:
    """A piece of the stream: its changes by columns (`DECODED`), and the marks between them, in order."""

    changes: pa.RecordBatch
    forms: tuple[Form, ...]
    marks: tuple[Mark, ...]


def verbatim(column: Sequence[Any]) -> pa.StringArray:
    """Bytes that are texts, as they are."""
    return pa.array(column, pa.binary()).view(pa.string())


class Records:
    """What was decoded since it was taken last. The order of marks and changes is checked as they come.

    Args:
        exact: makes the exact values of a column out of what a parser gives.
    """

    def __init__(self, exact: Callable[[Sequence[Any]], pa.StringArray] = verbatim) -> None:
        self._exact = exact
        self.forget()

    def forget(self) -> None:
        """Forget all that was not taken, and the transaction that is open: the stream begins anew."""
        self.in_transaction = self._failed = False
        self._clear()

    def fail(self) -> None:
        """A message could be read in part, so nothing that came with it can be taken."""
        self._failed = True

    def _clear(self) -> None:
        self._numbers: dict[Form, int] = {}
        self._rows: list[list[Sequence[Any]]] = []
        self._order: list[int] = []
        self._lsns: list[int | None] = []
        self._marks: list[Mark] = []
        self.size = 0

    def __len__(self) -> int:
        return len(self._order)

    def expect_room(self, size: int) -> None:
        """Account for a message of this size. Raises SluiceError SLC-420: more than memory is meant for."""
        self.size += size
        if size > MOST_BYTES or self.size > 2 * MOST_BYTES:
            raise SluiceError(
                420,
                f"{self.size:,} bytes of the decoded stream are to be kept at once, {size:,} of them in one message",
                "no server sends so much in one message, so look at what stands between; otherwise this is a defect: "
                "report it",
            )

    def begin(self, mark: Begin) -> None:
        """A transaction begins."""
        self._expect(not self.in_transaction, "a transaction begins within another one")
        self.in_transaction = True
        self._marks.append(mark)

    def commit(self, mark: Commit) -> None:
        """The transaction ends."""
        self._expect(self.in_transaction, "a transaction ends that did not begin")
        self.in_transaction = False
        self._marks.append(mark)

    def message(self, mark: Message) -> None:
        """A logical message came; one that belongs to a transaction comes within it."""
        self._expect(self.in_transaction or not mark.transactional, "a transaction's message comes outside of it")
        self._marks.append(mark)

    def change(self, form: Form, values: Sequence[Any], lsn: int | None) -> None:
        """A change, with the values of its new image and of its old one, one after the other."""
        if not self.in_transaction:
            self._expect(False, f"a change of {form.table} comes outside of a transaction")
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = len(self._rows)
            self._rows.append([])
        self._rows[number].append(values)
        self._order.append(number)
        self._lsns.append(lsn)

    def expect_whole(self) -> None:
        """The stream ended. Raises SluiceError SLC-420 if it did so within a transaction."""
        self._expect(not self.in_transaction, "the stream ends within a transaction")

    def _expect(self, right: bool, otherwise: str) -> None:
        if not right:
            raise SluiceError(
                420,
                f"the decoded stream is out of order: {otherwise}, after {len(self):,} changes since it was taken last",
                "nothing of it was taken; run it again, so that the slot sends it anew. If that ends here again, this "
                "is a defect: report it",
            )

    def taken(self) -> Decoded:
        """All of it; from here on there is nothing, and the transaction that is open goes on.

        Raises:
            SluiceError: SLC-420, a message failed.
        """
        self._expect(not self._failed, "it goes on after a message that could not be read")
        forms = tuple(self._numbers)
        lists: dict[str, list[pa.Array]] = {"new": [pa.nulls(0, ROW)], "old": [pa.nulls(0, ROW)]}
        order = np.array(self._order, np.int32)
        for form, rows in zip(forms, self._rows, strict=True):
            columns = [self._exact(column) for column in zip(*rows, strict=True)]
            width = len(form.new or ())
            for side, fields, values in (("new", form.new, columns[:width]), ("old", form.old, columns[width:])):
                count = len(rows)
                lists[side].append(pa.nulls(count, ROW) if fields is None else _images(values, count))
        back = np.argsort(np.argsort(order, kind="stable"), kind="stable")
        actions = pa.array([form.action.value for form in forms], pa.string())
        changes = pa.RecordBatch.from_arrays(
            [
                pa.array(self._lsns, pa.uint64()),
                pa.array(order),
                actions.take(pa.array(order)),
                *(take_rows(concat(arrays), back) for arrays in lists.values()),
            ],
            schema=DECODED,
        )
        found = Decoded(changes, forms, tuple(self._marks))
        self._clear()
        return found


def _images(columns: Sequence[pa.StringArray], count: int) -> pa.ListArray:
    if columns:
        return row_lists(columns, count)
    return pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
