"""An initial update into files: written beside what is current, which it replaces at once when it is whole."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any, Protocol

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import FencedError, SluiceError
from sluice.model.action import FilledRows
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.storage import private_files
from sluice.storage.files import flush
from sluice.values.copy_text import columns_of
from sluice.vendors.parquet.directory import (
    READABLE,
    READABLE_FILE,
    DataFile,
    DataFileWriter,
    ReplicationDirectory,
    create,
    reachable,
    replication_directory,
)
from sluice.vendors.parquet.types import refuse_ours, typed
from sluice.vendors.parquet.versions import Table, Version, Versions
from sluice.vendors.parquet.write.mode import MODES, WriteMode
from sluice.vendors.protocol.load import Expected, TableDefinition
from sluice.vendors.protocol.read import RowFormat, TakenFormats
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoad


class FilledLake(Protocol):
    """The slave whose tables are filled: as much of `ParquetSlave` as that takes."""

    kind: WriteMode
    pair: Pair
    mapper: Mapper
    directory: ReplicationDirectory
    versions: Versions
    version: Version

    def take_over(self, epoch: int) -> object:
        """Raise the fence."""

    def admit(self, table: Table, beside: TableName | None) -> None:
        """Look whether a table can be kept under these columns."""

    def begin_update(self, position: Position, snapshot: Snapshot, filled: Iterable[Table]) -> None:
        """Let an initial update be what is current."""


_PLAN = "plan.json"


def admitted(slave: FilledLake, tables: Sequence[TableDefinition]) -> dict[TableName, Table]:
    """Tables of the master as files keep them, by the master's names; nothing is written.

    Raises:
        SluiceError: SLC-432, a column bears a name of ours; SLC-438, rows are to be kept; or what `admit` raises.
    """
    found: dict[TableName, Table] = {}
    for table in tables:
        layout = view(slave.mapper, table.layout).layout
        refuse_ours(table.name, layout.columns)
        if slave.mapper.existing_rows(table.name) is not FilledRows.TRUNCATE:
            raise SluiceError(
                438,
                f"what is in the files of {table.name} is replaced as a whole, and `on_existing_rows` is not truncate",
                "nothing was changed; take `on_existing_rows` out of the configuration",
            )
        found[table.name] = Table(layout.name, layout.columns)
    for one in found.values():
        slave.admit(one, one.name)
    return found


class LakeTables:
    """See `sluice.vendors.protocol.load.SlaveTables`."""

    def __init__(self, slave: FilledLake, epoch: int, earlier: int | None = None) -> None:
        self._slave = slave
        self._epoch = epoch
        self._earlier = earlier
        self._tables: dict[TableName, Table] = {}
        self._nothing: list[int] = []
        self._loading = slave.directory.loading(epoch)
        self.mapper: Mapper = slave.mapper
        self.formats = TakenFormats()
        self.upserted: set[TableName] = set()

    def begin(self) -> Sequence[Expected]:
        """Fence out earlier jobs. Files of an earlier load of another snapshot are discarded, since rows cannot be
        merged into them. Files of the same snapshot stay, except in a history, whose rows have the epoch.
        """
        self._slave.take_over(self._epoch)
        if self._earlier is not None and not self._slave.kind.lasting:
            with reachable("looking at the load"), suppress(FileNotFoundError):
                # A late task finds no place any more in which to record its chunk.
                self._slave.directory.loading(self._earlier).rename(self._loading)
                flush(self._loading.parent)
        return ()

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """None of them."""
        return set()

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Chunks are claimed by their numbers; of some there is nothing for this slave."""
        self._nothing = [number for number, one in enumerate(chunks) if one.rows is not None]

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Write down what the columns are. What is current stays so for now. Raises as `admitted`."""
        self._tables = admitted(self._slave, tables)
        known = [[name.schema, name.table, table.to_json()] for name, table in self._tables.items()]
        wanted = json.dumps({"keeps": self._slave.kind.name, "tables": known})
        with reachable("preparing the load"):
            plan = self._loading / _PLAN
            if plan.exists() and plan.read_text(encoding="utf-8") == wanted:
                return
            for old in self._slave.directory.root.joinpath("loading").iterdir():
                shutil.rmtree(old, ignore_errors=True)
            self._slave.versions.sweep(self._slave.version)
            self._loading.mkdir(mode=READABLE)
            create(plan, wanted)
            for number in self._nothing:
                create(self._loading / f"{number}.done", json.dumps({"rows": 0}))

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """There is nothing to be built after the rows."""

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """No program imports into files."""
        return set()

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Files hand out no numbers."""

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """The data is complete: it is current from here on, and the stream follows."""
        files: dict[TableName, list[DataFile]] = {}
        for done in self._done().values():
            if done["rows"]:
                files.setdefault(TableName(*done["table"]), []).append(DataFile(**done["file"]))
        tables = [Table(table.name, table.columns, tuple(files.get(name, ()))) for name, table in self._tables.items()]
        self._slave.begin_update(position, snapshot, tables)
        shutil.rmtree(self._loading, ignore_errors=True)

    def progress(self) -> dict[int, int]:
        """The chunks that are in, and how many rows each has."""
        return {number: done["rows"] for number, done in self._done().items()}

    def close(self) -> None:
        """Nothing to close."""

    def _done(self) -> dict[int, dict[str, Any]]:
        with reachable("looking at the load"):
            paths = sorted(self._loading.glob("*.done"))
            return {int(path.stem): json.loads(path.read_text(encoding="utf-8")) for path in paths}


