"""Statements for every node on a slave on MariaDB: at their place, once, and with the same effect as on PostgreSQL."""

from __future__ import annotations

from random import Random

import pytest
from support.issuing import everywhere, execute, standings
from support.mariadb import SERVERS

from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.store.statement_results import StatementStatus
from sluice.vendors.mariadb import slave
from sluice.vendors.portable.reserved_words import RESERVED

pytestmark = [pytest.mark.postgres]

DDL = r"""
CREATE TABLE t (id int PRIMARY KEY, x bigint, n numeric(9,2), v varchar(9), w text, b boolean, d date,
    at timestamp(3), zone timestamptz, u uuid, f float8, j jsonb, c char(3), s smallint NOT NULL DEFAULT 0);
INSERT INTO t SELECT g, CASE WHEN g % 5 > 0 THEN g % 4 - 1 END, g / 4.0, (ARRAY['a', 'A', 'a ', 'é', ''])[1 + g % 5],
    CASE WHEN g % 3 > 0 THEN 'w\' || g % 3 || '''' END, g % 2 = 0, date '2024-02-28' + g % 3,
    timestamp '2024-02-29 23:59:59.5' + g % 2 * interval '1 s', '2024-03-01 00:00:00.25+00', NULL, 0.1, '{"a": 1}', 'x'
    FROM generate_series(1, 40) AS g;
CREATE TABLE heap (a int, "From" text);
INSERT INTO heap VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE);
CREATE TABLE acted (id int PRIMARY KEY, v text);
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.v = upper(NEW.v); RETURN NEW; END$$;
CREATE TRIGGER shouting BEFORE INSERT OR UPDATE ON acted FOR EACH ROW EXECUTE FUNCTION shout();
CREATE FUNCTION writes(int) RETURNS boolean LANGUAGE plpgsql
    AS $$BEGIN INSERT INTO parent VALUES ($1); RETURN true; END$$;
CREATE TABLE checked (id int PRIMARY KEY, CHECK (writes(id)), CONSTRAINT plain CHECK (id > 0 AND length(id::text) < 5));
CREATE TABLE defaulted (id int PRIMARY KEY, at date DEFAULT '2024-01-01')
"""
TABLES = [f"public.{name}" for name in ("t", "heap", "parent", "child", "acted", "defaulted", "checked")]
CHANGES = (
    "UPDATE t SET x = x + 1, s = s - 2 * 3 WHERE NOT b",
    r"UPDATE t SET v = 'a''\n', w = NULL, b = FALSE WHERE v = 'a ' OR w IN ('w\1''', 'none')",
    "UPDATE public.t SET n = n * 2 - 1.25, d = '2024-02-29', at = '2024-01-01 00:00:00.125' WHERE t.x BETWEEN 0 AND 1",
    "UPDATE t SET zone = '9999-12-31 23:59:59.999999+00', u = '123e4567-e89b-12d3-a456-426614174000', w = v "
    "WHERE d > '2024-02-28' AND at <= '2024-02-29 23:59:59.5' AND v <> 'A'",
    "INSERT INTO t (s, id, x, n, v, w, b, d, at, zone, u, f, j, c) VALUES "
    "(1, 101, -922337203685477580, 0.01, 'ü', '', TRUE, '1000-01-01', '2024-01-01', NULL, NULL, NULL, NULL, NULL),"
    " (-32768, 102, NULL, -1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "DELETE FROM heap WHERE \"From\" = 'x' AND a = 1",
    "UPDATE t SET f = NULL, j = NULL WHERE b AND x IS NOT NULL AND f IS NOT NULL",
    "UPDATE t SET x = 7",
    "DELETE FROM t WHERE x <> 7",
)
ANSWERED = (
    "SELECT count(*) FROM t",
    "SELECT count(x), sum(n) AS total, min(d), max(x) FROM t WHERE b = TRUE OR v = ''",
    "SELECT id, x, n, v, w, b, d, at, zone, u, f, j, c, s FROM t WHERE id IN (7, 101, 102)",
    "SELECT sum(x) FROM t WHERE id < 0",
)
REFUSED = {
    "CREATE INDEX ON t (v)": 577,
    "INSERT INTO defaulted (id) VALUES (1)": 577,
    "DELETE FROM parent": 578,
    "UPDATE acted SET v = 'a'": 578,
    "INSERT INTO checked (id) VALUES (1)": "578.*node of another kind: a function or an operator of checked_id_check\n",
}


