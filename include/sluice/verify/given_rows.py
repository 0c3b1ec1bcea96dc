"""Compare rows of given keys alone: the rows that a repair was to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sluice.apply.mapping.slave_key import masters_columns
from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors.protocol.compare import Comparison, GivenKeys, not_by_given_keys
from sluice.vendors.protocol.read import Key


class GivenRows:
    """The rows of given keys.

    Args:
        keys: by tables of the master, in the order of the slave's key.
    """

    def __init__(self, keys: Mapping[TableName, tuple[Key, ...]]) -> None:
        self._keys = keys

    def read_to(self, end: Position) -> None:
        """There is nothing to read."""

    def narrow(self, slave: str, mapper: Mapper, jobs: list[Comparison]) -> list[Comparison]:
        """The comparisons of these rows alone. Raises NotByKeys SLC-622, they cannot be found by a key."""
        narrowed = []
        for job in jobs:
            try:
                columns = masters_columns(job.view, mapper)
            except ValueError as error:
                raise not_by_given_keys(slave, {job.view.master.name: str(error)}) from None
            narrowed.append(replace(job, only=GivenKeys(columns, self._keys[job.view.master.name])))
        return narrowed

    def describe(self, slave: str) -> str:
        """The rows that were compared, for people."""
        return f" (of {sum(map(len, self._keys.values())):,} keys alone)"

    def result(self, slave: str) -> dict[str, object]:
        """The rows that were compared, for programs."""
        return {"keys": sum(map(len, self._keys.values()))}
