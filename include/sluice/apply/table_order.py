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
    edges = {
        table: {other for other in parents.get(table, set()) if other != table and other in wanted} for table in wanted
    }
    while True:
        try:
            return list(TopologicalSorter(edges).static_order())
        except CycleError as error:
            child, parent = error.args[1][1], error.args[1][0]
            edges[child].discard(parent)
            edges[parent].discard(child)


def loading_order(
    sequences: Mapping[TableName, int], parents: Mapping[TableName, set[TableName]]
) -> tuple[tuple[TableName, ...], ...]:
    """The tables in the order of an initial update, those of one sequence number together (Table 2.5 of the guide).

    Negative numbers are all alike and come first, which is where tables without a number of their own stand. Within a
    number parents come before their children.
    """
    stages: dict[int, list[TableName]] = {}
    for name, sequence in sequences.items():
        stages.setdefault(max(sequence, -1), []).append(name)
    return tuple(tuple(parents_first(stages[sequence], parents)) for sequence in sorted(stages))


def cycles(
    tables: Iterable[TableName], parents: Mapping[TableName, set[TableName]]
) -> tuple[tuple[TableName, ...], ...]:
    """The groups of tables that refer to each other in a circle; a table that refers to itself is none."""
    wanted = set(tables)
    above = {table: _above(table, parents) & wanted for table in wanted}
    groups = {frozenset({table, *(other for other in above[table] if table in above[other])}) for table in wanted}
    return tuple(sorted(tuple(sorted(group)) for group in groups if len(group) > 1))


def _above(table: TableName, parents: Mapping[TableName, set[TableName]]) -> set[TableName]:
    """Everything that a table refers to, directly or by way of others."""
    above: set[TableName] = set()
    ahead = [table]
    while ahead:
        for other in parents.get(ahead.pop(), set()) - above:
            above.add(other)
            ahead.append(other)
    return above
