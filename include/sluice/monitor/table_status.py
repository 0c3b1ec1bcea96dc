"""The tables of a source: their activity, and how each slave's copy of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import find_entry
from sluice.store import activities, watched_tables
from sluice.store.activities import Activity, LastComparison


@dataclass(frozen=True)
class TableCopy:
    """A table as one slave has it.

    Attributes:
        conflicts: rows that were not as expected, since it was filled.
        rejected: changes that are kept for a person.
        compared: the last verification; None if there was none.
    """

    slave: str
    conflicts: int = 0
    rejected: int = 0
    compared: LastComparison | None = None

    @property
    def odd(self) -> bool:
        """Whether a person should look at it."""
        return bool(self.conflicts or self.rejected or (self.compared and self.compared.different))


@dataclass(frozen=True)
class TableStatus:
    """A table of a master; `watched`: it is one now."""

    name: str
    watched: bool
    activity: Activity
    copies: Sequence[TableCopy]

    @property
    def conflicts(self) -> int:
        """Of all slaves."""
        return sum(copy.conflicts for copy in self.copies)

    @property
    def rejections(self) -> int:
        """Of all slaves."""
        return sum(copy.rejected for copy in self.copies)

    @property
    def worst_comparison(self) -> LastComparison | None:
        """The verification that was least good; of equal ones the last."""
        comparisons = [copy.compared for copy in self.copies if copy.compared]
        return max(comparisons, key=lambda comparison: (comparison.different, comparison.at), default=None)


def tables(context: Context, source: str) -> list[TableStatus]:
    """The tables that are watched, and the ones that were and changed.

    Raises:
        ConfigError: SLC-003, there is no such source.
    """
    settings, store = context.config.source(source), context.store
    active = activities.by_table(store, source)
    watched = {TableName(*name) for name in settings.watched_tables}
    watched |= {name for name in watched_tables.known_tables(store, source) if find_entry(settings.patterns, name)}
    slaves = context.config.slaves_of(source)
    tolerated, rejected = activities.conflicts(store, source), activities.rejections(store, source)
    compared = activities.comparisons(store, source)

    def copy(slave: str, name: TableName) -> TableCopy:
        on_slave = _name_on_slave(context, slave, name)
        # What was removed unseen is kept under the master's name.
        kept = sum(rejected.get((slave, table), 0) for table in {on_slave, name})
        return TableCopy(slave, tolerated.get((slave, on_slave), 0), kept, compared.get((slave, str(name))))

    return [
        TableStatus(str(name), name in watched, active.get(name, Activity()), [copy(slave, name) for slave in slaves])
        for name in sorted(watched | active.keys())
    ]


def _name_on_slave(context: Context, slave: str, name: TableName) -> TableName:
    try:
        return context.config.slave(slave).mapper.table(name)
    except SluiceError:
        return name
