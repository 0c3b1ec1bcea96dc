"""The description of one comparison for a Spark task: a table of one slave, and the addresses of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import randbits
from typing import TYPE_CHECKING, Protocol

from sluice.errors import NotByKeys, SluiceError, SortedOtherwise, TransientError
from sluice.model.key_choice import KeyChoice
from sluice.model.key_sample import SEED_BITS, KeySample
from sluice.verify.difference import Keeping

if TYPE_CHECKING:
    from sluice.apply.mapping.table_view import TableView
    from sluice.model.key_range import KeyInterval
    from sluice.model.names import TableName
    from sluice.model.watched import Pattern
    from sluice.vendors.protocol.read import Key


@dataclass(frozen=True)
class Side:
    """One side: where, and in which exported snapshot; of a master also the roles whose functions may run with our
    rights, and of a slave the tables that may belong to others.
    """

    vendor: str
    connection: str
    snapshot_id: str
    trusted: tuple[str, ...] = ()
    adopted: frozenset[Pattern] = frozenset()


@dataclass(frozen=True)
class KeyColumnRange:
    """Rows between two values of a column of the key.

    Attributes:
        column: its index among the columns of the view's layout.
        low, high: the first value that is in it, and the first one beyond it, as texts; None if there is no bound.
        cuts: values in between, in order, which cut it into parts.
        sorting: how both sides sorted the column when the range was cut, as far as that is looked at again.
    """

    column: int
    low: str | None
    high: str | None
    cuts: tuple[str, ...] = ()
    sorting: str | None = None


@dataclass(frozen=True)
class GivenKeys:
    """Rows of some keys.

    Attributes:
        columns: the master's, in the order of the slave's key.
        keys: values of these columns, as texts that the master reads; one row may have several.
    """

    columns: tuple[str, ...]
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Comparison:
    """One table of one slave, compared by one task; nothing in here is secret but what is sealed.

    Attributes:
        sample: the keys that are compared.
        least: how many keys suffice; `cut` draws a sample of them, where that saves reading rows.
        salt: the id of the connection with the slave's salt.
        own_rows: the slave may have rows that the master has not.
        keeping: the rows to keep of those that differ.
        checksums: the databases may compute checksums of rows, so that only rows of ranges that differ are read.
        within: the rows to compare, if not all.
        keys: only rows of these ranges of keys are compared; all if there is none.
        only: only rows of these keys are compared; all if there is none.
        why_whole: why all rows are compared, although some keys were asked for.
        seeds: of the hashes, which are others in each comparison: nobody can choose rows beforehand whose sums fit.
    """

    sealed: str
    slave: str
    view: TableView
    master: Side
    replica: Side
    sample: KeySample = field(default_factory=KeySample)
    least: int | None = None
    salt: str | None = None
    own_rows: bool = False
    keeping: Keeping = field(default_factory=Keeping)
    checksums: bool = True
    within: KeyColumnRange | None = None
    keys: tuple[KeyInterval, ...] = ()
    only: GivenKeys | None = None
    why_whole: str = ""
    seeds: tuple[int, int] = field(default_factory=lambda: (randbits(SEED_BITS), randbits(SEED_BITS)))


NO_KEY = "its rows have no key"
SHAPED = "the slave gets computed, masked or chosen rows"


def not_by_keys(job: Comparison, why: str) -> SluiceError:
    """Rows of some keys of a table cannot be told alike on both sides."""
    return SluiceError(
        622,
        f"ranges of keys of {job.view.master.name} cannot be compared on slave {job.slave}: {why}",
        "nothing was changed; trigger verify with `tables` in place of `ranges`",
    )


def not_by_given_keys(slave: str, whys: Mapping[TableName, str]) -> NotByKeys:
    """Rows of these tables cannot be compared by the keys that the change log has."""
    said = "; ".join(f"{table}: {why}" for table, why in whys.items())
    return NotByKeys(
        622,
        f"rows changed since a position cannot be compared on slave {slave}: {said}",
        "nothing was changed; trigger verify with `tables` that are not among these, or without `since`",
    )


def no_keys(job: Comparison, why: str) -> SluiceError:
    """The bounds of ranges are no keys of their table."""
    return SluiceError(
        640,
        f"no keys of {job.view.master.name} are so: {why}",
        f"nothing was changed; trigger verify again with values of its key: {', '.join(job.view.ours.key_names)}",
    )


def key_choice(job: Comparison) -> KeyChoice:
    """The ranges of keys of a comparison whose sides give rows as texts.

    Raises:
        SluiceError: SLC-622, databases may sort these keys otherwise; SLC-640, there are no such keys.
    """
    ours = job.view.ours
    if not ours.key:
        raise not_by_keys(job, NO_KEY)
    if job.view.is_shaped:
        raise not_by_keys(job, SHAPED)
    if any(ours.columns[place].generated for place in ours.key):
        raise not_by_keys(job, "the server computes a column of its key")
    try:
        return KeyChoice.from_ranges(ours.key_names, [ours.columns[place].type for place in ours.key], job.keys)
    except TypeError as error:
        raise not_by_keys(job, str(error)) from None
    except ValueError as error:
        raise no_keys(job, str(error)) from None


def sorted_otherwise(job: Comparison) -> SortedOtherwise:
    """A key is not sorted as it was when the table was cut: its parts may have other rows, or leave some out."""
    return SortedOtherwise(
        95,
        f"a database sorts the keys of {job.view.master.name} otherwise than when its comparison began",
        "nothing was changed; the run tries again by itself, and compares all rows of this slave anew",
    )


class GivesWay(Protocol):
    """Ends sessions that read a table if a statement of others waits for it too long."""

    @property
    def reason(self) -> TransientError | None:
        """Why it ended them; None if it did not."""
