"""The replication in the opposite direction: its slave is this one's master, and its master is this one's slave."""

from __future__ import annotations

from sluice import shell
from sluice.apply.mapping.table_view import TableView
from sluice.config.configuration import Config
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.watched import find_entry
from sluice.repair.plan import expect_spelled_alike
from sluice.vendors.registry import master, vendor


def reverse_pairs(context: Context, pair: Pair) -> list[Pair]:
    """The replications by which rows of this slave's database go to this source's."""
    config = context.config
    here, there = (config.slave(pair.slave), config.source(pair.source))
    return [
        Pair(replication.source, replication.slave)
        for replication in config.replications
        if context.database_id(config.source(replication.source).connection) == context.database_id(here.connection)
        and context.database_id(config.slave(replication.slave).connection) == context.database_id(there.connection)
    ]


def expect_connections(context: Context, pair: Pair) -> None:
    """See that this job can tell which replications go back, or bring rows that do not travel on: a pair whose way back
    is not seen would be repaired in one direction, and rows that are on their way would be lost.

    Raises:
        ConfigError: SLC-014, a connection was not handed to it.
    """
    for replication in context.config.perhaps_opposite(pair.source, pair.slave):
        context.connection(context.config.source(replication.source).connection)
        context.connection(context.config.slave(replication.slave).connection)


def unfit_both_ways(context: Context, pair: Pair, reverse: list[Pair]) -> SluiceError | None:
    """The error of two databases whose rows cannot be repaired in both directions; None if they can be."""
    config, why = context.config, ""
    if not reverse:
        why = f"no replication goes from the database of slave {pair.slave} to that of source {pair.source}"
    elif any(not config.replication(direction.source, direction.slave).block_loop for direction in (pair, *reverse)):
        why = "what one direction writes would come back by the other: `block_loop` is not set"
    elif not all(_tells_versions(config, direction) for direction in (pair, *reverse)):
        why = "one of the databases does not tell versions of a row apart"
    if not why:
        return None
    return SluiceError(
        627,
        f"rows of {pair.source} and {pair.slave} cannot be repaired in both directions: {why}",
        f"nothing was changed; to let the source's rows win, type: {shell.sluice('repair', pair.source, pair.slave)}",
    )


def _tells_versions(config: Config, pair: Pair) -> bool:
    known, there = master(config.source(pair.source).vendor), vendor(config.slave(pair.slave).vendor)
    return bool(known.version and there.repair_versions)


def find_for_table(context: Context, replications: list[Pair], on_slave: TableName) -> Pair | None:
    """The replication whose source watches a table of the slave; None if none does."""
    return next(
        (pair for pair in replications if find_entry(context.config.source(pair.source).patterns, on_slave)), None
    )


def expect_mirrored(pair: Pair, there: TableView, back: TableView) -> None:
    """See that a row that goes there and back is the same row.

    Args:
        there: the slave's view of the source's table.
        back: the view that the opposite replication has of the slave's table.

    Raises:
        SluiceError: SLC-467, it is not; equal keys may have several texts.
    """
    table, why = there.master.name, ""
    if any(side.is_shaped or side.entry.plugin is not None or side.entry.chooses for side in (there, back)):
        why = "one of the two changes rows, or leaves some out"
    elif back.layout.name != table:
        why = f"{back.master.name} becomes {back.layout.name} on the other way"
    elif _columns(there) != {(theirs, ours, *more) for ours, theirs, *more in _columns(back)}:
        why = "columns, or their types, are not the same on both ways"
    elif there.layout.key_names != back.ours.key_names or there.ours.key_names != back.layout.key_names:
        why = "the keys are not the same on both ways"
    elif not there.layout.key:
        why = "its rows have no key"
    if why:
        raise unlike(pair, table, why)
    ours = back.ours
    expect_spelled_alike(pair, there, [ours.columns[place].type for place in ours.key])


def expect_two_alone(context: Context, pair: Pair, back: Pair, table: TableName, on_slave: TableName) -> None:
    """See that no third database brings rows into a table that do not travel on.

    It sends them to each side, and the two streams do not tell whether a row that one side lacks is still on its way.
    What comes without `block_loop` is captured where it is written, and is in that side's stream as rows of users are.

    Raises:
        SluiceError: SLC-467, one does.
    """
    others = {
        f"{name} of {other.source} (to {other.slave})"
        for into, where in ((pair, on_slave), (back, table))
        for other, name in shared_tables.beside(context, into, where)
        if context.config.replication(other.source, other.slave).block_loop
    }
    if others:
        raise SluiceError(
            467,
            f"rows of {table} cannot be repaired in both directions between {pair.source} and {pair.slave}: rows of "
            f"others come there, too, and may be on their way to one of the two: {', '.join(sorted(others))}",
            'nothing was changed in it; name other tables; for this one see repair.md, "With a third master"',
        )


def unlike(pair: Pair, table: TableName, why: str) -> SluiceError:
    """The two replications do not carry a table alike."""
    return SluiceError(
        467,
        f"rows of {table} cannot be repaired in both directions between {pair.source} and {pair.slave}: {why}",
        # No initial update: it may be the slave's rows that are to win.
        "nothing was changed in it; name other tables, or make both replications carry it alike",
    )


def _columns(view: TableView) -> set[tuple[str, str, str, bool]]:
    pairs = zip(view.ours.columns, view.layout.columns, strict=True)
    return {(ours.name, theirs.name, ours.type, ours.generated) for ours, theirs in pairs}
