"""Comparing rows changed since a position alone: the keys that the change log has of each table, as a slave sees it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from sluice.apply.mapping.slave_key import masters_columns
from sluice.changelog.changed_keys import ChangedKeys, no_place, position
from sluice.config.mapper import Mapper
from sluice.context import Context
from sluice.log import event
from sluice.model.log_place import LogPlace
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors.protocol.compare import Comparison, GivenKeys, not_by_given_keys


@dataclass
class _Extent:
    """The extent to which the tables of one slave were compared: so many keys, or as a whole, and why."""

    keys: int = 0
    whole: dict[str, str] = field(default_factory=dict)


class ChangedRows:
    """The rows that the change log has changes of, for the tables of a comparison."""

    def __init__(self, keys: ChangedKeys) -> None:
        self._keys = keys
        self._slaves: dict[str, _Extent] = {}

    @classmethod
    def begin(
        cls,
        context: Context,
        source: str,
        since: str,
        tables: Collection[TableName],
        watched: Collection[TableName],
        *,
        alone: bool,
    ) -> ChangedRows | None:
        """Read the log up to its end of now; None if all rows are compared.

        Args:
            since: a place in the log as people write it; blank if there is none.
            tables: the tables to compare.
            watched: all tables of the source.
            alone: nothing else says which rows are compared.

        Raises:
            SluiceError: SLC-620, there is no such place, or something else says it as well; the log does not
                go back so far.
        """
        if not since.strip():
            return None
        if not alone:
            raise no_place("something else says which rows are compared")
        try:
            place = LogPlace.parse(since)
        except ValueError as error:
            raise no_place(f"{since.strip()[:60]!r}: {error}") from None
        manifest = context.manifest(source)
        keys = ChangedKeys(manifest, context.files(), position(manifest, place), tables, watched)
        keys.read_to(manifest.end())
        return cls(keys)

    @property
    def since(self) -> Position:
        """The position behind which the changes are."""
        return self._keys.after

    def read_to(self, end: Position) -> None:
        """Read the rest, up to the point of the comparison."""
        self._keys.read_to(end)

    def narrow(self, slave: str, mapper: Mapper, jobs: list[Comparison]) -> list[Comparison]:
        """The comparisons of a slave, of these rows alone, or of all rows of a table where the log does not tell them.

        Raises:
            NotByKeys: SLC-622, rows of some tables cannot be found by a key.
        """
        narrowed, odd = [], {}
        for job in jobs:
            master = job.view.master
            try:
                columns = masters_columns(job.view, mapper)
            except ValueError as error:
                odd[master.name] = str(error)
                continue
            if set(columns) != set(master.key_names):
                odd[master.name] = "the slave's key is another one"
                continue
            keys = self._keys.find(master)
            if isinstance(keys, str):
                event("compared as a whole", slave=slave, table=master.name, why=keys)
                narrowed.append(replace(job, why_whole=keys))
                continue
            order = [master.key_names.index(name) for name in columns]
            given = tuple(tuple(key[index] for index in order) for key in sorted(keys))
            narrowed.append(replace(job, only=GivenKeys(columns, given)))
        if odd:
            raise not_by_given_keys(slave, odd)
        return narrowed

    def note(self, job: Comparison) -> None:
        """Note how a table was compared."""
        extent = self._slaves.setdefault(job.slave, _Extent())
        if job.only is None:
            extent.whole[str(job.view.master.name)] = job.why_whole
        else:
            extent.keys += len(job.only.keys)

    def describe(self, slave: str) -> str:
        """The rows of a slave that were compared, for people."""
        extent = self._slaves.get(slave, _Extent())
        whole = "".join(f"; {table} as a whole: {why}" for table, why in extent.whole.items())
        return f" (those changed since {self.since} alone: {extent.keys:,} keys{whole})"

    def result(self, slave: str) -> dict[str, object]:
        """The rows of a slave that were compared, for programs."""
        extent = self._slaves.get(slave, _Extent())
        return {"since": str(self.since), "keys": extent.keys, "whole": extent.whole}