def conditions(random):
    """A condition by chance, of all that is portable."""
    column = random.choice(("id", "x", "n", "s"))
    literal = random.choice(("-1", "0", "1", "2.25", "7"))
    parts = (
        f"{column} {random.choice(('=', '<>', '<', '<=', '>', '>='))} {literal}",
        f"{column} IN ({literal}, 3, -1)",
        f"{column} NOT BETWEEN {literal} AND 20",
        f"x * 2 - s + {literal} > n",
        f"v {random.choice(('=', '<>'))} '{random.choice(('a', 'A', 'a ', 'é', ''))}'",
        f"d {random.choice(('=', '>', '<='))} '2024-02-29'",
        "at > '2024-02-29 23:59:59.5'",
        "w IS NULL",
        "b",
        "v = w",
    )
    one, other, third = (random.choice(parts) for _ in range(3))
    return random.choice((f"NOT {one} AND {other} OR {third}", f"{one} OR NOT ({other} OR {third})", f"NOT {one}"))


@pytest.mark.full
@SERVERS
def test_a_statement_does_the_same_at_its_place_and_what_may_not_is_refused(maria, slave_server):
    world = maria(DDL, TABLES, slaves=("zurich",))
    random = Random(11)
    done = []
    for number, text in enumerate(CHANGES[:-2]):
        chosen = f"WHERE {conditions(random)}"
        done += [execute(world, text), execute(world, f"UPDATE t SET x = {number % 5}, n = n - 0.5 {chosen}")]
        world.master.execute(f"INSERT INTO t (id, x, n, s) VALUES ({1000 + number}, 1, 1, 1); UPDATE t SET s = 2")
    for text in ANSWERED:
        chosen = f"WHERE {conditions(random)}"
        done += [execute(world, text), execute(world, f"SELECT count(*), sum(id) FROM t {chosen}")]
    for text, code in REFUSED.items():
        with pytest.raises(SluiceError, match=rf"SLC-{code}"):
            execute(world, text)
    words = world.session("master").execute("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
    assert {word for (word,) in words} <= RESERVED
    assert world.verify() == {"zurich": 0}
    done += [execute(world, text) for text in (*CHANGES[-2:], "TRUNCATE heap")]
    assert world.verify() == {"zurich": 0}
    for one in done:
        assert standings(world, one) == everywhere(world), one.sql


def test_a_statement_is_executed_once_though_drains_die_and_may_stop_a_slave(maria, slave_server, monkeypatch):
    world = maria(DDL, TABLES, slaves=("zurich",))
    database = world.infos["zurich"].database
    slave_server.execute(f"UPDATE {database}.heap SET a = 5 WHERE a = 1")
    told = execute(world, "SELECT a FROM heap WHERE a IS NOT NULL")
    counted = execute(world, "UPDATE t SET x = x + 1")

    def die(point):
        assert point is CrashPoint.MERGED
        raise SystemExit

    world.publish()
    drain = world.drainer()
    with monkeypatch.context() as dying:
        dying.setattr(slave, "crash_if_asked", die)
        with pytest.raises(SystemExit):
            drain.deliver()
    world.let_leases_expire()
    world.drain()
    assert standings(world, counted) == everywhere(world)
    assert standings(world, told)["zurich"] == (StatementStatus.FAILED, "other rows than on the master")
    slave_server.execute(f"UPDATE {database}.heap SET a = 1 WHERE a = 5")
    slave_server.execute(f"ALTER TABLE {database}.t MODIFY x longtext COLLATE {slave_server.kind.collation}")
    stopped = execute(world, "UPDATE t SET x = x + 1")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-104: x of .* is stored as a text"):
        world.drain()
    assert standings(world, stopped)["zurich"][0] is StatementStatus.FAILED
    slave_server.execute(f"ALTER TABLE {database}.t MODIFY x bigint")
    world.let_leases_expire()
    # One that was issued when the slave took no part was not looked at.
    world.drain()
    world.configure(lambda settings: settings["replications"][0].update(statements=False))
    execute(world, "UPDATE t SET x = abs(x)")
    world.configure(lambda settings: settings["replications"][0].update(statements=True))
    with pytest.raises(SluiceError, match=r"SLC-103: .*took no part in statements"):
        world.catch_up()
    world.let_leases_expire()
    world.configure(lambda settings: settings["replications"][0].update(statements=False))
    slave_server.execute(f"UPDATE {database}.t SET x = abs(x)")
    assert world.verify() == {"zurich": 0}
