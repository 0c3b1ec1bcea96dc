"""Plans of loads in blocks while the stream goes on (R10): made, recorded on the slaves, and resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError
from sluice.initial_update.chunks.copy import LoadTarget, for_each, included_tables
from sluice.initial_update.chunks.resume import has_begun
from sluice.initial_update.participants import Leased
from sluice.initial_update.targets import slave_target
from sluice.log import event
from sluice.model.key_range import KeyInterval
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.watched import find_entry
from sluice.store import blocked, rejected_changes, replications, updates
from sluice.vendors.protocol.load import DumpSnapshot, SlaveRanges, TableDefinition
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.registry import online


class BlockPlan:
    """The key ranges that slaves get in blocks while their stream goes on.

    Attributes:
        tables: the watched ones that are not copied out of one snapshot; or the tables of the ranges of keys.

    Args:
        keys: ranges of keys whose rows are replaced, if not all rows of tables are to come.

    Raises:
        SluiceError: SLC-640, such a range is none of its table's.
    """

    def __init__(
        self,
        context: Context,
        source: str,
        snapshot: DumpSnapshot,
        definitions: Sequence[TableDefinition],
        keys: Sequence[KeyInterval] = (),
    ) -> None:
        entries = context.config.source(source).patterns
        dumped = {definition.name for definition in definitions}
        watched = {
            name: find_entry(entries, meant) for name, meant in context.present(source).items() if name in dumped
        }
        in_blocks = (name for name, entry in watched.items() if entry and entries[entry].load_in_blocks)
        self.tables = frozenset((interval.table for interval in keys) if keys else in_blocks)
        self._context = context
        self._definitions = definitions
        self._keys = keys
        self._orders = {name: snapshot.order(name) for name in sorted(self.tables)}
        self._sorted = {name: snapshot.sorting(name) for name in self.tables} if keys else {}
        self._snapshot = snapshot
        self._whole_ranges = [
            KeyRange(
                0,
                interval.table,
                self._orders[interval.table] or "",
                until=interval.until,
                first=interval.first,
                replaces=True,
            )
            for interval in keys
        ] or [KeyRange(0, name, order) for name, order in self._orders.items() if order]
        for key_range in self._whole_ranges:
            if key_range.order:
                snapshot.expect_bounds(key_range)

    def expect_loadable(self, pair: Pair, *, build: bool = False) -> None:
        """Check that a slave can be loaded in blocks.

        Args:
            build: builds indexes that an earlier load put off, which may take long; else nothing is changed.

        Raises:
            SluiceError: SLC-099, it cannot get one of them; none; SLC-230, rows of others would go.
        """
        mapper = self._context.config.slave(pair.slave).mapper
        tables = {name for name in self.tables if not mapper.excludes(name)}
        shared_tables.expect_kept(self._context, pair, self.tables)
        with closing(open_ranges(self._context, pair)) as ranges:
            unfit = ranges.unfit(included_tables(mapper, self._definitions), tables, self._sorted, build=build)
        if self._context.watch_settings(pair.source).drained_into:
            unfit |= dict.fromkeys(tables, "its source does not hear of all that is written to it (`block_loop`)")
        for name in (name for name in sorted(tables) if self._orders[name] is None):
            unfit[name] = "it has no primary key that is checked at once and sorts its rows"
        if unfit:
            reasons = "; ".join(f"{name} ({why})" for name, why in unfit.items())
            whole = (
                "run initial_update in the mode `snapshot`, or set `load_in_blocks: false` for these tables in the "
                "configuration: then they come out of one snapshot, before the others"
            )
            as_tables = "run initial_update with `tables` instead of `key_ranges`, in the mode `snapshot`"
            raise SluiceError(
                99, f"slave {pair.slave} cannot get in blocks: {reasons}", as_tables if self._keys else whole
            )

    @cached_property
    def _ranges(self) -> list[KeyRange]:
        parts = [part for key_range in self._whole_ranges if key_range.order for part in self._parts(key_range)]
        return [replace(part, number=number) for number, part in enumerate(parts)]

    def _parts(self, key_range: KeyRange) -> Iterator[KeyRange]:
        """The parts of a range, so that as many blocks of it can be loaded at once as there may be tasks."""
        cuts = self._snapshot.cuts(key_range, self._context.config.bulk_tasks)
        for start, until in pairwise([None, *cuts, key_range.until]):
            yield replace(key_range, reached=start, until=until)

    def record(self, target: LoadTarget, update: int) -> None:
        """Record on a slave the key ranges that an update is to load."""
        (pair,) = target.pairs
        fingerprint = self._fingerprint(pair)
        with closing(open_ranges(self._context, pair)) as ranges:
            ranges.expect(
                target.plan.epoch, update, [replace(key_range, seen=fingerprint) for key_range in self._ranges]
            )

    def split(
        self, targets: Sequence[LoadTarget], update: int, failed: dict[str, SluiceError], *, resume: bool
    ) -> tuple[list[LoadTarget], list[LoadTarget]]:
        """Split the targets: first slaves that get all rows, then slaves that resume an earlier update.

        Args:
            failed: gets the errors of slaves that cannot be loaded in blocks.
            resume: rows of an earlier update may stay.
        """
        resumed: set[str] = set()

        def look(target: LoadTarget) -> None:
            self.expect_loadable(*target.pairs, build=True)
            if resume and self._resume(target, update):
                resumed.add(target.name)

        ready = for_each(targets, look, failed)
        fresh = [target for target in ready if target.name not in resumed]
        return fresh, [target for target in ready if target.name in resumed]

    def _resume(self, target: LoadTarget, update: int) -> bool:
        """Resume the ranges of an earlier update, if the slave has all changes since then."""
        (pair,) = target.pairs
        target.tables.begin()
        fingerprint = self._fingerprint(pair)
        with closing(open_ranges(self._context, pair)) as slave_ranges:
            earlier, ranges, position = slave_ranges.left()
            wanted = {(name, order, fingerprint) for name, order in self._orders.items()}
            if {(key_range.table, key_range.order, key_range.seen) for key_range in ranges} != wanted:
                return False
            if not self._has_all_changes(pair, earlier, position, update):
                return False
            slave_ranges.adopt(target.plan.epoch, update)
        updates.go_on(self._context.store, update, earlier)
        event(
            "resumed",
            slave=pair.slave,
            rows=sum(key_range.rows for key_range in ranges),
            ranges=sum(key_range.ended for key_range in ranges),
        )
        return True

    def _has_all_changes(self, pair: Pair, earlier: int, position: Position, update: int) -> bool:
        """Whether a slave has had every change since its stream began, or can have it yet: the log is kept for it."""
        store = self._context.store
        if (
            not has_begun(store, earlier)
            or blocked.skipped_tables(store, pair)
            or rejected_changes.list_changes(store, pair)
        ):
            return False
        # An update that broke off since then may have let the log be trimmed up to its own position.
        replications.restart_at(store, pair, position, update, only={})
        try:
            self._context.manifest(pair.source).ahead("", position)
        except SluiceError:
            return False
        return True

    def _fingerprint(self, pair: Pair) -> str:
        return fingerprint(self._context, pair, self._keys)


def fingerprint(context: Context, pair: Pair, keys: Sequence[KeyInterval] = ()) -> str:
    """The fingerprint of a load. It changes with the keys, with the tables of the configuration, and with the rows that
    a slave is to have. Statements that change tables do not change it: the stream brings them.
    """
    config, mapper = context.config, context.mapper(pair)
    source = config.source(pair.source).model_dump(include={"tables", "messages"})
    slave = config.slave(pair.slave).model_dump(
        include={"schemas", "tables", "stylesheets", "salt", "on_existing_rows"}
    )
    style = mapper.stylesheet.text.hex() if mapper.stylesheet else None
    allowed = sorted((str(name), casts) for name, casts in mapper.allowed.items())
    text = json.dumps([source, slave, style, allowed, list(map(repr, keys))], sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def replace_keys(
    context: Context,
    held: Sequence[Leased],
    update: int,
    keys: Sequence[KeyInterval],
    *,
    resume: bool,
) -> dict[str, SluiceError]:
    """Plan what replaces the rows between two keys; nothing is emptied, and the stream goes on as it is.

    Returns:
        what is wrong with slaves that do not get it.

    Raises:
        SluiceError: SLC-640, these are no keys.
    """
    failed: dict[str, SluiceError] = {}
    targets = [slave_target(context, pair, lease) for pair, lease in held]
    with ExitStack() as stack:
        for target in targets:
            stack.callback(target.tables.close)
        later, snapshot = stack.enter_context(plan_blocks(context, held[0][0].source, keys))
        updates.record_snapshot(context.store, update, snapshot.snapshot, snapshot.position)
        anew, _ = later.split(targets, update, failed, resume=resume)

        def begin(target: LoadTarget) -> None:
            target.tables.begin()
            later.record(target, update)

        for_each(anew, begin, failed)
    return failed


@contextmanager
def plan_blocks(
    context: Context, source: str, keys: Sequence[KeyInterval], tables: Collection[TableName] = ()
) -> Iterator[tuple[BlockPlan, DumpSnapshot]]:
    """Plan blocks of key ranges or of whole tables; yields the plan, and the snapshot that it is based on.

    Raises:
        SluiceError: SLC-640, these are no keys.
    """
    database, names = context.source(source), sorted({*(interval.table for interval in keys), *tables})
    try:
        with database.master.dump_snapshot([names], context.manifest(source).end) as snapshot:
            yield BlockPlan(context, source, snapshot, snapshot.definitions(), keys), snapshot
    finally:
        database.close()


def open_ranges(context: Context, pair: Pair) -> SlaveRanges:
    """Open the key ranges of a slave. Raises ConfigError SLC-099 if it cannot be loaded in blocks."""
    slave = context.config.slave(pair.slave)
    port = online(slave.vendor).ranges
    return port(context.connection(slave.connection), pair, slave.schema_, context.mapper(pair), context.unheard(pair))


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
