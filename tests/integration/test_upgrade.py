"""DbResources of an older version are brought up to this one, and what is queued in them arrives."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.older_store import as_of
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.state.replication import Status
from sluice.vendors.postgresql.capture.queue import triggers

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
BEFORE = Path(__file__).with_name("dbresources_0.sql").read_text(encoding="utf-8")
PARTED = f"""
{DDL}; CREATE TABLE s (id int PRIMARY KEY, v text);
CREATE TABLE p (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); CREATE TABLE p2 PARTITION OF p DEFAULT
"""
WRITTEN = "INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO s VALUES (1, 's'); INSERT INTO p VALUES (5, 'p')"
# Where the DbResources were by default.
PUBLIC = {"schema": "public"}
EMPTY = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"


@pytest.fixture
def old(build):
    """A master with the DbResources of before, and rows that wait in them."""
    world = build(DDL, ["public.t"], source=PUBLIC)
    known = world.master.execute("SELECT incarnation, segment, sha256, epoch FROM repl_state").fetchone()
    world.master.execute(EMPTY + DDL)
    (relation,) = world.master.execute("SELECT 't'::regclass::oid::text").fetchone()
    world.master.execute(BEFORE.replace("@relid@", relation))
    world.master.execute("UPDATE repl_state SET (incarnation, segment, sha256, epoch) = (%s, %s, %s, %s)", known)
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'); UPDATE t SET v = 'c' WHERE id = 2")
    return world


@pytest.mark.parametrize("first", ["publish", "bootstrap"])
def test_what_was_queued_before_an_upgrade_arrives_after_it(old, first):
    queued = old.queued()
    assert len(queued) == 3
    if first == "bootstrap":
        bootstrap(old.context, SOURCE)
        assert old.queued() == queued
    old.publish()
    assert [change["repl_key"] for change in old.log()] == sorted(queued)
    old.master.execute("INSERT INTO t VALUES (3, 'd'); ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (4, 'e')")
    old.publish()
    assert [change["action"] for change in old.log()][-3:] == ["I", "A", "I"]
    assert old.status("zurich") is Status.NORMAL
    names = {name for (name,) in old.master.execute("SELECT evtname FROM pg_event_trigger")}
    assert names >= {"public.repl_altered", "public.repl_dropped"}
    assert "public_repl_altered" not in names


@pytest.mark.full
def test_what_is_made_anew_has_the_shape_of_what_was_upgraded(old, build):
    bootstrap(old.context, SOURCE)
    assert bootstrap(old.context, SOURCE)["added"] == []
    new = build(DDL, ["public.t"], source=PUBLIC)
    shape = """
        SELECT attrelid::regclass::text, attname, format_type(atttypid, NULL), attnotnull, attstorage, reloptions::text
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND relname LIKE 'repl%' AND attnum > 0 AND NOT attisdropped"""
    upgraded, made = (set(world.master.execute(shape).fetchall()) for world in (old, new))
    assert upgraded == made


def test_the_key_of_an_older_queue_goes_when_no_transaction_holds_it(old, monkeypatch):
    monkeypatch.setattr(triggers, "_LOCK_TRIES", 1)
    key = "SELECT count(*) FROM pg_constraint WHERE contype = 'p' AND conrelid = 'repl_queue'::regclass"
    writer = old.session()
    with writer.transaction():
        writer.execute("INSERT INTO t VALUES (9, 'open')")
        with pytest.raises(TransientError, match="SLC-036"):
            bootstrap(old.context, SOURCE)
        old.master.execute("INSERT INTO t VALUES (8, 'not held up')")
    assert old.master.execute(key).fetchone() == (1,)
    bootstrap(old.context, SOURCE)
    assert old.master.execute(key).fetchone() == (0,)


# What an older version did not record, and where it is told apart if that version wrote down tables as this one does.
NOWHERE, POLLING, EVERYWHERE = range(3)
SWAP = "ALTER TABLE s RENAME TO x; ALTER TABLE t RENAME TO s; ALTER TABLE x RENAME TO t"
UNRECORDED = {
    "another column in the place of one": ("ALTER TABLE t DROP v, ADD w text", NOWHERE),
    "one more column": ("ALTER TABLE t ADD w text", POLLING),
    "another key": ("ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (v)", POLLING),
    "a name that another had": (SWAP, EVERYWHERE),
    "a partition that left": ("ALTER TABLE p DETACH PARTITION p1", EVERYWHERE),
}


def unseen(session, ddl):
    """DDL that no event trigger sees."""
    names = [name for (name,) in session.execute("SELECT evtname FROM pg_event_trigger")]
    for name in names:
        session.execute(f'ALTER EVENT TRIGGER "{name}" DISABLE')
    session.execute(ddl)
    for name in names:
        session.execute(f'ALTER EVENT TRIGGER "{name}" ENABLE ALWAYS')


# The version before, the job that upgrades, and whether DDL is seen or looked for.
CHANGED = [pytest.param(5, "bootstrap", *UNRECORDED["a partition that left"], True, id="older")]
CHANGED += [
    pytest.param(13, "publish", *case, superuser, id=f"{name}, {'seen' if superuser else 'polled'}")
    for name, case in UNRECORDED.items()
    for superuser in (True, False)
    # Seen, another key is found as one more column is; polled, what is told everywhere is told as it is there.
    if (name != "another key" or not superuser) and (case[1] != EVERYWHERE or superuser)
]


@pytest.mark.full
@pytest.mark.parametrize(("version", "first", "ddl", "where", "superuser"), CHANGED)
def test_what_an_older_version_did_not_record_is_found_by_the_upgrade(
    build, weak, version, first, ddl, where, superuser
):
    world = build(PARTED, [f"public.{name}" for name in "stp"], elsewhere={} if superuser else {"master": weak})
    world.master.execute(f"{WRITTEN}; UPDATE repl_state SET version = {version}")
    unseen(world.master, ddl)
    world.master.execute("INSERT INTO t VALUES (3, 'd'); INSERT INTO p VALUES (15, 'p')")
    if first == "bootstrap":
        bootstrap(world.context, SOURCE)
    told = version >= 11 and (where == EVERYWHERE or (where == POLLING and not superuser))
    world.publish()
    assert (world.status("zurich"), bool(world.left_out())) == (Status.NORMAL, not told)
    if told and ddl == SWAP:
        # What is told late is a swap at once, which no slave can do.
        with pytest.raises(SluiceError, match="SLC-142"):
            world.drain()
    elif told:
        world.catch_up()
        assert world.differences() == {}


def test_no_image_of_an_older_version_is_read_by_columns_that_it_was_not_written_with(old):
    unseen(old.master, "ALTER TABLE t DROP v, ADD w text")
    old.master.execute("INSERT INTO t VALUES (3, 'd')")
    old.publish()
    assert old.left_out() == {"public.t"}
    assert old.log() == []
    old.master.execute("INSERT INTO t VALUES (4, 'e')")
    old.publish()
    (change,) = old.log()
    assert change["new"] == ["4", "e"]
    (layout,) = old.context.manifest(SOURCE).layouts([change["layout"]]).values()
    assert [column.name for column in layout.columns] == ["id", "w"]


# As version 33 had it.
TYPELESS = "ALTER TABLE repl_current_tables DROP types; UPDATE repl_state SET version = 33"


@pytest.mark.full
@pytest.mark.parametrize(("first", "superuser"), [("publish", False), ("bootstrap", True)])
def test_what_types_are_made_of_is_known_from_an_upgrade_on(build, weak, first, superuser):
    ddl = "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (id int PRIMARY KEY, m mood[])"
    world = build(ddl, ["public.t"], elsewhere={} if superuser else {"master": weak})
    world.master.execute("INSERT INTO t VALUES (1, '{a}')")
    world.master.execute(TYPELESS)
    world.publish() if first == "publish" else bootstrap(world.context, SOURCE)
    world.catch_up()
    assert world.differences() == {}
    assert world.status("zurich") is Status.NORMAL
    world.master.execute("ALTER TYPE mood RENAME VALUE 'a' TO 'c'")
    for _ in range(2):
        world.publish()
    assert world.left_out() == {"public.t"}


LOADED_0 = """
DROP TABLE sluice_loaded;
CREATE TABLE sluice_loaded (
    source text NOT NULL, slave text NOT NULL, update_id bigint NOT NULL, chunk integer NOT NULL, rows bigint NOT NULL,
    PRIMARY KEY (source, slave, update_id, chunk));
