"""Slaves of a GaussDB are filled, and every value of every type gets there. A PostgreSQL stands in for the GaussDB."""

from __future__ import annotations

import os
from contextlib import closing

import psycopg
import pytest
from psycopg import sql
from support.exactly import pinned, text_of
from support.gauss import STANDING_IN, needed, standing_in
from support.updating import SLAVES, UpdatingWorld, background
from support.values import GROUPS
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import TransientError
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.state.replication import Status
from sluice.vendors.gaussdb import vendor
from sluice.vendors.gaussdb.read.rows import reading

pytestmark = [pytest.mark.postgres, needed]
__all__ = ["standing_in"]


@pytest.fixture
def updated(server, standing_in, tmp_path, monkeypatch):
    """Makes a world whose master is taken for a GaussDB and whose slaves are empty."""
    monkeypatch.setattr(vendor, "PLUGIN", STANDING_IN)
    made = []

    def one(ddl, tables, **decoding):
        source = {"vendor": "gaussdb", "capture": "log", "decoding": decoding}
        world = UpdatingWorld(
            server, tmp_path / "world", ddl, tables, {}, elsewhere={"master": standing_in}, source=source
        )
        made.append(world)
        monkeypatch.setitem(os.environ, SEALED_ENV, seal(world.infos))
        return world

    yield one
    for world in made:
        world.close()
        server.drop_databases(world.infos.values())


@pytest.mark.full
def test_an_update_under_constant_writes_leaves_no_difference(updated):
    world = updated("CREATE TABLE heap (a int, b text); CREATE TABLE keyed (id int PRIMARY KEY, v text)", ["public.*"])
    busy, other = world.session(), world.session()
    numbers = iter(range(1_000_000))

    def writes():
        key = next(numbers)
        busy.execute("INSERT INTO heap VALUES (%s, 'x'), (%s, NULL)", [key % 7, key % 5])
        busy.execute("INSERT INTO keyed VALUES (%s, 'v')", [key])

    def changes():
        other.execute("UPDATE heap SET b = b || 'y' WHERE ctid IN (SELECT ctid FROM heap LIMIT 2)")
        other.execute("DELETE FROM keyed WHERE id IN (SELECT id FROM keyed WHERE id % 3 > 0 LIMIT 1)")

    with background(writes, changes, pause_s=0.01), background(world.publish):
        world.update()
    world.catch_up()
    for table in ("public.heap", "public.keyed"):
        assert world.rows("master", table)
        for slave in SLAVES:
            assert world.rows(slave, table) == world.rows("master", table)
    assert world.verify(initial=True) == dict.fromkeys(SLAVES, 0)
    assert {world.status(slave) for slave in SLAVES} == {Status.NORMAL}
    found = {one.subject: one for one in findings(world.context)}
    assert found[f"source {SOURCE}"].good
    key = world.reader("zurich").execute("SELECT 1 FROM pg_index WHERE indrelid = 'keyed'::regclass AND indisprimary")
    assert key.fetchone()


@pytest.mark.full
def test_every_value_of_every_type_arrives_from_the_snapshot_and_from_the_log(updated, standing_in):
    """Each group of types has a table of its own."""
    admin = standing_in.cluster.admin()
    admin.autocommit = True
    groups = {}
    for group, kinds in GROUPS.items():
        values = {kind: list(known(admin, kind, texts)) for kind, texts in kinds.items()}
        groups[group] = {kind: texts for kind, texts in values.items() if texts}
    columns = {group: [f"c{number}" for number in range(len(values))] for group, values in groups.items()}
    made = []
    for group, values in groups.items():
        typed = ", ".join(f"{column} {kind}" for column, kind in zip(columns[group], values, strict=True))
        made.append(f"CREATE TABLE of_{group} (id int PRIMARY KEY, {typed})")
    names = {group: f"public.of_{group}" for group in groups}
    allowed = {names[group]: columns[group] for group in groups}
    world = updated("; ".join(made), list(names.values()), rounded_floats=allowed)

    def rows(base):
        for group, values in groups.items():
            places = ", ".join(f"%s::{kind}" for kind in values)
            for number in range(max(map(len, values.values())) + 1):
                row = [texts[number] if number < len(texts) else None for texts in values.values()]
                world.master.execute(f"INSERT INTO of_{group} VALUES (%s, {places})", [base + number, *row])

    rows(0)
    world.publish()
    world.update("zurich")
    rows(100)
    world.publish()
    world.drain("zurich")
    slave, master = pinned(world, "zurich"), pinned(world, "master")
    for group in groups:
        texts = sql.SQL(", ").join(text_of(name) for name in ("id", *columns[group]))
        query = sql.SQL("SELECT {} FROM {} ORDER BY id").format(texts, sql.Identifier("public", f"of_{group}"))
        assert slave.execute(query).fetchall() == master.execute(query).fetchall(), group


def known(session, kind, texts):
    """Those values that the server takes."""
    for text in texts:
        try:
            session.execute(sql.SQL("SELECT {}::{}").format(text, sql.SQL(kind)))
        except (psycopg.errors.DataError, psycopg.errors.UndefinedObject):
            continue
        yield text


@pytest.mark.full
def test_a_dump_knows_when_all_that_it_shows_is_published(updated):
    world = updated("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (a int)", ["public.t"])
    world.publish()
    # Of a table that nobody watches.
    world.master.execute("INSERT INTO u VALUES (1); INSERT INTO t VALUES (1)")
    with closing(world.context.source(SOURCE)) as source:
        log_end = world.context.manifest(SOURCE).end
        with source.master.dump_snapshot([[TableName("public", "t")]], log_end) as snapshot:
            assert not snapshot.published()
            assert not snapshot.published()
            world.publish()
            assert snapshot.published()


ANOTHER = "CREATE TABLE t (id int PRIMARY KEY)"


# What is done before the table is read, and while it is; what takes it back.
HARMS = [
    ("ALTER TABLE t ALTER id TYPE bigint", "", ""),
    ("TRUNCATE t", "", "INSERT INTO t VALUES (1)"),
    (
        "ALTER TABLE t RENAME TO u; CREATE VIEW t AS SELECT id / 0 AS id FROM u",
        "",
        "DROP VIEW t; ALTER TABLE u RENAME TO t",
    ),
    (f"ALTER TABLE t RENAME TO u; {ANOTHER}", "", "DROP TABLE t; ALTER TABLE u RENAME TO t"),
    (
        "",
        f"ALTER SCHEMA public RENAME TO gone; CREATE SCHEMA public; {ANOTHER}",
        "DROP SCHEMA public CASCADE; ALTER SCHEMA gone RENAME TO public",
    ),
    ("DROP TABLE t", "", ""),
]


@pytest.mark.full
def test_rows_are_those_of_the_table_that_the_snapshot_shows_or_none_at_all(updated):
    world = updated("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)", ["public.t"])
    for before, meanwhile, after in HARMS:
        with closing(world.context.source(SOURCE)) as source, source.master.exported_snapshot() as (snapshot, _):
            world.master.execute(before)
            with pytest.raises(TransientError, match=r"SLC-095: .* was rewritten or emptied"):
                read(world, snapshot, meanwhile)
            world.master.execute(after)


def read(world, snapshot, meanwhile):
    """Read the table in a snapshot, while somebody executes something."""
    with reading(world.infos["master"], snapshot) as rows:
        table = rows.table(TableName("public", "t"), ["id"])
        world.master.execute(meanwhile)
        return list(table)
