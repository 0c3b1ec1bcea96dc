"""The preview of an initial update, for a person who is about to begin it: the tables with their estimated sizes; for
each slave what is emptied, what its columns would lose, and what stands in the way. Nothing is written.

Servers that do not answer within some seconds are said to; what they know is missing then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from sluice import shell
from sluice.bounded_calls import BoundedCalls
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.initial_update import column_losses
from sluice.initial_update.preflight import MasterTables, UpdateChoices, look
from sluice.model.action import FilledRows
from sluice.model.names import Pair, TableName
from sluice.model.table_size import TableSize
from sluice.model.watched import find_entry
from sluice.store import allowed_losses, watched_tables
from sluice.vendors.registry import vendor

# A server is waited for so long: the master first, then all slaves at the same time.
PATIENCE_S = 8.0
_SILENT = "it has not answered within {:g} seconds"


@dataclass(frozen=True)
class PlannedTable:
    """A table that is filled, by the master's name, and about how large it is there; None if that is not known."""

    table: str
    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Emptied:
    """A table of a slave whose rows are replaced, and about how many these are; None if that is not known."""

    table: str
    rows: int | None = None


@dataclass(frozen=True)
class LostValues:
    """A column of a slave that cannot hold all values of the master's; `allowed`: a person accepted that."""

    table: str
    column: str
    master_type: str
    slave_type: str
    lost: str
    allowed: bool


@dataclass(frozen=True)
class SlavePreview:
    """The update of one slave.

    Attributes:
        known: the slave was asked.
        why: the reason why it cannot be filled, or was not asked; `hint` says what to do.
        emptied: what of it is emptied; tables that are still to be made are not among them.
        wiped: what else is dropped, by `wipe_out`.
        losses: columns that would lose something. Without a cast that a person allowed the update is refused.
        excluded: so many tables it does not get.
        remarks: what is worth knowing.
    """

    slave: str
    known: bool
    why: str = ""
    hint: str = ""
    emptied: Sequence[Emptied] = ()
    wiped: Sequence[str] = ()
    losses: Sequence[LostValues] = ()
    excluded: int = 0
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Preview:
    """The whole of it.

    Attributes:
        known: the master was asked; else the tables are those of the last time.
        why: the reason why its tables cannot be read, or were not; `hint` says what to do.
    """

    source: str
    known: bool
    why: str = ""
    hint: str = ""
    tables: Sequence[PlannedTable] = ()
    slaves: Sequence[SlavePreview] = field(default_factory=list)

    @property
    def rows(self) -> int | None:
        """Of all tables; None if that is not known of each."""
        return _sum([table.rows for table in self.tables])

    @property
    def bytes(self) -> int | None:
        """Of all tables; None if that is not known of each."""
        return _sum([table.bytes for table in self.tables])


def preview(
    context: Context,
    calls: BoundedCalls[Pair | str],
    source: str,
    slaves: Sequence[str],
    choices: UpdateChoices,
    patience_s: float = PATIENCE_S,
) -> Preview:
    """Ask the master, then the slaves.

    Raises:
        ConfigError: SLC-003, there is no such source, or a slave is none of it.
    """
    pairs = [Pair(source, slave) for slave in slaves]
    for pair in pairs:
        context.config.replication(pair.source, pair.slave)
    context.config.source(source)
    answer = calls.results({source: partial(_master, context, source)}, patience_s).get(source)
    if not isinstance(answer, _Master):
        why, hint = _reason(answer, patience_s)
        tables = [PlannedTable(str(name)) for name in _recorded_tables(context, source)]
        silent = [SlavePreview(slave, known=False, why="its master has to answer first") for slave in slaves]
        return Preview(source, False, why, hint, tables, silent)
    answers = calls.results(
        {pair: partial(_slave, context, pair, answer.tables, choices) for pair in pairs}, patience_s
    )
    shown = [PlannedTable(str(name), size.rows, size.bytes) for name, size in answer.sizes.items()]
    return Preview(
        source, True, tables=shown, slaves=[_slave_preview(pair, answers.get(pair), patience_s) for pair in pairs]
    )


@dataclass(frozen=True)
class _Master:
    tables: MasterTables
    sizes: Mapping[TableName, TableSize]


def _master(context: Context, source: str) -> _Master:
    tables = MasterTables.for_source(context, source)
    names = sorted(table.name for table in tables.definitions)
    settings = context.config.source(source)
    sizes = _sizes(context, settings.vendor, settings.connection, names)
    return _Master(tables, {name: sizes.get(name, TableSize()) for name in names})


def _slave(context: Context, pair: Pair, master: MasterTables, choices: UpdateChoices) -> SlavePreview:
    settings = context.config.slave(pair.slave)
    with closing(context.slave(pair)) as slave:
        given = [table.name for table in master.definitions if not slave.mapper.excludes(table.name)]
        wiped = context.wipe_out(pair)
        losses = _losses(context, pair, master)
        why = hint = ""
        remarks: Sequence[str] = ()
        if any(not loss.allowed for loss in losses):
            # Asking further would name them again, and keep a report.
            why = "SLC-220: columns of it would lose something, and nobody allowed that"
            hint = f"alter its tables, or allow it: {shell.losses(pair)} --allow"
        else:
            try:
                remarks = look(context, slave, master, choices)
            except SluiceError as error:
                why, hint = error.message, error.hint
        emptied = {
            slave.mapper.table(name) for name in given if slave.mapper.existing_rows(name) is not FilledRows.MERGE
        }
        sizes = _sizes(context, settings.vendor, settings.connection, sorted(emptied))
        return SlavePreview(
            pair.slave,
            known=True,
            why=why,
            hint=hint,
            emptied=[Emptied(str(name), size.rows) for name, size in sizes.items()],
            wiped=slave.wiped(wiped) if wiped and not why else (),
            losses=losses,
            excluded=len(master.definitions) - len(given),
            remarks=remarks,
        )


def _losses(context: Context, pair: Pair, master: MasterTables) -> list[LostValues]:
    known = allowed_losses.allowed_casts(context.store, pair)
    return [
        LostValues(
            str(loss.table),
            loss.column,
            loss.master_type,
            loss.slave_type,
            loss.lost,
            allowed_losses.is_allowed(loss, known),
        )
        for loss in column_losses.find_column_losses(context, pair, master.columns)
    ]


def _sizes(context: Context, kind: str, connection: str, names: Sequence[TableName]) -> Mapping[TableName, TableSize]:
    """The sizes that the server can tell; without it, every table with no size."""
    ask = vendor(kind).sizes
    return ask(context.connection(connection), names) if ask else dict.fromkeys(names, TableSize())


def _slave_preview(pair: Pair, answer: SlavePreview | SluiceError | None, patience_s: float) -> SlavePreview:
    if isinstance(answer, SlavePreview):
        return answer
    why, hint = _reason(answer, patience_s)
    return SlavePreview(pair.slave, known=False, why=why, hint=hint)


def _reason(error: object, patience_s: float) -> tuple[str, str]:
    if isinstance(error, SluiceError):
        return error.message, error.hint
    return _SILENT.format(patience_s), "look whether its server is well, and the way to it"


def _recorded_tables(context: Context, source: str) -> list[TableName]:
    """The tables as far as they are known without the master."""
    settings = context.config.source(source)
    known = {TableName(*name) for name in settings.watched_tables} | watched_tables.known_tables(context.store, source)
    return sorted(name for name in known if find_entry(settings.patterns, name))


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
