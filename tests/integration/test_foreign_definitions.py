"""A table of a master of another vendor: slaves make it from what its layout says."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import pytest
from support.logical import VALUES

from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.store.leases import acquire

pytestmark = [pytest.mark.postgres]


@dataclass(frozen=True)
class ForeignTable:
    """A definition of another vendor, which says the rest of it in words of its own."""

    layout: Layout
    formats: tuple[str, ...] = ("mysql-binary", "text")
    said: str = 'CREATE TABLE `odd "one` (...) ENGINE=InnoDB'

    @property
    def name(self):
        return self.layout.name

    def to_json(self):
        return {"said": self.said}


NAME = TableName("public", 'odd "one')
COLUMNS = (Column('k "1', "integer", True), Column("k2", "uuid", True))
COLUMNS += tuple(Column(f"v{number}", kind) for number, kind in enumerate(VALUES))
TABLE = ForeignTable(Layout(0, NAME, COLUMNS, (1, 0)))
KEYLESS = ForeignTable(Layout(0, TableName("public", "keyless"), COLUMNS))


def load(world, slave_name):
    """Make the tables on a slave, as an initial update does; the chunks bring nothing."""
    pair = world.pair(slave_name)
    with closing(world.context.slave(pair)) as slave:
        slave.loadable([TABLE, KEYLESS])
        tables = slave.loading(acquire(world.context.store, f"drain {pair}", force=True).epoch)
        with closing(tables):
            tables.begin()
            tables.expect([])
            tables.merging([TABLE, KEYLESS])
            tables.prepare([TABLE, KEYLESS])
            tables.finish([TABLE, KEYLESS], 1)
            tables.begin_stream(Position(1, 1), Snapshot("0-1-57"))
        later = acquire(world.context.store, f"drain {pair}", force=True).epoch
        assert slave.take_over(later) == (Position(1, 1), Snapshot("0-1-57"))


def test_a_slave_of_postgresql_has_its_columns_and_its_key(updating):
    world = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], renamed={"public": "branch"})
    for slave, schema in (("zurich", "public"), ("geneva", "branch")):
        load(world, slave)
        for made in (TABLE, KEYLESS):
            columns = (
                "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attnum > 0 AND "
                "attrelid = (SELECT oid FROM pg_class WHERE relname = %s AND relnamespace = %s::regnamespace) "
                "ORDER BY attnum"
            )
            found = world.reader(slave).execute(columns, [made.name.table, schema]).fetchall()
            assert found == [(one.name, one.type, one.not_null) for one in COLUMNS]
        keys = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conname LIKE 'odd%'"
        assert world.reader(slave).execute(keys).fetchall() == [('PRIMARY KEY (k2, "k ""1")',)]


@pytest.mark.full
def test_files_have_its_columns(lake):
    there = lake("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], vendor="iceberg")
    load(there.world, "zurich")
    made = there.version("zurich")["tables"]
    for one in (TABLE, KEYLESS):
        columns = made[str(one.name)]["columns"]
        assert [tuple(column) for column in columns] == [(o.name, o.type, o.not_null, o.generated) for o in COLUMNS]
