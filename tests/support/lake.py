"""A world whose slaves are directories of files."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyiceberg.table import StaticTable
from support.updating import UpdatingWorld
from support.world import SOURCE

from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.crash import CrashPoint
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text, amount numeric(9,2), day date, at timestamptz, raw bytea,
    free numeric);
CREATE TABLE heap (a int, b text);
INSERT INTO keyed SELECT g, 'note ' || g, g / 8.0, '2024-01-01', '2024-01-01 12:00:00.5+02', '\\x00ff', g
    FROM generate_series(1, 300) AS g;
INSERT INTO keyed VALUES (301, E'a\\tb\\\\c\\n', 'NaN', 'infinity', '-infinity', NULL, 'Infinity');
INSERT INTO keyed (id, note) VALUES (302, NULL), (303, '');
INSERT INTO heap SELECT g % 7, 'b' || g % 3 FROM generate_series(1, 100) AS g;
"""
TWO = """
CREATE TABLE t (id int PRIMARY KEY, v text);
INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 20) AS g;
CREATE TABLE u (id int PRIMARY KEY, n int, at date);
INSERT INTO u SELECT g, g, '2024-01-01' FROM generate_series(1, 30) AS g;
"""
TABLES = ["public.keyed", "public.heap"]
CHANGES = """
UPDATE keyed SET amount = amount + 1 WHERE id <= 5;
UPDATE keyed SET id = 1000 + id WHERE id BETWEEN 290 AND 295;
DELETE FROM keyed WHERE id IN (7, 302);
INSERT INTO keyed (id, note, day) VALUES (7, 'again', '0044-03-15 BC'), (2000, NULL, '-infinity');
DELETE FROM heap WHERE ctid = (SELECT min(ctid) FROM heap WHERE a = 3);
UPDATE heap SET b = 'changed' WHERE a = 4;
INSERT INTO heap VALUES (1, 'b1'), (NULL, NULL);
"""


def files(version: dict[str, Any]) -> list[dict[str, Any]]:
    """The data files that a version lists."""
    return [file for table in version["tables"].values() for file in table["files"]]


class Lake:
    """A world whose slaves are directories: zurich keeps rows, geneva a history."""

    def __init__(self, world: UpdatingWorld, path: Path, vendor: str) -> None:
        self.world = world
        self.path = path
        self.vendor = vendor

    def configured(self, settings: dict[str, Any]) -> None:
        """What the configuration says of the two."""
        for name, keeps in (("zurich", "rows"), ("geneva", "history")):
            settings["slaves"][name] = {"connection": name, "vendor": self.vendor, "keeps": keeps}

    def version(self, slave: str) -> dict[str, Any]:
        """What is current."""
        newest = max((self.path / slave / SOURCE / "versions").glob("*.json"))
        found: dict[str, Any] = json.loads(newest.read_text())
        return found

    def kept(self, slave: str) -> set[Path]:
        """The files that some version lists."""
        root = self.path / slave / SOURCE
        known = [json.loads(path.read_text()) for path in (root / "versions").glob("*.json")]
        return {root / file["path"] for version in known for file in files(version)}

    def tables(self, slave: str) -> set[str]:
        """The tables that are current, without what is left of those that were dropped."""
        return {name for name in self.version(slave)["tables"] if "~dropped-" not in name}

    def assert_same(self) -> None:
        """The tables that the master has under these names, and their rows."""
        assert self.world.verify() == {"zurich": 0, "geneva": 0}
        wanted = "SELECT schemaname || '.' || tablename FROM repl_tables"
        names = {name for (name,) in self.world.master.execute(wanted)}
        assert (self.tables("zurich"), self.tables("geneva")) == (names, names)
        for slave in self.world.slaves if self.vendor == "iceberg" else ():
            self._assert_told(slave)

    def _assert_told(self, slave: str) -> None:
        root, told = self.path / slave / SOURCE, self.version(slave)["tables"]
        found = {str(path.parent.relative_to(root)) for path in root.glob("iceberg/*/*/metadata/version-hint.text")}
        assert found == {f"iceberg/{name.replace('.', '/')}/metadata" for name in told}
        for name, table in told.items():
            scan = StaticTable.from_metadata(str(root / "iceberg" / name.replace(".", "/"))).scan()
            listed = {task.file.file_path for task in scan.plan_files()}
            assert listed == {f"file://{root / file['path']}" for file in table["files"]}

    def read(self, slave: str, table: str) -> list[dict[str, Any]]:
        """The rows of a table's files."""
        files = self.version(slave)["tables"][table]["files"]
        return [row for one in files for row in pq.read_table(self.path / slave / SOURCE / one["path"]).to_pylist()]

    def kill_drain(self, slave: str, point: CrashPoint) -> None:
        """A drain dies at a point, and its lease is over."""
        killed = self.world.job("drain", "--slave", slave, "--once", crash_at=point)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        self.world.let_leases_expire()

    def drain_by(self, size: int) -> None:
        """Publish, and drain every slave in batches of so many changes."""
        self.world.publish()
        for slave in self.world.slaves:
            drain = self.world.drainer(slave, size=size)
            while drain.deliver():
                pass
        self.world.let_leases_expire()

    def drain_in_spite_of_deaths(self, slave: str) -> None:
        """Drains die at one point after the other: the version is that of before, or of after, and then all is in."""
        for point in (CrashPoint.STAGED, CrashPoint.MERGED, CrashPoint.DELIVERED):
            before = self.version(slave)
            self.kill_drain(slave, point)
            after = self.version(slave)
            there_is = (after["position"], after["tables"]) != (before["position"], before["tables"])
            assert there_is == (point is CrashPoint.DELIVERED)
        assert self.world.drain(slave)["changes"] == 0


@pytest.fixture
def lake(
    updating: Callable[..., UpdatingWorld], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Lake]:
    """Makes such worlds, with the initial update done."""

    def made(
        ddl: str = DDL, tables: Sequence[str] = TABLES, *, vendor: str = "parquet", update: bool = True, **more: Any
    ) -> Lake:
        world = updating(ddl, tables, **more)
        path = tmp_path / "lake"
        path.mkdir()
        for name in ("zurich", "geneva"):
            world.infos[f"unused_{name}"] = world.infos[name]
            world.infos[name] = ConnectionInfo("fs", extra={"path": str(path)})
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))
        there = Lake(world, path, vendor)
        world.configure(there.configured)
        if update:
            world.update()
            for slave in world.slaves:
                replications.record(world.context.store, world.pair(slave), ReplicationEvent.VERIFIED)
        return there

    return made
