"""What waits for the end of a large transaction is in a file that nobody sees, and the end is as if it were not."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sluice.crash import CrashPoint
from sluice.drain.spill import Spill
from sluice.monitor import status

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE late (id int PRIMARY KEY DEFERRABLE, u int UNIQUE DEFERRABLE INITIALLY DEFERRED, j json, v text);
CREATE TABLE counted (day date, n int, PRIMARY KEY (day) DEFERRABLE);
CREATE TABLE plain (id int PRIMARY KEY, v text)
"""
TABLES = ["public.late", "public.counted", "public.plain"]
FILLED = """
INSERT INTO late SELECT g, g, '{"a":  1}', repeat('x', g % 50) FROM generate_series(1, 2000) AS g;
INSERT INTO plain SELECT id, v FROM late;
INSERT INTO counted VALUES ('2024-01-01', 0)
"""
# Keys that rows swap, within a statement and over several of them, and one row that changes all the time.
SWAPPED = """
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
UPDATE late SET id = id + 1;
UPDATE late SET u = 2001 - u;
UPDATE plain SET v = v || '!';
UPDATE late SET id = 2003 - id, v = v || 'y' WHERE id % 3 = 0;
DELETE FROM late WHERE id BETWEEN 700 AND 900;
INSERT INTO late SELECT g, -g, '[2,  3]', 'back' FROM generate_series(800, 850) AS g;
UPDATE late SET id = 2003 - id, u = -u WHERE id % 3 = 1;
DO $$ BEGIN FOR i IN 1..600 LOOP UPDATE counted SET n = i; END LOOP; END $$;
INSERT INTO counted SELECT date '2025-01-01' + g, g FROM generate_series(1, 300) AS g;
DELETE FROM late WHERE ctid IN (SELECT max(ctid) FROM late GROUP BY id HAVING count(*) > 1);
DELETE FROM late WHERE ctid IN (SELECT max(ctid) FROM late GROUP BY u HAVING count(*) > 1);
COMMIT
"""
EMPTIED = f"""
SET CONSTRAINTS ALL IMMEDIATE;
TRUNCATE late;
SET CONSTRAINTS ALL DEFERRED;
{FILLED.partition(";")[0]};
"""


@pytest.fixture
def spilled(monkeypatch):
    """Small parts, of which little is held; how many files there were."""
    monkeypatch.setattr("sluice.drain.batches.PART", 200)
    for module in ("spill", "deferred_changes"):
        monkeypatch.setattr(f"sluice.drain.{module}.MOST_BYTES", 10_000)
    files, write = set(), Spill._write

    def counted(self):
        files.add(self)
        write(self)

    monkeypatch.setattr(Spill, "_write", counted)
    return files


@pytest.mark.full
@pytest.mark.parametrize(
    ("mode", "emptied"), [("batch", EMPTIED), ("one_to_one", "")], ids=["emptied", "changed, one to one"]
)
def test_keys_that_rows_swap_in_a_transaction_of_many_parts_are_the_masters_in_the_end(
    build, spilled, mode, emptied, monkeypatch
):
    monkeypatch.setattr("sluice.drain.drain.MOST_REPLAYED", 500)
    world = build(DDL, TABLES)
    world.configure(lambda plain: plain["replications"][0].update(mode=mode))
    world.master.execute(FILLED)
    world.catch_up()
    filled = len(spilled)
    assert filled
    world.master.execute(SWAPPED.replace("UPDATE plain", f"{emptied} UPDATE plain"))
    world.publish()
    assert world.drain()["tolerated"] == 0
    assert len(spilled) > filled
    assert world.differences() == {}
    assert world.position().ordinal == 2
    for index in ("late_pkey", "late_u_key", "counted_pkey"):
        world.reader("zurich").execute(f"REINDEX INDEX {index}".encode())


@pytest.mark.full
def test_rows_of_the_slaves_own_are_put_right_and_counted_as_in_one_piece(build, spilled):
    world = build(DDL, TABLES, slaves=("zurich", "geneva"))
    world.master.execute(FILLED)
    world.catch_up()
    for slave in world.slaves:
        world.reader(slave).execute("DELETE FROM late WHERE id < 9; INSERT INTO counted VALUES ('2025-01-05', 1)")
    world.master.execute(SWAPPED)
    world.publish()
    found = [world.drain("zurich")["tolerated"]]
    assert spilled
    spilled.clear()
    with pytest.MonkeyPatch.context() as large:
        large.setattr("sluice.drain.spill.MOST_BYTES", 1 << 30)
        large.setattr("sluice.drain.deferred_changes.MOST_BYTES", 1 << 30)
        found.append(world.drain("geneva")["tolerated"])
    assert not spilled
    assert found[0] == found[1] > 0
    assert world.differences() == {}


