"""Settings of a session that alters tables, or of a database, change nothing of what slaves get, and end no session of
ours (R7, R9)."""

from __future__ import annotations

import re

import pytest
from psycopg import sql
from support.exactly import differences, pinned

from sluice.errors import SluiceError, TransientError
from sluice.state.replication import Status
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]

# How somebody likes dates, numbers, texts and names.
ODD = {
    "datestyle": "SQL, DMY",
    "intervalstyle": "sql_standard",
    "timezone": "Asia/Kathmandu",
    "extra_float_digits": "-5",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "quote_all_identifiers": "on",
}
# Each is another text in the catalog where its session has other settings; some mean something else there.
ADDED = r"""
    ADD d date DEFAULT '2024-02-01', ADD s timestamptz DEFAULT '2024-02-01 12:00+00',
    ADD i interval DEFAULT '-3 days -04:05:06', ADD f float8 DEFAULT 0.30000000000000004,
    ADD b bytea DEFAULT E'\\x00ff5c', ADD w text DEFAULT E'a\\b''c', ADD n text,
    ADD g text GENERATED ALWAYS AS (w || E'\\') STORED, ADD CHECK (s > '2000-01-01 00:00+00'), ADD CHECK (w <> E'\\')"""
MADE = (
    "CREATE TYPE \"Mood\" AS ENUM ('glad'); CREATE DOMAIN late AS date CHECK (VALUE > '2000-02-01');"
    "CREATE TABLE u (id int PRIMARY KEY, m \"Mood\" DEFAULT 'glad', l late DEFAULT '2024-02-01', \"user\" text);"
)
SHAPE = """
    SELECT attname, format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid)
    FROM pg_attribute LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE attrelid = %(table)s::regclass AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT conname, pg_get_constraintdef(oid), NULL FROM pg_constraint
    WHERE conrelid = %(table)s::regclass AND contype <> 'n'"""


def odd(world):
    """A session with these settings."""
    session = world.session()
    for name, value in ODD.items():
        session.execute("SELECT set_config(%s, %s, false)", [name, value])
    return session


def shape(world, name, table):
    """What a table is there."""
    return set(pinned(world, name).execute(SHAPE, {"table": f"public.{table}"}).fetchall())


def alters(world):
    return [change["action"] for change in world.log() if change["action"] in "NA"]


@pytest.mark.full(but=["polled"])
@pytest.mark.parametrize("superuser", [True, False], ids=["seen", "polled"])
def test_what_is_altered_is_the_same_whoever_alters_it(build, weak, superuser):
    world = build(
        "CREATE TABLE t (id int PRIMARY KEY)", {"public.*": {}}, elsewhere={} if superuser else {"master": weak}
    )
    world.master.execute("INSERT INTO t VALUES (1)")
    world.catch_up()
    strange = odd(world)
    strange.execute(f"ALTER TABLE t {ADDED}".encode())
    strange.execute("INSERT INTO t (id) VALUES (2); UPDATE t SET n = 'x' WHERE id = 1")
    world.catch_up()
    assert alters(world) == ["A"], "once, and not again because it looks otherwise to somebody else"
    strange.execute(MADE.encode())
    strange.execute("INSERT INTO u (id) VALUES (1)")
    world.catch_up()
    for table in ("t", "u"):
        assert shape(world, "zurich", table) == shape(world, "master", table)
    assert differences(world) == {}
    for name in ("master", "zurich"):
        world.reader(name).execute("INSERT INTO t (id) VALUES (3); INSERT INTO u (id) VALUES (3)")
    there = "SELECT d, s, i, f, b, w, g FROM t WHERE id = 3"
    assert world.reader("zurich").execute(there).fetchone() == world.master.execute(there).fetchone()


