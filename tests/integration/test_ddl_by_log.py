"""DDL, partitions and odd transactions of a source that is captured by its log: one world each, that gets all of it."""

from __future__ import annotations

import re

import pytest
from support.world import SOURCE
from test_ddl import ALTERED
from test_partitions import AWAY, COMPUTED, DDL, PLAIN, ROWS, UNTOLD

from sluice.capture.reconcile import bootstrap
from sluice.errors import Unwatchable
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

BY_LOG = {"capture": "log"}


def arrived(world):
    world.catch_up()
    assert world.differences() == {}
    assert world.status("zurich") is Status.NORMAL


def test_whatever_is_altered_stands_between_its_rows(build):
    tables = [f"t{number}" for number in range(len(ALTERED))]
    world = build(
        "; ".join(f"CREATE TABLE {one} (id int PRIMARY KEY, v text)" for one in tables), ["public.*"], source=BY_LOG
    )
    world.master.execute("CREATE SCHEMA other; SET search_path = public, other, repl")
    for table, (change, _) in zip(tables, ALTERED.values(), strict=True):
        change = change.replace("REFERENCES t", f"REFERENCES {table}").replace("t_pkey", f"{table}_pkey")
        world.master.execute(f"INSERT INTO {table} VALUES (1, 'a'); ALTER TABLE {table} {change}")
        columns = (
            "(id) OVERRIDING SYSTEM VALUE" if "IDENTITY" in change else "(id, v)" if "NOT NULL" in change else "(id)"
        )
        row = "(2, 'b')" if "NOT NULL" in change else "(2)"
        world.master.execute(f"INSERT INTO {'u' if 'TO u' in change else table} {columns} VALUES {row}")
    world.publish()
    # A table whose rows may have other values since is sent again.
    assert re.fullmatch(f"(IA(TI)?I){{{len(ALTERED)}}}", "".join(row["action"] for row in world.log()))


