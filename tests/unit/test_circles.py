"""Which replications bring a change back to the table that it was taken from."""

from __future__ import annotations

import pytest

from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.drain.shared_tables import others
from sluice.model.names import Pair, TableName
from sluice.model.replication_cycles import unblocked_loops

CASES = {
    "one direction": ({"a": ["s.t"], "b": ["s.t"]}, ["a>b"], {}, []),
    "both directions": ({"a": ["s.t"], "b": ["s.t"]}, ["a>b", "b>a"], {}, ["a>b", "b>a"]),
    "both, one of them blocked": ({"a": ["s.t"], "b": ["s.t"]}, ["a!b", "b>a"], {}, ["b>a"]),
    "both, blocked": ({"a": ["s.t"], "b": ["s.t"]}, ["a!b", "b!a"], {}, []),
    "other tables back": ({"a": ["s.t"], "b": ["s.u"]}, ["a>b", "b>a"], {}, []),
    "a cascade": ({"a": ["s.*"], "b": ["s.*"]}, ["a>b", "b>c"], {}, []),
    "a ring": ({"a": ["s.*"], "b": ["s.t"], "c": ["s.t*"]}, ["a>b", "b>c", "c>a"], {}, ["a>b", "b>c", "c>a"]),
    "a ring that a table breaks": ({"a": ["s.*"], "b": ["s.t"], "c": ["s.u*"]}, ["a>b", "b>c", "c>a"], {}, []),
    "a ring behind a master": ({"a": ["s.t"], "b": ["s.t"], "c": ["s.t"]}, ["a>b", "b!c", "c!b"], {}, []),
    "a wildcard and a name": ({"a": ["s.*"], "b": ["s.t"]}, ["a>b", "b>a"], {}, ["a>b", "b>a"]),
    "what the way back excludes": ({"a": ["s.t"], "b": ["s.*", "-s.t"]}, ["a>b", "b>a"], {}, []),
    "a wildcard that the way back excludes": ({"a": ["s.t*"], "b": ["s.*", "-s.t*"]}, ["a>b", "b>a"], {}, []),
    "copied once alone": ({"a": ["s.t"], "b": ["0s.t"]}, ["a>b", "b>a"], {}, []),
    "into another schema": ({"a": ["s.*"], "b": ["s.*"]}, ["a>b", "b>a"], {"b": {"schemas": {"s": "r"}}}, []),
    "there and back by other names": (
        {"a": ["s.*"], "b": ["r.*"]},
        ["a>b", "b>a"],
        {"b": {"schemas": {"s": "r"}}, "a": {"schemas": {"r": "s"}}},
        ["a>b", "b>a"],
    ),
    "a table of a wildcard elsewhere, and back": (
        {"a": ["s.*"], "b": ["r.u"]},
        ["a>b", "b>a"],
        {"a": {"tables": {"r.u": {"as": "s.t"}}}, "b": {"schemas": {"s": "x"}, "tables": {"s.t": {"as": "r.u"}}}},
        ["a>b", "b>a"],
    ),
    "a table under another name": (
        {"a": ["s.t"], "b": ["s.t"]},
        ["a>b", "b>a"],
        {"b": {"tables": {"s.t": {"as": "u"}}}},
        [],
    ),
    "both directions, which one declines": (
        {"a": ["s.*"], "b": ["s.*"]},
        ["a>b", "b>a"],
        {"a": {"tables": {"s.*": {"exclude": True}}}},
        [],
    ),
    "both directions, which one declines by name": (
        {"a": ["s.t"], "b": ["s.*"]},
        ["a>b", "b>a"],
        {"b": {"tables": {"s.t": {"exclude": True}}}},
        [],
    ),
    "both directions, which one declines but for some": (
        {"a": ["s.*"], "b": ["s.*"]},
        ["a>b", "b>a"],
        {"a": {"tables": {"s.*": {"exclude": True}, "s.u*": {}}}},
        ["a>b", "b>a"],
    ),
    "into itself, elsewhere": ({"a": ["s.*"]}, ["a>a"], {"a": {"schemas": {"s": "r"}}}, []),
    "into itself": ({"a": ["s.*"]}, ["a>a"], {}, ["a>a"]),
}


def entry(text):
    return {"-": {"exclude": True}, "0": {"actions": "none"}}.get(text[0], {})


def settings(sources, arrows, names):
    return {
        "sources": {
            name: {"connection": name, "tables": {text.lstrip("-0"): entry(text) for text in tables}}
            for name, tables in sources.items()
        },
        "slaves": {name: {"connection": name, **names.get(name, {})} for name in "abc"},
        "replications": [{"source": one[0], "slave": one[2], "block_loop": one[1] == "!"} for one in arrows],
    }


@pytest.mark.parametrize(("sources", "arrows", "names", "expected"), CASES.values(), ids=CASES)
def test_replications_whose_changes_come_back_are_found(sources, arrows, names, expected):
    body = settings(sources, arrows, names)
    for number, slave in enumerate(body["slaves"].values()):
        slave["connection"] += f"_{number}"
    config = Config.model_validate(body)
    assert [f"{one.source}>{one.slave}" for one in unblocked_loops(config.arrows(lambda name: name[0]))] == expected


def test_a_file_with_a_circle_that_nothing_blocks_is_refused():
    with pytest.raises(ValueError, match="what a sends to b would come back to it, again and again: set block_loop"):
        Config.model_validate(settings(*CASES["both directions"][:3]))


SAME = {
    "databases of PostgreSQL": ("postgresql", {"database": "x"}, {"database": "y"}, False),
    "its port by default": ("postgresql", {"database": "x"}, {"database": "x", "port": 5432}, True),
    "databases of MariaDB, which one session reaches": ("mariadb", {"database": "x"}, {"port": 3306}, True),
    "servers of MariaDB": ("mariadb", {}, {"port": 3307}, False),
    "services of Oracle": ("oracle", {"database": "x"}, {"extra": {"service_name": "y"}}, False),
    "a service of Oracle": ("oracle", {"database": "x"}, {"extra": {"dsn": "H/X"}}, True),
    "entries of tnsnames.ora": ("oracle", {"extra": {"dsn": "x"}}, {"extra": {"dsn": "y"}}, False),
    "descriptors": ("oracle", {"extra": {"dsn": "(A=x)"}}, {"extra": {"dsn": "(A=y)"}}, False),
}


@pytest.mark.parametrize(("vendor", "one", "other", "same"), SAME.values(), ids=SAME)
def test_connections_lead_to_one_database_if_its_vendor_says_so(vendor, one, other, same):
    body = settings({"a": ["s.t"]}, ["a>b"], {"b": {"vendor": vendor}, "c": {"vendor": vendor}})
    infos = {"b": ConnectionInfo("some", "h", **one), "c": ConnectionInfo("some", "h", **other)}
    context = Context(Config.model_validate(body), infos)
    assert (context.database_id("b") == context.database_id("c")) is same
    assert context.database_id("a") == "a"


def test_two_sources_that_fill_one_table_of_a_mariadb_are_seen_from_each_database_of_it():
    into = {"vendor": "mariadb", "schemas": {"s": "shop"}}
    body = settings({"x": ["s.t"], "y": ["s.t"]}, ["x>b", "y>c"], {"b": into, "c": into})
    infos = {name: ConnectionInfo("mysql", "h", database=name) for name in "bc"}
    context = Context(Config.model_validate(body), infos)
    found = others(context, Pair("x", "b"), TableName("shop", "t"), known=lambda source: ())
    assert found == ["s.t of y"]
