"""The preview of an initial update: sizes, what is emptied, what would be lost, and servers that do not answer."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest
from support.world import SOURCE

from sluice.bounded_calls import BoundedCalls
from sluice.errors import ConfigError
from sluice.initial_update.preflight import UpdateChoices
from sluice.initial_update.preview import preview
from sluice.model.names import TableName
from sluice.vendors.postgresql.read.sizes import sizes

pytestmark = [pytest.mark.postgres]
DDL = """
CREATE TABLE t (id int PRIMARY KEY, price numeric, note text);
CREATE TABLE kept (id int PRIMARY KEY);
CREATE TABLE away (id int PRIMARY KEY);
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE high PARTITION OF parted FOR VALUES FROM (100) TO (1000);
INSERT INTO t SELECT g, g, repeat('x', 700) FROM generate_series(1, 3000) AS g;
INSERT INTO parted SELECT generate_series(1, 400);
"""
NARROW = """
CREATE TABLE t (id int PRIMARY KEY, price numeric(6,2), note text);
CREATE TABLE kept (id int PRIMARY KEY);
INSERT INTO t SELECT g, g, 'old' FROM generate_series(1, 50) AS g;
ANALYZE t;
"""
TABLES = ["public.t", "public.kept", "public.away", "public.parted"]


@pytest.fixture
def world(updating):
    made = updating(DDL, TABLES)
    made.master.execute("ANALYZE")
    made.reader("zurich").execute(NARROW)
    entries = {"public.kept": {"on_existing_rows": "merge"}, "public.away": {"exclude": True}}
    made.configure(lambda to: to["slaves"]["zurich"].update(tables=entries))
    return made


def seen(world, *slaves, seconds=30.0):
    return preview(world.context, BoundedCalls(), SOURCE, slaves, UpdateChoices(), seconds)


def test_it_tells_sizes_losses_and_what_is_emptied(world):
    found = seen(world, "zurich", "geneva")
    sized = {one.table: one for one in found.tables}
    assert list(sized) == ["public.away", "public.kept", "public.parted", "public.t"]
    assert 2_900 <= sized["public.t"].rows <= 3_100
    assert 2e6 < sized["public.t"].bytes < 3e6
    assert (sized["public.parted"].rows, sized["public.kept"].rows) == (400, 0)
    assert found.rows == sum(one.rows for one in found.tables)
    zurich, geneva = found.slaves
    assert [(one.table, one.rows) for one in zurich.emptied] == [("public.t", 50)]
    assert (zurich.excluded, geneva.emptied, geneva.losses) == (1, [], [])
    (loss,) = zurich.losses
    assert (loss.table, loss.column, loss.slave_type, loss.allowed) == ("public.t", "price", "numeric(6,2)", False)
    assert not (world.path / "reports").exists(), "a preview writes nothing"
    with pytest.raises(ConfigError, match="SLC-003"):
        seen(world, "nobody")


@pytest.mark.full
def test_what_would_be_refused_says_why(world):
    (zurich,) = seen(world, "zurich").slaves
    assert "SLC-220" in zurich.why
    assert "losses flights zurich --allow" in zurich.hint
    world.reader("zurich").execute("ALTER TABLE t ALTER price TYPE numeric")
    assert seen(world, "zurich").slaves[0].why == ""
    world.configure(lambda to: to["slaves"]["zurich"].update(on_existing_rows="refuse"))
    (zurich,) = seen(world, "zurich").slaves
    assert "SLC-210" in zurich.why


def test_tables_that_were_never_analysed_or_are_locked_keep_nobody_waiting(world):
    world.master.execute("CREATE TABLE fresh (id int); INSERT INTO fresh SELECT generate_series(1, 9000)")
    info, other = world.infos["master"], world.session("master")
    names = [TableName("public", one) for one in ("fresh", "t", "nowhere")]
    assert sizes(info, names).keys() == set(names[:2])
    assert 2e5 < sizes(info, names)[names[0]].bytes < 1e6
    with other.transaction():
        other.execute("LOCK TABLE t")
        assert 2_900 <= sizes(info, names)[names[1]].rows <= 3_100


@pytest.mark.full
@pytest.mark.parametrize("name", ["master", "geneva"])
def test_a_server_that_says_nothing_is_told(world, name):
    with socket.create_server(("127.0.0.1", 0)) as hole:
        world.infos[name] = replace(world.infos[name], host="127.0.0.1", port=hole.getsockname()[1])
        world.configure(lambda settings: None)
        # The others are to answer in that time.
        seconds = 3.0 if name == "master" else 8.0
        found = seen(world, "zurich", "geneva", seconds=seconds)
    told = [one.known for one in found.slaves]
    assert (found.known, told) == ((False, [False, False]) if name == "master" else (True, [True, False]))
    if name == "master":
        assert "not answered within 3 seconds" in found.why
        assert [(one.table, one.rows) for one in found.tables] == [(one, None) for one in sorted(TABLES)]
        assert (found.rows, found.bytes) == (None, None)
    else:
        assert "not answered within 8 seconds" in found.slaves[1].why
