"""Parents before children, whatever the foreign keys look like."""

from __future__ import annotations

import pytest

from sluice.apply.table_order import cycles, loading_order, parents_first
from sluice.model.names import TableName


def name(table: str) -> TableName:
    return TableName("public", table)


def order(tables: str, parents: dict[str, str]) -> str:
    wanted = [name(table) for table in tables]
    edges = {name(child): {name(parent) for parent in those} for child, those in parents.items()}
    return "".join(found.table for found in parents_first(wanted, edges))


@pytest.mark.parametrize(
    ("tables", "parents"),
    [
        ("abc", {"a": "b", "b": "c"}),
        ("abcd", {"a": "bc", "b": "d", "c": "d"}),
        ("ab", {"a": "ab"}),
        ("ab", {"a": "x", "x": "b"}),
    ],
    ids=["chain", "diamond", "self-reference", "a parent that is not written"],
)
def test_a_table_comes_after_every_table_it_refers_to(tables, parents):
    found = order(tables, parents)
    assert sorted(found) == sorted(tables)
    for child, those in parents.items():
        for parent in set(those) & set(tables) - {child}:
            if child in tables:
                assert found.index(parent) < found.index(child)


def test_the_order_does_not_depend_on_how_the_tables_were_listed():
    assert order("cab", {"c": "a"}) == order("abc", {"c": "a"})


@pytest.mark.parametrize("parents", [{"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}])
def test_a_cycle_still_lists_every_table_once(parents):
    assert sorted(order("abcd", parents)) == list("abcd")


def test_a_cycle_does_not_lose_the_order_of_the_others():
    found = order("abcd", {"a": "b", "b": "a", "d": "a", "c": "d"})
    assert found.index("a") < found.index("d") < found.index("c")


def test_a_sequence_orders_and_foreign_keys_break_ties():
    found = loading_order({name("c"): 1, name("b"): -5, name("a"): 1, name("d"): -1}, {name("a"): {name("c")}})
    assert ["".join(one.table for one in stage) for stage in found] == ["bd", "ca"]


@pytest.mark.parametrize(
    ("parents", "groups"),
    [
        ({"a": "b", "b": "a", "c": "a"}, ["ab"]),
        ({"a": "b", "b": "c", "c": "a", "d": "e", "e": "d"}, ["abc", "de"]),
        ({"a": "a", "b": "a"}, []),
        ({"a": "x", "x": "b", "b": "a"}, ["ab"]),
    ],
    ids=["two", "two groups", "a reference to itself", "by way of a table that is not watched"],
)
def test_tables_that_refer_to_each_other_are_named(parents, groups):
    edges = {name(child): {name(parent) for parent in those} for child, those in parents.items()}
    assert ["".join(one.table for one in group) for group in cycles(map(name, "abcde"), edges)] == groups
