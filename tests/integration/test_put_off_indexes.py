"""Indexes of a slave's own tables are built after the data, and are what they were then."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.sizes import BLOCK_BYTES
from support.updating import background, load_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.chunks import plan
from sluice.initial_update.release import abandon
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.postgresql.load.receiver import PostgresReceiver

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE large (id bigint PRIMARY KEY, code int NOT NULL, note text, words text[], parent int);
CREATE TABLE referred (id int PRIMARY KEY, code int NOT NULL, note text);
CREATE TABLE keyed (id int PRIMARY KEY, note text);
CREATE TABLE small (id int PRIMARY KEY, note text);
INSERT INTO keyed SELECT g, repeat('k', 200) FROM generate_series(1, 3000) AS g;
INSERT INTO referred SELECT g, -g, repeat('r', 200) FROM generate_series(1, 3000) AS g;
INSERT INTO large SELECT g, g * 2, repeat('x', 150), ARRAY['a' || g % 7], g FROM generate_series(1, 3000) AS g;
INSERT INTO small SELECT g, 'small' FROM generate_series(1, 10) AS g;
"""
TABLES = [f"public.{name}" for name in ("large", "referred", "keyed", "small")]
# As an administrator made it: with more than the master has, and named otherwise.
THERE = """
CREATE TABLE referred (id int CONSTRAINT "Key of it" PRIMARY KEY, code int NOT NULL, note text);
CREATE UNIQUE INDEX code_of_referred ON referred (code DESC);
CREATE TABLE large (
    id bigint NOT NULL, code int NOT NULL, note text, words text[], parent int REFERENCES referred,
    CONSTRAINT "The ""Key" PRIMARY KEY (id) INCLUDE (code) WITH (fillfactor = 80),
    CONSTRAINT late UNIQUE (code) DEFERRABLE INITIALLY DEFERRED, UNIQUE NULLS NOT DISTINCT (note, id),
    EXCLUDE USING btree (id WITH =));
CREATE UNIQUE INDEX "some 100%" ON large ((code + 1), lower(note) text_pattern_ops DESC NULLS LAST) WHERE code > 0;
CREATE INDEX words ON large USING gin (words) WITH (fastupdate = off);
CREATE INDEX commented ON large (parent);
COMMENT ON INDEX commented IS 'for the report';
CREATE INDEX identity ON large USING hash (note);
CREATE TABLE keyed (id int PRIMARY KEY, note text);
CREATE INDEX notes ON keyed (note);
CREATE TABLE small (id int PRIMARY KEY, note text);
CREATE INDEX ON small (note);
CREATE TABLE grouped (id int PRIMARY KEY, name text);
CREATE VIEW by_key AS SELECT id, note FROM referred GROUP BY id;
"""
INDEXES = """
SELECT pg_get_indexdef(indexrelid), indisprimary, indimmediate, indisvalid, pg_get_constraintdef(entry.oid),
       entry.conname, obj_description(indexrelid), class.reloptions
FROM pg_index JOIN pg_class AS class ON class.oid = indexrelid
LEFT JOIN pg_constraint AS entry ON conindid = indexrelid AND conrelid = indrelid
WHERE indrelid = ANY (ARRAY['large', 'referred', 'keyed', 'small']::regclass[])
ORDER BY 1
"""
REQUIRED = """
SELECT attrelid::regclass::text, attname, attnotnull FROM pg_attribute
WHERE attrelid = ANY (ARRAY['large', 'referred', 'keyed', 'small']::regclass[]) AND attnum > 0 ORDER BY 1, 2
"""
NAMES = """
SELECT class.relname FROM pg_index JOIN pg_class AS class ON class.oid = indexrelid
WHERE indrelid = ANY (ARRAY['large', 'referred', 'keyed', 'small']::regclass[])
"""
KEPT = {"large_id_excl", "commented", "Key of it", "small_pkey", "small_note_idx"}
PUT_OFF = {
    'The "Key',
    "late",
    "large_note_id_key",
    "some 100%",
    "words",
    "identity",
    "code_of_referred",
    "keyed_pkey",
    "notes",
}


