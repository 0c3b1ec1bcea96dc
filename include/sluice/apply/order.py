"""The order in which tables are written: parents before children for inserts, the reverse for deletes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from sluice.model.names import TableName


def parents_first(tables: Iterable[TableName], parents: Mapping[TableName, set[TableName]]) -> list[TableName]:
    """The tables, each after those it refers to; tables in a cycle keep their names' order among themselves.

    Args:
        parents: for a table the tables that its foreign keys refer to; a reference to itself does not count.
    """
    wanted = sorted(set(tables))
    edges = {one: {other for other in parents.get(one, set()) if other != one and other in wanted} for one in wanted}
    while True:
        try:
            return list(TopologicalSorter(edges).static_order())
        except CycleError as error:
            child, parent = error.args[1][1], error.args[1][0]
            edges[child].discard(parent)
            edges[parent].discard(child)