INSERT INTO sluice_loaded VALUES ('flights', 'zurich', 1, 0, 7);
COMMENT ON TABLE sluice_position IS NULL"""


@pytest.mark.full
def test_a_slave_that_an_older_version_filled_is_filled_again(updating):
    world = updating(DDL, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.update()
    slave = world.reader("zurich")
    remark = slave.execute("SELECT obj_description('sluice_position'::regclass)").fetchone()
    slave.execute(LOADED_0)
    world.verify(initial=True)
    world.update("zurich")
    assert world.rows("zurich", "public.t") == world.rows("master", "public.t")
    assert slave.execute("SELECT obj_description('sluice_position'::regclass)").fetchone() == remark
    assert slave.execute("SELECT count(*) FROM sluice_loaded WHERE update_id = 1").fetchone() == (0,)


# As earlier versions had them.
EARLIER = {
    "master": TYPELESS,
    "zurich": "DROP TABLE sluice_references; COMMENT ON TABLE sluice_position IS 'version 6'",
}
VERSIONS = {
    "master": "SELECT version FROM repl_state",
    "zurich": "SELECT obj_description('sluice_position'::regclass)",
    "control": "SELECT version_num FROM alembic_version",
}


def test_source_slave_and_store_are_upgraded_in_place_while_changes_wait_in_queue_and_log(build, server):
    world = build(DDL, ["public.t"])
    world.drain()
    now = {name: world.reader(name).execute(query).fetchone() for name, query in VERSIONS.items()}
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    world.publish()
    world.master.execute("UPDATE t SET v = 'c' WHERE id = 1; DELETE FROM t WHERE id = 2")
    for name, statements in EARLIER.items():
        world.reader(name).execute(statements)
    world.infos = {**world.infos, "control": as_of(server, "0023", world.infos["control"])}
    world.reconnect("control")
    world.configure(lambda plain: None)
    bootstrap(world.context, SOURCE)
    assert len(world.queued()) == 2
    world.catch_up()
    assert [change["action"] for change in world.log()] == ["I", "I", "U", "D"]
    assert world.differences() == {}
    assert {name: world.reader(name).execute(query).fetchone() for name, query in VERSIONS.items()} == now


NEWER = {
    "publish": ("master", "UPDATE repl_state SET version = 999", "the DbResources repl_ are"),
    "bootstrap": ("master", "UPDATE repl_state SET version = 999", "the DbResources repl_ are"),
    "drain": ("zurich", "COMMENT ON TABLE sluice_position IS 'version 999'", "the tables of Sluice in zurich are"),
}
STORE = ("control", "UPDATE alembic_version SET version_num = '0999'", "the tables of the control store are")
CASES = [*((job, *STORE) for job in NEWER), *((job, *case) for job, case in NEWER.items())]


def test_what_a_newer_version_made_is_left_alone(build):
    world = build(DDL, ["public.t"])
    world.drain()
    store = world.reader("control")
    known = store.execute(VERSIONS["control"]).fetchone()
    for job, name, newer, what in CASES:
        store.execute("UPDATE alembic_version SET version_num = %s", known)
        world.reader(name).execute(newer)
        world.configure(lambda plain: None)
        with pytest.raises(ConfigError, match=rf"SLC-059: {what} of version 0?999"):
            bootstrap(world.context, SOURCE) if job == "bootstrap" else getattr(world, job)()