@pytest.mark.full
def test_an_alter_that_changes_nothing_sends_nothing_whoever_does_it(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute(f"ALTER TABLE t {ADDED}".encode())
    world.catch_up()
    for session in (odd(world), world.session()):
        session.execute("ALTER TABLE t ALTER n SET STATISTICS 10")
    world.catch_up()
    assert alters(world) == ["A"]


@pytest.mark.full
def test_a_partition_is_dropped_by_a_session_that_reads_texts_otherwise(build):
    world = build(
        'CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE "lo-w 1" PARTITION OF t'
        " FOR VALUES FROM (0) TO (10); CREATE TABLE rest PARTITION OF t DEFAULT",
        ["public.t"],
    )
    world.master.execute("INSERT INTO t VALUES (1), (11)")
    world.catch_up()
    odd(world).execute('DROP TABLE "lo-w 1"')
    world.catch_up()
    assert [change["old"] for change in world.log() if change["action"] == "D"] == [["1"]]


# What a database may say to all its sessions. Whoever waits is not to be ended; texts are not to be read otherwise.
EVERYBODY = {
    "transaction_timeout": "1min",
    "idle_session_timeout": "1min",
    "idle_in_transaction_session_timeout": "1min",
    "statement_timeout": "1min",
    "lock_timeout": "1ms",
    "standard_conforming_strings": "off",
    "quote_all_identifiers": "on",
    "array_nulls": "off",
    "xmloption": "document",
    "default_transaction_isolation": "serializable",
    "restrict_nonsystem_relation_kind": "view, foreign-table",
}


@pytest.fixture
def ruled(updating):
    """A world whose databases say so to all sessions that begin."""
    world = updating(
        "CREATE TABLE t (id int PRIMARY KEY, v text DEFAULT E'a\\\\b', a text[]); CREATE TABLE u (a text[])",
        ["public.t", "public.u"],
    )
    world.master.execute(
        "INSERT INTO t (id, a) VALUES (1, ARRAY['a', NULL]); INSERT INTO u VALUES (ARRAY[NULL, 'NULL'])"
    )
    for name in ("master", *world.slaves):
        for setting, value in EVERYBODY.items():
            said = sql.SQL("ALTER DATABASE {} SET {} = {}")
            names = sql.Identifier(world.infos[name].database), sql.Identifier(setting)
            world.reader(name).execute(said.format(*names, value))
    return world


@pytest.mark.full
def test_a_column_that_is_printed_by_settings_is_left_out_where_an_update_finds_it_other(updating):
    computed = "x float8, v text GENERATED ALWAYS AS (x::text) STORED"
    world = updating(f"CREATE TABLE t (id int PRIMARY KEY, {computed})", ["public.t"], {}, slaves=["zurich"])
    odd(world).execute("INSERT INTO t VALUES (1, 1 / 3.0)")
    world.update()
    with pytest.raises(SluiceError, match="SLC-090") as differ:
        world.verify(initial=True)
    told = re.search(r"computes public\.t\.v itself.* in `exclude_columns` .*; then type: (.*)", differ.value.hint)
    assert "who else" not in differ.value.hint
    assert "initial_update" in told[1]
    world.configure(lambda plain: plain["slaves"]["zurich"].update(tables={"public.t": {"exclude_columns": ["v"]}}))
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    odd(world).execute("INSERT INTO t VALUES (2, 2 / 3.0)")
    world.catch_up()
    assert (world.verify(), world.status("zurich")) == ({"zurich": 0}, Status.NORMAL)


@pytest.mark.full
def test_slaves_are_equal_whatever_their_databases_say_to_everybody(ruled):
    ruled.update()
    ruled.master.close()
    ruled.master = ruled.session()
    ruled.master.execute("INSERT INTO t (id, a) VALUES (2, ARRAY[NULL, 'NULL']); UPDATE u SET a = a || 'x'::text")
    ruled.master.execute("ALTER TABLE t ADD w text DEFAULT E'c\\\\d', ADD n text[] DEFAULT ARRAY[NULL, 'NULL']")
    ruled.master.execute("INSERT INTO t (id) VALUES (3); DELETE FROM t WHERE id = 1")
    ruled.catch_up()
    assert differences(ruled) == {}
    assert ruled.verify(initial=True) == {"zurich": 0, "geneva": 0}
    assert shape(ruled, "zurich", "t") == shape(ruled, "master", "t")


def test_no_session_of_ours_has_what_its_database_says_to_everybody(ruled):
    query = "SELECT name, setting FROM pg_settings WHERE name = ANY (%s) ORDER BY 1"
    with connect(ruled.infos["master"], "test") as ours, ruled.session() as theirs:
        pairs = zip(*(session.execute(query, [list(EVERYBODY)]).fetchall() for session in (ours, theirs)), strict=True)
        assert [one[0] for one, other in pairs if one == other] == []


class Encoded:
    """Makes databases of another encoding on a server."""

    def __init__(self, server, encoding):
        self._server, self._encoding = server, encoding

    def create_database(self):
        template = f"in_{self._encoding.lower()}"
        with self._server.cluster.admin() as admin:
            if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template]).fetchone():
                made = "CREATE DATABASE {} TEMPLATE template0 ENCODING {} LOCALE_PROVIDER libc LOCALE 'C'"
                admin.execute(sql.SQL(made).format(sql.Identifier(template), self._encoding))
        return self._server.create_database(template=template)

    def connect(self, info):
        session = self._server.connect(info)
        session.execute("SET client_encoding = 'UTF8'")
        return session


