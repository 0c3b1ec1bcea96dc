"""Versions of a replication: position, fence and the list of data files, in one document that is created atomically
(R3, R6).

A commit is the exclusive creation of the next number. A process that takes over makes a version with a higher epoch,
so that
the next number of the one before is taken. Readers take the newest version; what it does not list does not exist for
them.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sluice.errors import FencedError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.model.position import START, Position, Snapshot
from sluice.vendors.parquet.ddl.schema_change import Alteration
from sluice.vendors.parquet.directory import DataFile, ReplicationDirectory, create, reachable


@dataclass(frozen=True)
class Table:
    """A table as a version has it: the columns of the layout that its newest rows came under, and its files.

    Attributes:
        altered: by which ALTERs of the master its columns became these since an initial update, in their order.
    """

    name: TableName
    columns: tuple[Column, ...]
    files: tuple[DataFile, ...] = ()
    altered: tuple[Alteration, ...] = ()

    @property
    def kept(self) -> tuple[Column, ...]:
        """The columns that are in the files: what the master computes by itself is not."""
        return tuple(column for column in self.columns if not column.generated)

    def called(self, name: TableName) -> Table:
        """The same under another name."""
        return replace(self, name=name)

    def with_files(self, files: Iterable[DataFile]) -> Table:
        """The same with these files."""
        return replace(self, files=tuple(files))

    def to_json(self) -> dict[str, Any]:
        """As readers find it."""
        return {
            "schema": self.name.schema,
            "table": self.name.table,
            "columns": [[one.name, one.type, one.not_null, one.generated] for one in self.columns],
            "files": [asdict(file) for file in self.files],
            "altered": [one.to_json() for one in self.altered],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Table:
        """The value that `to_json` wrote."""
        return cls(
            TableName(plain["schema"], plain["table"]),
            tuple(Column(*fields) for fields in plain["columns"]),
            tuple(DataFile(**file) for file in plain["files"]),
            tuple(map(Alteration.from_json, plain.get("altered", ()))),
        )


@dataclass(frozen=True)
class Version:
    """One state of a replication, whole.

    Attributes:
        keeps: the kind of what its files hold.
        snapshot: what the initial update saw; None until one has ended.
        removed: files of the version before that are in this one no more.
    """

    number: int = 0
    keeps: str = ""
    epoch: int = 0
    position: Position = START
    snapshot: Snapshot | None = None
    tables: Mapping[TableName, Table] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As readers find it."""
        return {
            "version": self.number,
            "keeps": self.keeps,
            "epoch": self.epoch,
            "position": [self.position.segment, self.position.ordinal],
            "snapshot": self.snapshot.text if self.snapshot else None,
            "tables": {str(name): table.to_json() for name, table in self.tables.items()},
            "removed": list(self.removed),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Version:
        """The value that `to_json` wrote."""
        tables = map(Table.from_json, plain["tables"].values())
        return cls(
            plain["version"],
            plain["keeps"],
            plain["epoch"],
            Position(*plain["position"]),
            Snapshot(plain["snapshot"]) if plain["snapshot"] else None,
            {table.name: table for table in tables},
            tuple(plain["removed"]),
        )


class Versions:
    """The chain of versions of one replication."""

    def __init__(self, directory: ReplicationDirectory, pair: object) -> None:
        self._directory = directory
        self._pair = pair

    def current(self) -> Version:
        """The newest version; one with the number 0 if there is none."""
        with reachable("looking for the newest version"):
            while numbers := self._numbers():
                # A newer one may have come meanwhile, and the one that we saw may have gone.
                with suppress(FileNotFoundError):
                    return self.read(numbers[-1])
            return Version()

    def read(self, number: int) -> Version:
        """The version of that number."""
        return Version.from_json(json.loads(self.path(number).read_text(encoding="utf-8")))

    def commit(self, before: Version, after: Version) -> Version:
        """Make `after` the newest version, if `before` still is.

        Raises:
            FencedError: SLC-050, another job took over, perhaps from this very version on.
        """
        kept = {file.path for table in after.tables.values() for file in table.files}
        listed = (file.path for table in before.tables.values() for file in table.files)
        made = replace(after, number=before.number + 1, removed=tuple(path for path in listed if path not in kept))
        with reachable(f"writing version {made.number}"):
            # The number of one who slept for long may be free again, since old versions are removed.
            text = json.dumps(made.to_json(), indent=1)
            if not create(self.path(made.number), text) or self._numbers()[-1] != made.number:
                raise FencedError(50, f"somebody took over {self._pair} (our epoch was {after.epoch})")
        return made

    def oldest(self) -> int:
        """The first version that is current, or was not long ago."""
        since = time.time() - self._directory.keep_hours * 3600
        numbers = self._numbers()
        for number, after in itertools.pairwise(numbers):
            if self.path(after).stat().st_mtime > since:
                return number
        return numbers[-1]

    def renew(self, version: Version) -> None:
        """Let what a version replaced stay as long as if it were made now."""
        self.path(version.number).touch()

    def tidy(self, oldest: int) -> None:
        """Remove versions before that one, and files that only they list."""
        for number, after in itertools.pairwise(self._numbers()):
            if number >= oldest:
                return
            self._remove(self.read(after).removed)
            self.path(number).unlink(missing_ok=True)

    def sweep(self, current: Version) -> None:
        """Remove files that no version lists, and none will: those of writers that were fenced out."""
        listed = {file.path for table in current.tables.values() for file in table.files}
        listed.update(path for number in self._numbers() for path in self.read(number).removed)
        for file in self._directory.names():
            path = str(file.relative_to(self._directory.root))
            if path not in listed and int(file.name.partition("-")[0]) < current.epoch:
                file.unlink(missing_ok=True)

    def _remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            (self._directory.root / path).unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        found = self._directory.versions.glob("*.json") if self._directory.versions.is_dir() else ()
        return sorted(int(path.stem) for path in found)

    def path(self, number: int) -> Path:
        """The path of the version with this number."""
        return self._directory.versions / f"{number:012d}.json"