@pytest.fixture
def world(updating, monkeypatch):
    """A slave whose tables are there, of which two come in several chunks."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", 8 * BLOCK_BYTES)
    made = updating(DDL, TABLES)
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    made.reader("zurich").execute(THERE)
    return made


def appearance(world):
    zurich = world.reader("zurich")
    return zurich.execute(INDEXES).fetchall(), zurich.execute(REQUIRED).fetchall()


def names(world):
    return {name for (name,) in world.reader("zurich").execute(NAMES)}


def rows(world):
    return world.reader("zurich").execute("SELECT count(*) FROM keyed").fetchone()[0]


def noted(world):
    return {name for (name,) in world.reader("zurich").execute("SELECT name FROM sluice_indexes")}


def broken_off(world, after=3):
    """An update that breaks off after so many chunks."""
    end, ended = PostgresReceiver.end, []

    def breaking(receiver, chunk, rows):
        end(receiver, chunk, rows)
        ended.append(chunk)
        if len(ended) == after:
            raise KeyboardInterrupt

    world.inhibit("zurich")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresReceiver, "end", breaking)
        with pytest.raises(KeyboardInterrupt):
            world.dump("zurich")
    abandon(world.context, SOURCE, ["zurich"])


@pytest.mark.full
def test_indexes_of_large_tables_are_built_after_the_data_as_they_were(world):
    before = appearance(world)
    seen = []

    def load(job):
        seen.append((names(world), noted(world)))
        return load_here(job)

    world.update("zurich", load=load)
    assert seen == [(KEPT, PUT_OFF)]
    assert appearance(world) == before
    assert noted(world) == set()
    world.master.execute("UPDATE large SET code = -code - 10 WHERE id % 2 = 0; DELETE FROM large WHERE id % 3 = 0")
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_a_load_that_broke_off_leaves_written_down_what_the_next_one_builds(world):
    before = appearance(world)
    broken_off(world)
    assert (names(world), noted(world)) == (KEPT, PUT_OFF)
    zurich = world.reader("zurich")
    # By hand meanwhile: one as it was, the key under another name, and one that nobody had.
    zurich.execute("CREATE INDEX words ON large USING gin (words) WITH (fastupdate = off)")
    zurich.execute('CREATE UNIQUE INDEX code_of_referred ON referred (code DESC); CREATE INDEX "new" ON large (note)')
    world.update("zurich")
    zurich.execute('DROP INDEX "new"')
    assert (appearance(world), noted(world)) == (before, set())
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    broken_off(world)
    zurich.execute("DELETE FROM large; ALTER TABLE large ADD CONSTRAINT other PRIMARY KEY (id)")
    world.update("zurich")
    assert names(world) - KEPT == PUT_OFF - {'The "Key'} | {"other"}


@pytest.mark.full
def test_a_load_that_goes_on_has_them_first_and_keeps_what_is_in(world):
    before = appearance(world)
    broken_off(world, 30)
    loaded = rows(world)
    assert loaded
    seen = []

    def load(job):
        seen.append((names(world) - KEPT, rows(world)))
        return load_here(job)

    world.inhibit("zurich")
    with background(world.publish):
        assert world.dump("zurich", load=load, resume=True)["failed"] == {}
    world.release("zurich")
    ((built, stayed),) = seen
    assert stayed == loaded
    assert built == {"keyed_pkey", "notes"}
    assert (appearance(world), noted(world)) == (before, set())
    assert world.verify("zurich", initial=True) == {"zurich": 0}


def test_what_tells_rows_apart_is_there_before_a_load_of_another_kind_looks_for_it(world):
    before = appearance(world)
    broken_off(world)
    world.reader("zurich").execute("DELETE FROM keyed; INSERT INTO keyed VALUES (7, 'seven'), (70000, 'its own')")
    world.configure(
        lambda settings: settings["slaves"]["zurich"].update(tables={"public.keyed": {"on_existing_rows": "merge"}})
    )
    world.update("zurich")
    assert appearance(world) == before
    assert "its own" in str(world.rows("zurich", "public.keyed"))


@pytest.mark.full
def test_tables_that_were_dropped_meanwhile_or_get_fewer_rows_are_whole(world):
    broken_off(world)
    zurich = world.reader("zurich")
    zurich.execute("DROP TABLE large")
    world.master.execute("DELETE FROM referred WHERE id > 5; UPDATE large SET parent = NULL")
    world.master.execute("VACUUM FULL referred")
    world.update("zurich")
    assert noted(world) == set()
    assert {"Key of it", "code_of_referred", "large_pkey"} <= names(world)


@pytest.mark.full
def test_rows_that_an_index_of_the_slave_does_not_take_are_told_after_the_data(world):
    world.reader("zurich").execute("CREATE UNIQUE INDEX few ON large (parent, (code % 2)) WHERE id < 10 OR id > 2990")
    world.master.execute("UPDATE large SET parent = 1")
    world.inhibit("zurich")
    with pytest.raises(SluiceError, match="few"):
        world.dump("zurich")
    assert "few" in noted(world)
    world.reader("zurich").execute("DELETE FROM sluice_indexes WHERE name = 'few'")
    world.update("zurich")
    assert "few" not in names(world)
    assert names(world) >= PUT_OFF


@pytest.mark.full
def test_indexes_of_several_tables_are_built_at_the_same_time(world):
    before = appearance(world)
    reader, loaded = world.session("zurich"), threading.Event()

    def load(job):
        done = load_here(job)
        reader.execute("BEGIN; LOCK TABLE large IN ACCESS SHARE MODE")
        loaded.set()
        return done

    world.inhibit("zurich")
    with ThreadPoolExecutor(1) as thread:
        dumping = thread.submit(world.dump, "zurich", load=load)
        assert loaded.wait(60)
        # One session waits for the reader to let the large table have its key.
        others, deadline = {"keyed_pkey", "notes", "code_of_referred"}, time.monotonic() + 60
        while not names(world) >= others and time.monotonic() < deadline:
            time.sleep(0.02)
        built = names(world)
        reader.execute("COMMIT")
        assert dumping.result(60)["failed"] == {}
    assert built - KEPT == others
    assert appearance(world) == before