# What each encoding has, a character that most of them lack, and how texts are protected in messages.
TEXTS = {"LATIN1": "é", "LATIN9": "€", "WIN1252": "€", "KOI8R": "ж", "EUC_JP": "漢", "UTF8": "漢"}
ENCODED = """CREATE TABLE t (id int PRIMARY KEY, v text, "{0}" text DEFAULT '{0}'); COMMENT ON TABLE t IS '{0}'"""


WAYS = [*((one, "UTF8") for one in TEXTS if one != "UTF8"), ("UTF8", "LATIN1"), ("UTF8", "EUC_JP")]
WAYS = [*((*way, "triggers") for way in WAYS), ("LATIN1", "UTF8", "log")]


@pytest.mark.full(but=["LATIN1-UTF8-triggers", "UTF8-LATIN1-triggers"])
@pytest.mark.parametrize(("master", "slave", "capture"), WAYS)
def test_texts_arrive_from_and_in_databases_of_any_encoding(updating, server, master, slave, capture):
    text = TEXTS[master if master != "UTF8" else slave]
    ends = {"master": master, "zurich": slave}
    elsewhere = {name: Encoded(server, encoding) for name, encoding in ends.items() if encoding != "UTF8"}
    more = {"slaves": ["zurich"], "elsewhere": elsewhere, "source": {"capture": capture}}
    world = updating(ENCODED.format(text), ["public.t"], {}, **more)
    row = "INSERT INTO t VALUES (%s, %s)"
    world.master.execute(row, [1, text])
    world.update()
    world.master.execute(row, [2, f"{text}\x01"])
    world.master.execute(f"ALTER TABLE t ADD w text DEFAULT '{text}'".encode())
    world.master.execute(f"UPDATE t SET \"{text}\" = '{text}{text}' WHERE id = 1".encode())
    world.catch_up()
    assert differences(world) == {}
    assert world.verify(initial=True) == {"zurich": 0}
    items = world.master.execute("SELECT string_agg(repl_needs_prot(v)::text, '' ORDER BY id) FROM t")
    assert items.fetchone() == ("02",)


def test_a_text_that_the_encoding_of_a_slave_lacks_is_told_with_its_table(updating, server):
    world = updating(
        "CREATE TABLE t (id int PRIMARY KEY, v text)",
        ["public.t"],
        {},
        slaves=["zurich"],
        elsewhere={"zurich": Encoded(server, "LATIN1")},
    )
    world.update()
    world.catch_up()
    world.master.execute("INSERT INTO t VALUES (1, '漢')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-028: .*public\.t") as caught:
        world.drain()
    assert not isinstance(caught.value, TransientError)
    world.inhibit(force=True)
    with pytest.raises(SluiceError, match=r"SLC-028: .*public\.t"):
        world.dump()
