"""Plans of repairs: the rows of a report, and the reasons why they cannot be repaired."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sluice import shell
from sluice.apply.mapping.slave_key import masters_columns
from sluice.apply.mapping.table_view import TableView
from sluice.config.mapper import Mapper
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.drain.third_databases import expect_arriving
from sluice.errors import FencedError, SluiceError, Unrepairable
from sluice.model.action import FilledRows
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import KINDS, RowDifference
from sluice.model.row_numbers import RowNumbers
from sluice.outside_text import MOST_SAID, in_one_line, shorten
from sluice.repair import chosen_rows
from sluice.state.replication import Status
from sluice.store import blocked, comparisons, replications
from sluice.store.comparisons import TableReport
from sluice.store.replications import ReplicationState
from sluice.values.keyed_rows import spelled_alike
from sluice.vendors.protocol.read import Key
from sluice.vendors.registry import vendor

T = TypeVar("T")
U = TypeVar("U")
# The reasons of tables that are left out; None: nothing may be, for somebody named the table.
LeftOut = list[Unrepairable] | None


@dataclass(frozen=True)
class RowsPlan:
    """The rows of one table that are to be repaired.

    Attributes:
        more: rows that differ as well, and that the report does not name.
        numbers: those of these rows in the report, in the same order.
        left: rows of the report that were not chosen by their numbers.
    """

    report: TableReport
    rows: tuple[RowDifference, ...]
    more: int
    numbers: tuple[int, ...] = ()
    left: int = 0

    @property
    def keys(self) -> list[Key]:
        """The keys of these rows, those of extra rows first: a row that is to come may have a value of theirs that is
        unique.
        """
        keys = (tuple(str(value) for value in row.key) for kind in KINDS for row in self.rows if row.kind == kind)
        return list(dict.fromkeys(keys))

    def statements(self) -> Iterator[str]:
        """A repair as SQL; ``:column`` stands for the master's value of that time."""
        for row in self.rows:
            yield statement(self.report.on_slave, self.report.key, row)


def statement(table: TableName, key: Sequence[str], row: RowDifference) -> str:
    """Write the repair of a row as SQL in one line, which people may paste.

    It is a comment if a name or a value could be more there than it is here: by a line of its own, by a quote that
    follows a backslash, which not every server takes for the end, or because the text is cut off inside of it.
    """
    text = _sql(table, key, row)
    shown = in_one_line(text)
    if shown == text and "\\" not in text and len(text) <= MOST_SAID:
        return text
    return shorten(f"-- {shown}")


def _sql(table: TableName, key: Sequence[str], row: RowDifference) -> str:
    name = f"{_quote(table.schema)}.{_quote(table.table)}"
    pairs = zip(key, row.key, strict=True)
    where = " AND ".join(f"{_quote(column)} = {_literal(value)}" for column, value in pairs)
    if row.kind == "extra":
        return f"DELETE FROM {name} WHERE {where};"
    if row.kind == "missing":
        return f"INSERT INTO {name} SELECT :row; -- {where}"
    values = ", ".join(f"{_quote(column)} = :{_quote(column)}" for column in row.columns)
    return f"UPDATE {name} SET {values} WHERE {where};"


def sift(tables: Iterable[T], repair: Callable[[T], U], left_out: LeftOut) -> list[U]:
    """Ask `repair` table by table, and leave out the tables that it refuses.

    Args:
        left_out: is given the reasons of the others; if it is None, the first of them is raised.
    """
    done = []
    for table in tables:
        try:
            done.append(repair(table))
        except Unrepairable as error:
            if left_out is None:
                raise
            left_out.append(error)
    return done


def unfit(context: Context, pair: Pair) -> SluiceError | None:
    """The error of a slave of a kind whose rows are never repaired; None if they can be."""
    slave = context.config.slave(pair.slave)
    way = vendor(slave.vendor).repair
    if way is not None and slave.keeps != "history":
        return None
    return SluiceError(
        468,
        f"rows of slave {pair.slave} cannot be repaired one by one: its kind of database has no such way",
        "nothing was changed; an initial update makes its rows those of "
        f"{pair.source}: {shell.update(pair.source, [pair.slave])}",
    )


