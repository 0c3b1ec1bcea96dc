"""Statements for every node on a slave on Oracle: at their place, once, and with the same effect as on PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from support.issuing import everywhere, execute, standings
from support.oracle_depots import DEPOTS, SLAVE

from sluice.crash import CrashPoint
from sluice.errors import SluiceError
from sluice.store.statement_results import StatementStatus
from sluice.vendors.oracle import slave

pytestmark = [pytest.mark.full, pytest.mark.postgres]

DDL = """CREATE TABLE t (id int PRIMARY KEY, x bigint, n numeric(9,2), v varchar(9), w text, b boolean,
    s smallint NOT NULL DEFAULT 0{more});
CREATE TABLE o (id int PRIMARY KEY, v text);
INSERT INTO o VALUES (1, 'x');
INSERT INTO t (id, x, n, v, w, b) SELECT g, CASE WHEN g % 5 > 0 THEN g % 4 - 1 END, g / 4.0,
    (ARRAY['a', 'A', 'a ', 'é', NULL])[1 + g % 5], (ARRAY['w', '', NULL])[1 + g % 3], g % 2 = 0
    FROM generate_series(1, 40) AS g"""
CHANGES = (
    "TRUNCATE o",
    "INSERT INTO o (v, id) VALUES ('it''s', 1), (NULL, 2)",
    "UPDATE t SET x = x + 1, s = s - 2 * 3 WHERE NOT b",
    r"UPDATE t SET v = 'a''\n', w = NULL, b = FALSE WHERE v = 'a ' OR NOT (w <> 'w' OR w IN ('x', v))",
    "UPDATE public.t SET n = n * 2 - 1.25, w = v WHERE x BETWEEN 0 AND 1 AND (w = 'w' OR NOT w = 'none')",
    "DELETE FROM t WHERE v <> 'A' AND n NOT IN (1, 2.5) AND x IS NOT NULL AND x > 1",
)
ANSWERED = (
    "SELECT count(*) FROM t",
    "SELECT count(w), sum(n) AS total, min(s), max(x), sum(x) FROM t WHERE b = TRUE OR v <> 'A'",
    "SELECT id, n, w, v, x FROM t WHERE NOT w = 'w'",
    "SELECT sum(n), max(x) FROM t WHERE id < 0",
    "SELECT id FROM t WHERE id < 0",
)
# With times, several rows, and what else only a server reads.
MORE = (
    "UPDATE t SET day = '2024-02-29', at = '2024-01-01 00:00:00.125', moment = '9999-12-31 23:59:59.999999+00', "
    "ident = '123e4567-e89b-12d3-a456-426614174000' WHERE day <= '2024-02-29' AND moment > '2024-01-01' AND id > 10",
    "SELECT day, id, flag, at, moment, ident, near, far, long, doc, raw, span FROM t WHERE id IN (9, 11)",
    "SELECT min(day), max(day) FROM t WHERE at > '2000-01-01'",
    "UPDATE t SET long = '" + "é" * 5000 + "' WHERE long = '" + "x" * 5000 + "' OR id = 12",
)


@pytest.fixture
def afterwards():
    """What is left to do once the sessions of the worlds have ended."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=DEPOTS)
def depot(request, afterwards, updating, tmp_path, monkeypatch):
    made = DEPOTS[request.param](updating, afterwards, DDL, monkeypatch, tmp_path / "depot", tables="public.*")
    made.world.update()
    return made


def test_a_statement_does_the_same_at_its_place_and_once_though_drains_die(depot, monkeypatch):
    world = depot.world
    done = []
    for number, text in enumerate((*CHANGES, *ANSWERED, *(MORE if depot.real else ()))):
        done.append(execute(world, text))
        world.master.execute(
            f"INSERT INTO t (id, x, n) VALUES ({1000 + number}, 1, 1); UPDATE t SET s = 2 WHERE id = 1"
        )
    world.publish()

    def die(point):
        assert point is CrashPoint.MERGED
        raise SystemExit

    drain = world.drainer()
    with monkeypatch.context() as dying:
        dying.setattr(slave, "crash_if_asked", die)
        with pytest.raises(SystemExit):
            drain.deliver()
    world.let_leases_expire()
    assert world.verify() == {SLAVE: 0}
    for one in done:
        assert standings(world, one) == everywhere(world), one.sql


def test_what_means_something_else_there_is_refused_or_stops_the_slave(depot):
    world = depot.world
    for text in ("UPDATE t SET w = ''", "CREATE INDEX ON t (v)", "DELETE FROM t WHERE w < 'a'"):
        with pytest.raises(SluiceError, match="SLC-577"):
            execute(world, text)
    depot.by_hand(f'UPDATE "{depot.schema}"."t" SET "x" = 5 WHERE "id" = 1')
    told = execute(world, "SELECT x FROM t WHERE id = 1")
    world.catch_up()
    assert standings(world, told)[SLAVE] == (StatementStatus.FAILED, "other rows than on the master")
    for one in ('ADD ("y" CLOB NULL)', 'SET UNUSED ("x")', 'RENAME COLUMN "y" TO "x"'):
        depot.by_hand(f'ALTER TABLE "{depot.schema}"."t" {one}')
    stopped = execute(world, "UPDATE t SET x = x + 1")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-104: x of .* is stored as a text"):
        world.drain()
    assert standings(world, stopped)[SLAVE][0] is StatementStatus.FAILED