class LakeReceiver:
    """See `sluice.vendors.protocol.load.Receiver`: one file a chunk.

    A claim is a lock on a file, which the system gives back if a task is lost. Should a network filesystem fail at
    that, two tasks copy one chunk: the first to say that it is in counts, and what the other wrote is in no version.
    """

    def __init__(self, info: ConnectionInfo, job: LoadJob, plan: SlaveLoad) -> None:
        self._pair = Pair(job.source, plan.slave)
        self._directory: ReplicationDirectory = replication_directory(info, self._pair)
        self._epoch = plan.epoch
        self._chunks = job.chunks
        self._loading = self._directory.loading(plan.epoch)
        self._next = 0
        self._claimed: IO[bytes] | None = None
        self._writer: DataFileWriter | None = None

    def open(self) -> None:
        """Read what the columns are."""
        with reachable(f"loading {self._pair.slave}"):
            self._fence()
            plan = json.loads((self._loading / _PLAN).read_text(encoding="utf-8"))
        self._kind = MODES[plan["keeps"]]
        self._tables = {TableName(schema, table): Table.from_json(known) for schema, table, known in plan["tables"]}

    def claim_next(self) -> int | None:
        """Lock a chunk that is not in; those that others hold are waited for in the end."""
        for among, wait in ((range(self._next, len(self._chunks)), False), (range(len(self._chunks)), True)):
            for chunk in among:
                if self._claim(chunk, wait=wait):
                    self._next = chunk + 1
                    return chunk
        return None

    def claim(self, chunk: int) -> bool:
        """Lock this very chunk, if it is not in."""
        return self._claim(chunk, wait=True)

    def begin(self, table: TableName, form: RowFormat) -> None:
        """Begin the chunk's file."""
        self._columns = self._tables[table].kept
        self._table = table
        with reachable(f"loading {self._pair.slave}"):
            self._writer = self._directory.writer(
                self._tables[table].name, self._epoch, self._kind.schema(self._columns)
            )

    def write(self, buffer: bytes) -> None:
        """Rows as lines of COPY."""
        assert self._writer is not None
        with reachable(f"loading {self._pair.slave}"):
            rows = typed(self._columns, columns_of(buffer, len(self._columns)))
            self._writer.write(self._kind.loaded(rows, self._epoch))

    def end(self, chunk: int, rows: int) -> None:
        """Make the file durable and record the chunk, unless another job took over or was faster."""
        assert self._writer is not None
        with reachable(f"loading {self._pair.slave}"):
            self._writer.close()
            # What fails from here on may have said that the chunk is in: then the file is needed.
            file, self._writer = self._writer.file, None
            self._fence()
            if not rows:
                self._directory.path(file).unlink()
            done = {"table": list(asdict(self._table).values()), "rows": rows, "file": asdict(file)}
            create(self._done(chunk), json.dumps(done))
        self._release()
        crash_if_asked(CrashPoint.CHUNK_LOADED)

    def close(self) -> None:
        """Leave nothing behind of a chunk that is not in."""
        if self._writer is not None:
            with suppress(OSError):
                self._writer.discard()
        self._release()

    def _claim(self, chunk: int, *, wait: bool) -> bool:
        if self._done(chunk).exists():
            return False
        with reachable(f"claiming chunk {chunk} of {self._pair.slave}"):
            claimed = private_files.open_append(self._loading / f"{chunk}.claimed", READABLE_FILE)
            try:
                fcntl.flock(claimed, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                claimed.close()
                return False
            if self._done(chunk).exists():
                claimed.close()
                return False
        self._claimed = claimed
        return True

    def _release(self) -> None:
        if self._claimed is not None:
            self._claimed.close()
            self._claimed = None

    def _fence(self) -> None:
        if Versions(self._directory, self._pair).current().epoch != self._epoch:
            raise FencedError(
                50, f"somebody took over slave {self._pair.slave} from this dump", "trigger initial_update again"
            )

    def _done(self, chunk: int) -> Any:
        return self._loading / f"{chunk}.done"