def expect_ready(context: Context, pair: Pair) -> ReplicationState:
    """The replication, if rows of its slave may be repaired.

    Raises:
        SluiceError: SLC-468, its slave is of another kind; SLC-020, it is not NORMAL: it is being filled, or its
            rows are of unknown origin.
    """
    if error := unfit(context, pair):
        raise error
    replication = replications.get(context.store, pair)
    if replication.status is not Status.NORMAL:
        raise SluiceError(
            20,
            f"slave {pair.slave} is {replication.status}, and rows are repaired only of one that is NORMAL",
            # Of two masters it may be this one whose rows are to win.
            "nothing was changed. If an initial update is under way, wait for its end; else another one is needed, and "
            f"makes the rows of {pair.slave} those of {pair.source}: {shell.update(pair.source, [pair.slave])}",
        )
    return replication


def plan(
    context: Context,
    pair: Pair,
    report: int,
    tables: Collection[TableName] = (),
    kinds: Collection[str] = KINDS,
    rows: RowNumbers | None = None,
    left_out: LeftOut = None,
) -> list[RowsPlan]:
    """The rows of a report that are to be repaired, table by table.

    Args:
        tables: of the master; all of the report if none is named.
        rows: of one table, these alone.
        left_out: see `sift`.

    Raises:
        SluiceError: SLC-020, SLC-468, those of this slave cannot; SLC-466, there is no such report, or it is too old;
            SLC-467, rows of a table cannot be repaired; SLC-466, there are no such rows.
    """
    replication = expect_ready(context, pair)
    reports = comparisons.tables_of(context.store, report, pair)
    unknown = sorted(set(tables) - {table.table for table in reports})
    if not reports or unknown:
        missing = f"says nothing of {', '.join(map(str, unknown))}" if reports else f"is none of slave {pair.slave}"
        raise _unusable(pair, report, missing)
    differing = [table for table in reports if table.different and (not tables or table.table in tables)]
    _expect_recent(context, pair, report, differing, replication)
    if rows is not None:
        chosen_rows.one_table(differing)
    return sift(differing, lambda table: _table(context, pair, table, kinds, rows), left_out)


def expect_given(context: Context, pair: Pair, table: TableName) -> None:
    """See that the slave gets this table: rows of one that it does not get are its own, and no comparison looks there.

    Raises:
        SluiceError: SLC-467, it is excluded, or somebody skipped it.
    """
    if context.config.slave(pair.slave).mapper.excludes(table):
        raise unrepairable(pair, table, "the slave's `tables` excludes it")
    if skipped := blocked.skipped_tables(context.store, pair).get(table):
        raise unrepairable(pair, table, f"{skipped.actor} skipped it there")


def expect_no_others(context: Context, pair: Pair, table: TableName) -> None:
    """See that no other replication brings rows into the slave's table, which a comparison with this master calls
    extra: once deleted, they would not come again. A slave that keeps rows of its own keeps those, too.

    Raises:
        SluiceError: SLC-467, one does.
    """
    mapper = context.mapper(pair)
    if mapper.existing_rows(table) is FilledRows.MERGE:
        return
    if others := shared_tables.others(context, pair, mapper.table(table)):
        error = unrepairable(pair, table, f"there are rows of others in it: {', '.join(others)}")
        error.hint = (
            f"nothing was changed in it; name other tables, or set `on_existing_rows: merge` for it on slave "
            f"{pair.slave}, and compare again"
        )
        raise error


def expect_alone_in_table(context: Context, pair: Pair, planned: RowsPlan) -> RowsPlan:
    """The plan itself. Raises SluiceError SLC-467, SLC-603: others bring rows into its table, too."""
    expect_no_others(context, pair, planned.report.table)
    expect_arriving(context, pair, planned.report.on_slave)
    return planned


def expect_unchanged(context: Context, pair: Pair, began: ReplicationState) -> None:
    """See that nothing else fills the slave since a repair began. Raises FencedError SLC-050."""
    now = replications.get(context.store, pair)
    if (now.status, now.update_id) != (began.status, began.update_id):
        raise FencedError(
            50,
            f"slave {pair.slave} is {now.status}: something else began to fill it",
            "nothing of this was changed; trigger the repair again when that has ended",
        )