@pytest.mark.full
def test_files_and_histories_are_the_same_too(lake, spilled, monkeypatch):
    monkeypatch.setattr("sluice.drain.deferred.MOST_BYTES", 20_000)
    there = lake(DDL.replace(", j json", ", j text") + ";" + FILLED, TABLES)
    there.world.master.execute(SWAPPED)
    there.world.catch_up()
    assert spilled
    assert there.world.verify() == {"zurich": 0, "geneva": 0}


@pytest.mark.full
def test_nobody_sees_the_file_and_it_goes_with_whoever_is_killed(build, tmp_path, monkeypatch):
    """Nor is anything lost for which there is no room."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    world = build(DDL, TABLES)
    world.master.execute("INSERT INTO late SELECT g, g, NULL, repeat('x', 1000) FROM generate_series(1, 25000) AS g")
    world.publish()
    full = world.job("drain", "--slave", "zurich", "--once", limit=_no_room)
    assert full.returncode == 75
    assert "SLC-658" in full.stderr
    assert str(place) in full.stderr
    with world.start("drain", "--slave", "zurich", "--once", crash_at=CrashPoint.STAGED) as job:
        opened = set()
        while job.poll() is None:
            opened |= set(_opened(job.pid, place))
    assert job.returncode < 0
    assert opened == {"0o600"}, "there was one"
    assert list(place.iterdir()) == []
    world.let_leases_expire()
    world.drain()
    assert world.differences() == {}


def _no_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def _opened(pid, place):
    """The modes of files without a name there that a process has open."""
    # It, or one of its files, may be gone meanwhile.
    with suppress(FileNotFoundError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                name = str(link.readlink())
                if name.startswith(str(place)) and name.endswith("(deleted)"):
                    yield oct(link.stat().st_mode & 0o777)


@pytest.fixture
def peak():
    """The memory of a drain at its most, in MB."""

    def measured(world):
        # Not getrusage: its figure survives exec, so it would be the peak of whoever started this.
        most = 0
        with world.start("drain", "--slave", "zurich", "--once") as job:
            while job.poll() is None:
                said = Path(f"/proc/{job.pid}/status").read_text().partition("VmHWM:")[2]
                most = max(most, int(said.split()[0]) // 1024 if said else 0)
                time.sleep(0.02)
        assert job.returncode in (0, 3)
        return most

    return measured


@pytest.mark.full
def test_a_transaction_four_times_as_large_takes_no_more_memory(build, peak):
    world = build(DDL, TABLES, slave={"max_batch": 1000})
    found = []
    for first, last in ((1, 20_000), (20_001, 100_000)):
        rows = "SELECT g, NULL, NULL, repeat(md5(g::text), 40) FROM generate_series(%s::int, %s) AS g"
        world.master.execute(f"INSERT INTO late {rows}", [first, last])
        world.publish()
        found.append(peak(world))
    assert world.differences() == {}
    # All of it in memory took 286 MB more; what the allocator keeps differs by some tens.
    assert found[1] - found[0] < 120


@pytest.mark.full
def test_nor_does_one_that_the_slave_refuses_and_that_is_tried_as_one_piece(build, peak):
    found = []
    for rows in (15_000, 120_000):
        world = build(DDL, TABLES, slave={"max_batch": 1000})
        world.reader("zurich").execute("ALTER TABLE plain ADD CHECK (id > 0)")
        values = "SELECT g, repeat(md5(g::text), 40) FROM generate_series(0, %s) AS g ORDER BY g DESC"
        world.master.execute(f"INSERT INTO plain {values}", [rows])
        world.publish()
        found.append(peak(world))
        (told,) = status.statuses(world.context)
        assert told.stuck.touched[0].actions == {"I": rows + 1}
    # The allocator keeps up to 120 MB more or less from run to run; the rows would take some 370.
    assert found[1] - found[0] < 200
