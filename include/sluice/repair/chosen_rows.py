"""Chosen rows of a report: which they are, and whether they differ afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sluice import shell
from sluice.context import Context
from sluice.errors import SluiceError, sanitize
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import KINDS, RowDifference
from sluice.model.row_numbers import RowNumbers
from sluice.store import comparisons
from sluice.store.comparisons import TableReport
from sluice.store.engine import Store
from sluice.vendors.protocol.read import Key

# So many numbers that a report has not are named.
_NAMED = 5
_AT_ONCE = 5_000


def numbers(text: str) -> RowNumbers:
    """The rows that are named. Raises SluiceError SLC-466, the text has another form."""
    try:
        return RowNumbers.parse(text)
    except ValueError as error:
        raise _unreadable(sanitize(f"rows {text[:80]!r} cannot be read: {error}")) from None


def expect_alone(rows: RowNumbers | None, report: int | None, kinds: Collection[str]) -> None:
    """See that numbers are those of a report, and that nothing else chooses among its rows.

    Raises:
        SluiceError: SLC-466.
    """
    if rows is None:
        return
    if report is None:
        raise _unreadable("rows are chosen, and no report: they are numbers of its rows")
    if set(kinds) != set(KINDS):
        raise _unreadable("rows are chosen, and kinds of rows as well")


def one_table(chosen: Sequence[TableReport]) -> TableReport:
    """The table whose rows the numbers are. Raises SluiceError SLC-466, it is none, or one of several."""
    if len(chosen) == 1:
        return chosen[0]
    several = ", ".join(str(table.table) for table in chosen)
    raise _unreadable(
        f"rows are chosen by numbers, which are those of one table, and rows differ of {several}"
        if chosen
        else "rows are chosen, and no row of this table differs"
    )


def read(store: Store, pair: Pair, report: TableReport, rows: RowNumbers) -> list[tuple[int, RowDifference]]:
    """These rows of a table, each with its number. Raises SluiceError SLC-466, the report has not all of them."""
    rows_read: list[tuple[int, RowDifference]] = []
    for first, last in rows.spans:
        while first <= last:
            page = comparisons.rows_of(store, report.id, min(last - first + 1, _AT_ONCE), first - 1)
            rows_read += [entry for entry in page if entry[0] <= last]
            if not page or page[-1][0] >= last:
                break
            first = page[-1][0] + 1
    if lacking := rows.without(RowNumbers.from_numbers(number for number, _ in rows_read)):
        named = RowNumbers(lacking.spans[:_NAMED])
        more = " and others" if len(lacking.spans) > _NAMED else ""
        raise SluiceError(
            466,
            f"report {report.report} has no rows {named}{more} of {report.table}; perhaps housekeeping deleted them",
            "nothing was changed; the rows that it has, with their numbers: "
            f"{shell.sluice('repair', pair.source, pair.slave, '--from', str(report.report), '--dry-run')}",
        )
    return rows_read


def still_differing(
    context: Context, later: Collection[TableReport], keys: Mapping[TableName, Collection[Key]]
) -> bool | None:
    """Whether one of these keys is among the rows that differ in a later report; None if it does not keep all rows, and
    may leave out chosen ones.
    """
    tables = [table for table in later if table.table in keys]
    rows = ((table.table, row) for table in tables for _, row in comparisons.rows_of(context.store, table.id))
    if any(tuple(map(str, row.key)) in keys[table] for table, row in rows):
        return True
    return None if any(table.more for table in tables) else False


def _unreadable(why: str) -> SluiceError:
    like = shell.sluice("repair", "SOURCE", "SLAVE", "--from", 4711, "--table", "public.legs", "--rows", "3,5,10-20")
    return SluiceError(466, why, f"nothing was changed; name a report, one table and numbers of its rows: {like}")