def expect_keyed(pair: Pair, view: TableView, mapper: Mapper) -> tuple[str, ...]:
    """The master's columns that a row of the slave is found by, in the order of the slave's key.

    Raises:
        SluiceError: SLC-467, a key of the slave does not tell which row of the master's it is.
    """
    try:
        columns = masters_columns(view, mapper)
    except ValueError as error:
        raise unrepairable(pair, view.master.name, str(error)) from None
    if view.entry.chooses:
        why = "the slave leaves out some of its changes (`actions`, `when` or `veto`)"
        raise unrepairable(pair, view.master.name, why)
    return columns


def expect_spelled_alike(pair: Pair, view: TableView, types: Sequence[str]) -> None:
    """See that the master's rows are found by the texts that the slave has of their keys: one that is not found counts
    as deleted.

    Args:
        types: those of the key's columns on the slave.

    Raises:
        SluiceError: SLC-467, master and slave may spell the value of a key otherwise.
    """
    for index, its in zip(view.layout.key, types, strict=True):
        column = view.layout.columns[index]
        if not spelled_alike(column.type, its):
            why = f"its key {column.name} is {column.type} on the master and {its} on the slave, whose texts may differ"
            raise unrepairable(pair, view.master.name, why)


def unrepairable(pair: Pair, table: TableName, why: str) -> Unrepairable:
    """Rows of a table cannot be repaired one by one."""
    fill = shell.update(pair.source, [pair.slave], tables=[str(table)])
    return Unrepairable(
        467,
        f"rows of {table} on slave {pair.slave} cannot be repaired one by one: {why}",
        "nothing was changed in it; name other tables, or fill this one as a whole, which makes the rows of "
        f"{pair.slave} those of {pair.source}: {fill}",
    )


def outdated_error(pair: Pair, report: int, table: TableName, why: str) -> SluiceError:
    """A report is older than something that happened to a table."""
    return _unusable(pair, report, f"is older than what happened to {table}: {why}")


def _table(
    context: Context, pair: Pair, report: TableReport, kinds: Collection[str], chosen: RowNumbers | None
) -> RowsPlan:
    expect_given(context, pair, report.table)
    # An older report may call rows extra that are the slave's own by now.
    own = context.mapper(pair).existing_rows(report.table) is FilledRows.MERGE
    if chosen is None:
        rows = comparisons.rows_of(context.store, report.id)
        if len(rows) + report.more < report.different:
            raise outdated_error(pair, report.report, report.table, "housekeeping deleted its rows")
    else:
        rows = chosen_rows.read(context.store, pair, report, chosen)
    if not report.key:
        raise unrepairable(pair, report.table, "its rows have no key on the slave")
    if any(None in row.key for _, row in rows):
        raise unrepairable(pair, report.table, "a row of the slave has NULL in its key")
    asked = set(kinds) - ({"extra"} if own else set())
    if chosen is not None and any(row.kind not in asked for _, row in rows):
        raise unrepairable(pair, report.table, "a chosen row that is extra may be the slave's own (`on_existing_rows`)")
    wanted = [(number, row) for number, row in rows if row.kind in asked]
    left = 0 if chosen is None else report.different - len(wanted)
    return RowsPlan(report, tuple(row for _, row in wanted), report.more, tuple(number for number, _ in wanted), left)


def _expect_recent(
    context: Context, pair: Pair, number: int, chosen: list[TableReport], replication: ReplicationState
) -> None:
    manifest = context.manifest(pair.source)
    ordinals = [segment.first_ordinal for segment in manifest.kept_segments()]
    begins = min(ordinals) if ordinals else manifest.end().ordinal + 1
    for table in chosen:
        if table.update != replication.update_id:
            raise outdated_error(pair, number, table.table, "an initial update has filled the slave since")
        if table.position.ordinal + 1 < begins:
            raise outdated_error(pair, number, table.table, "the change log no longer has what came after it")


def _unusable(pair: Pair, report: int, why: str) -> SluiceError:
    return SluiceError(
        466,
        f"report {report} {why}",
        # No command: it would be one by another rule, if this repair has one.
        "nothing was changed; repair in the same way, but without a report (`--from`, or `report` of the DAG), which "
        "compares first",
    )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: str | None) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"