def test_values_that_an_alter_computes_arrive(build):
    changes = [change for change in COMPUTED.values() if "UNLOGGED" not in change]
    tables = [f"w{number}" for number in range(2 * len(changes))]
    ddl = [f"CREATE TABLE {one} (id int{' PRIMARY KEY' * (number % 2)}, v text)" for number, one in enumerate(tables)]
    world = build("; ".join(ddl), [f"public.{one}" for one in tables], source=BY_LOG)
    for number, table in enumerate(tables):
        world.master.execute(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
        world.master.execute(f"ALTER TABLE {table} {changes[number // 2]}")
        world.master.execute(f"UPDATE {table} SET v = 'after' WHERE v IN ('a', 'A')")
    arrived(world)


def test_actions_are_those_of_a_table_whatever_it_is_called_when_its_changes_are_read(build):
    tables = {"public.*": {}, "public.f_new": {"actions": "none"}, "public.i*": {"actions": "I"}}
    parts = "CREATE TABLE i_low PARTITION OF i_parted FOR VALUES FROM (0) TO (10)"
    world = build(
        "CREATE TABLE f (id int); CREATE TABLE f_new (id int); CREATE TABLE i (id int); CREATE TABLE i_gone (id int);"
        f"CREATE TABLE i_parted (id int) PARTITION BY RANGE (id); {parts}",
        tables,
        source=BY_LOG,
    )
    execute = world.master.execute
    execute("INSERT INTO f VALUES (1); INSERT INTO f_new VALUES (2)")
    for number, table in enumerate(("i", "i_gone", "i_parted"), 3):
        execute(f"INSERT INTO {table} VALUES ({number}); DELETE FROM {table}")
    execute("ALTER TABLE f RENAME TO f_old; ALTER TABLE f_new RENAME TO f; ALTER TABLE i RENAME TO other")
    execute("DROP TABLE i_gone; ALTER TABLE i_parted RENAME TO parted; ALTER TABLE parted DETACH PARTITION i_low")
    world.publish()
    changed = [(one["action"], one["new"] or one["old"]) for one in world.log() if one["action"] in "IUD"]
    assert changed == [("I", ["1"]), ("I", ["3"]), ("I", ["4"]), ("I", ["5"])]


@pytest.mark.full
def test_partitions_come_and_go_with_their_rows(build):
    world = build(DDL, ["public.t"], source=BY_LOG)
    execute = world.master.execute
    world.reader("zurich").execute("CREATE TABLE rest PARTITION OF t DEFAULT")
    execute(ROWS)
    for away in (*AWAY.values(), *UNTOLD.values()):
        for statement in [away] if "$$" in away else away.split("; "):
            execute(statement)
        execute("DROP TABLE IF EXISTS low; CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)")
        execute("INSERT INTO t VALUES (1, 'new'), (2, 'newer'); UPDATE t SET v = v || 'x' WHERE id = 12")
        arrived(world)
    with world.master.transaction():
        with world.master.transaction(force_rollback=True):
            execute("TRUNCATE t")
        execute("TRUNCATE low; INSERT INTO t VALUES (3, 'e')")
    arrived(world)
    execute("UPDATE t SET id = 14 WHERE id = 3; UPDATE high_1 SET id = 15 WHERE id = 11")
    execute("SET session_replication_role = replica; TRUNCATE high_2; RESET session_replication_role")
    execute(f"{PLAIN}; CREATE TABLE q (v text, gone int, id int NOT NULL); ALTER TABLE q DROP gone")
    execute("INSERT INTO q VALUES ('y', 201)")
    with world.master.transaction():
        execute("INSERT INTO t VALUES (5, 'f'); ALTER TABLE t ATTACH PARTITION p FOR VALUES FROM (100) TO (200)")
        execute("UPDATE p SET v = 'z' WHERE id = 101; ALTER TABLE t ATTACH PARTITION q FOR VALUES FROM (200) TO (300)")
        execute("INSERT INTO q VALUES ('z', 202)")
    arrived(world)
    with world.master.transaction():
        execute("TRUNCATE t; INSERT INTO t VALUES (6, 'g'), (16, 'h'); TRUNCATE low")
        execute("ALTER TABLE t ADD n text DEFAULT 'a''{b'")
        execute("INSERT INTO t (id) VALUES (17); DROP TABLE high_1")
        execute("CREATE TABLE high_1 PARTITION OF high FOR VALUES FROM (10) TO (20)")
    execute("INSERT INTO t VALUES (18, 'i', 'j')")
    arrived(world)


def test_a_foreign_table_is_refused_as_a_partition(build):
    world = build("CREATE TABLE t (id int) PARTITION BY RANGE (id)", ["public.t"], source=BY_LOG)
    world.master.execute("CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing")
    world.master.execute("CREATE FOREIGN TABLE far PARTITION OF t FOR VALUES FROM (300) TO (400) SERVER nowhere")
    with pytest.raises(Unwatchable, match=r"SLC-477: .*far is a foreign table"):
        bootstrap(world.context, SOURCE)
    world.publish()
    assert world.left_out() == {"public.t"}


def test_tables_that_are_watched_no_more_are_left_as_they_were(build):
    world = build(
        f"{DDL}; CREATE TABLE u (id int); CREATE TABLE v (id int)",
        {"public.t": {}, "public.u": {"actions": "I"}, "public.v": {}},
        source=BY_LOG,
    )
    world.configure(lambda settings: settings["sources"][SOURCE].update(tables={"public.v": {}}))
    bootstrap(world.context, SOURCE)
    left = "SELECT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'RI_z%'"
    full = "SELECT relname FROM pg_class WHERE relreplident = 'f' AND relnamespace = 'public'::regnamespace"
    read = """SELECT prrelid::regclass::text
        FROM pg_publication_rel JOIN pg_publication AS p ON p.oid = prpubid WHERE pubname LIKE '%rows'"""
    assert [world.master.execute(query).fetchall() for query in (left, full, read)] == [[("v",)]] * 3


def test_odd_transactions_arrive_whole_and_in_the_order_of_their_commits(build):
    ddl = """
        CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v text);
        CREATE TABLE big (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text)"""
    world = build(ddl, ["public.*"], source=BY_LOG)
    execute, other = world.master.execute, world.session()
    execute(f"ALTER DATABASE {world.infos['master'].database} SET logical_decoding_work_mem = '64kB'")
    # Deletes that wait for a constraint that is checked at commit: the other one takes the key.
    execute("INSERT INTO t VALUES (5, 'old')")
    other.execute("BEGIN; INSERT INTO t VALUES (5, 'new')")
    execute("DELETE FROM t WHERE id = 5")
    other.execute("COMMIT")
    with world.master.transaction():
        execute("INSERT INTO t VALUES (6, 'a'); SAVEPOINT one; INSERT INTO t VALUES (7, 'b'); SAVEPOINT two")
        execute("UPDATE t SET v = 'c' WHERE id = 7; ROLLBACK TO two; INSERT INTO t VALUES (8, 'd'); ROLLBACK TO one")
        execute("INSERT INTO t VALUES (9, 'e'); RELEASE one; UPDATE t SET id = id + 1")
    # More than the server decodes in memory, with others that commit meanwhile.
    other.execute("BEGIN; INSERT INTO big (v) SELECT repeat('x', 500) FROM generate_series(1, 15000)")
    execute("INSERT INTO t VALUES (20, repeat('y', 9000)); UPDATE t SET id = 21 WHERE id = 20")
    other.execute("SAVEPOINT s; DELETE FROM big; ROLLBACK TO s; UPDATE big SET v = 'z' WHERE id % 1000 = 0; COMMIT")
    arrived(world)
    ids = {}
    for number, row in enumerate(world.log()):
        ids.setdefault(row["trans_key"], []).append(number)
    assert all(found == list(range(found[0], found[-1] + 1)) for found in ids.values()), "none stands within another"
    assert [row["action"] for row in world.log()][:3] == ["I", "D", "I"]
    there = "SELECT last_value >= 15000 FROM big_id_seq"
    assert world.reader("zurich").execute(there).fetchone() == (True,)
