"""Checks the requirements of an initial update before anything is changed: for `inhibit`, and for `./sluice check`.

Nothing is written. What is seen may change until slaves are filled, so `dump` looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial

from sluice.apply.mapping.table_view import BoundView, view
from sluice.changelog.segment_files import expect_directory
from sluice.config.mapper import Mapper
from sluice.config.models import OutgoingFiles
from sluice.connections import find_salt
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError, TransientError
from sluice.initial_update import column_losses
from sluice.initial_update.blocks.plan import BlockPlan, plan_blocks
from sluice.initial_update.chunks.copy import included_tables
from sluice.initial_update.files.encoding import encryption_key
from sluice.initial_update.files.signature import private_key
from sluice.initial_update.files.versions import find_kept
from sluice.initial_update.options import EXTERNAL, ONLINE, SNAPSHOT
from sluice.initial_update.programs.update import expect_exportable, expect_importable
from sluice.log import event
from sluice.model.key_range import KeyInterval
from sluice.model.layout import Column, Layout
from sluice.model.names import Pair, TableName
from sluice.model.watched import spelled_alike
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store import watched_tables
from sluice.vendors.protocol.load import TableDefinition
from sluice.vendors.protocol.slave import SlaveDatabase


@dataclass(frozen=True)
class UpdateChoices:
    """The choices of an initial update; see `sluice.initial_update.inhibit`.

    Attributes:
        tables: the ones that are filled, if these are not all.
        version: an older one; empty for the newest.
    """

    mode: str = SNAPSHOT
    tables: frozenset[TableName] = frozenset()
    keys: Sequence[KeyInterval] = ()
    store: bool = False
    resume: bool = False
    version: str = ""

    @property
    def storable(self) -> bool:
        """Whether rows for a slave that cannot be reached can go into files."""
        return self.mode == SNAPSHOT and not (self.tables or self.version)

    @property
    def as_asked(self) -> dict[str, object]:
        """The choices of the form besides tables and keys, for a request of another run."""
        mode = "" if self.mode == SNAPSHOT else self.mode
        choices = {"store_initial_data": self.store, "resume": self.resume, "mode": mode}
        return {name: choice for name, choice in choices.items() if choice}


@dataclass(frozen=True)
class MasterTables:
    """The watched tables of a source that exist, by their current names.

    Attributes:
        without_old: those whose updates say nothing of what a row was if its key stayed.
        remarks: what is worth knowing of them.
    """

    columns: Mapping[TableName, Sequence[Column]]
    definitions: Sequence[TableDefinition]
    without_old: Sequence[Layout]
    remarks: Sequence[str]

    @classmethod
    def for_source(cls, context: Context, source: str) -> MasterTables:
        """Ask a source. Raises what `sluice.vendors.protocol.master.MasterDatabase.dumpable` does."""
        with closing(context.source(source)) as database:
            configured = context.watched_tables(source)
            watched = {name: configured[meant] for name, meant in database.capture.present(list(configured)).items()}
            return cls(
                database.master.columns(list(watched)),
                database.master.dumpable(watched),
                database.capture.without_old(watched),
                database.capture.remarks(watched),
            )


class UpdateRefused(SluiceError):
    """An initial update that cannot be, for some of the slaves that it was asked for.

    Attributes:
        why: by slave.
    """

    def __init__(self, why: Mapping[Pair, SluiceError]) -> None:
        (pair, error), *others = why.items()
        facts = [error.fact if f"slave {pair.slave}" in error.fact else f"slave {pair.slave}: {error.fact}"]
        facts += [f"slave {other.slave}: {also.message}" for other, also in others]
        super().__init__(error.code, "; ".join(facts), _say_unchanged(error.hint))
        self.why = why

    def __reduce__(self) -> tuple[type[SluiceError], tuple[int, str, str]]:
        return SluiceError, (self.code, self.fact, self.hint)


def _say_unchanged(hint: str) -> str:
    """A HINT that says that nothing was changed."""
    return hint if "nothing was changed" in hint else f"nothing was changed; {hint}"


def expect_possible(context: Context, pairs: Sequence[Pair], choices: UpdateChoices) -> None:
    """See that slaves of one source can be filled. One that cannot be reached is not asked: it waits, or its rows do.

    Raises:
        Refused: some of them cannot.
        SluiceError: the source, or where files are to go, stands in the way.
    """
    source = pairs[0].source
    try:
        with closing(context.source(source)) as database:
            database.capture.claim(context.store.id)
        with ExitStack() as stack:
            master = MasterTables.for_source(context, source)
            for remark in master.remarks:
                event("worth knowing", source=source, remark=remark)
            later = None
            if choices.mode == ONLINE:
                filled = () if choices.keys else master.columns
                later, _ = stack.enter_context(plan_blocks(context, source, choices.keys, filled))
            elif choices.mode == EXTERNAL:
                expect_exportable(context, source)
            kept = {pair: find_kept(context, pair, choices.version)[2] for pair in pairs if choices.version}
            answers = _ask_all(pairs, partial(_ask, context, master, choices, later, kept))
        if refused := {
            pair: error for pair, error in answers.items() if error and not isinstance(error, TransientError)
        }:
            raise UpdateRefused(refused)
        away = [context.config.slave(pair.slave) for pair, error in answers.items() if error]
        if choices.store:
            _expect_place(context.config.source(source).initial_files)
        elif choices.storable and any(slave.when_unreachable == "store" for slave in away):
            if "://" not in context.config.change_log_url:
                expect_directory(context.config.change_log_url)
            _expect_place(OutgoingFiles(location=context.config.initial_data_url))
    except SluiceError as error:
        error.hint = _say_unchanged(error.hint)
        raise


def look(
    context: Context,
    slave: SlaveDatabase,
    master: MasterTables,
    choices: UpdateChoices = UpdateChoices(),
    later: BlockPlan | None = None,
) -> list[str]:
    """See that a slave can be filled so; what is worth knowing.

    Args:
        later: what comes in blocks.

    Raises:
        SluiceError: why not.
        TransientError: it cannot be asked now.
    """
    pair, mapper, some = slave.pair, slave.mapper, choices.tables
    warnings = list(_misspelt(mapper, master))
    wiped = None if some else context.wipe_out(pair)
    columns = {name: known for name, known in master.columns.items() if not mapper.excludes(name)}
    mapper.keep_apart(columns)
    salt = find_salt(context.connections, context.config.slave(pair.slave).salt)
    for layout in (captured for captured in master.without_old if captured.name in columns):
        sight = BoundView(view(mapper, layout), salt, lasting=slave.lasting)
        sight.expect_old("the table has `old_images: key`, so no change says it")
    warnings += shared_tables.expect_kept(context, pair, some or columns, partial(_past_tables, context))
    column_losses.expect_none(context, pair, columns, partly=bool(some))
    definitions = [table for table in included_tables(mapper, master.definitions) if not some or table.name in some]
    if not choices.keys:
        warnings += slave.loadable(definitions, wiped, resume=choices.resume).warnings
    if later:
        later.expect_loadable(pair)
    if choices.mode == EXTERNAL:
        expect_importable(context, pair, mapper, master.definitions, slave.merging)
    return warnings


def _misspelt(mapper: Mapper, master: MasterTables) -> Iterator[str]:
    """Entries of a slave that say nothing of any table, since they are not spelled as the master spells it."""
    for entry in mapper.tables:
        name = TableName(entry.schema, entry.table)
        if not entry.wildcard and name not in master.columns:
            for other in spelled_alike(name, master.columns):
                yield f"its `tables` name {name}, which is not there; there is {other}, which the entry does not change"


def _ask(
    context: Context,
    master: MasterTables,
    choices: UpdateChoices,
    later: BlockPlan | None,
    kept: Mapping[Pair, Sequence[TableDefinition]],
    pair: Pair,
) -> SluiceError | None:
    """Why a slave cannot be filled, or cannot be asked; None if it can.

    Args:
        kept: what slaves get of an older version, if that is asked for.
    """
    try:
        with closing(context.slave(pair)) as slave:
            if pair in kept:
                definitions = included_tables(slave.mapper, kept[pair])
                column_losses.expect_none(context, pair, {table.name: table.layout.columns for table in definitions})
                warnings = slave.loadable(definitions, context.wipe_out(pair)).warnings
            else:
                warnings = look(context, slave, master, choices, later)
            for warning in warnings:
                event("worth knowing", slave=pair.slave, remark=warning)
    except SluiceError as error:
        if isinstance(error, TransientError):
            event("not asked", slave=pair.slave, why=error.fact)
        return error
    return None


def _ask_all(pairs: Sequence[Pair], ask: Callable[[Pair], SluiceError | None]) -> dict[Pair, SluiceError | None]:
    with ThreadPoolExecutor(len(pairs)) as pool:
        return dict(zip(pairs, pool.map(ask, pairs), strict=True))


def _expect_place(settings: OutgoingFiles) -> None:
    """See that initial data can be stored. Raises TransientError SLC-180, ConfigError SLC-243."""
    for read, file in ((private_key, settings.sign_with), (encryption_key, settings.key_file)):
        if file:
            read(file)
    Directory(at_home(settings.location)).expect_writable(settings.max_bytes)


def _past_tables(context: Context, source: str) -> set[TableName]:
    """The tables that another source has, or had."""
    tables = set()
    # What is wrong with these is told beside them.
    with suppress(SluiceError):
        tables |= watched_tables.known_tables(context.store, source)
    with suppress(SluiceError):
        tables |= context.watched_tables(source).keys()
    return tables
