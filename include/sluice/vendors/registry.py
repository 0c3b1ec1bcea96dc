"""Vendors by their names in the configuration, and what each offers; each is a package here with a module `vendor`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sluice.errors import ConfigError
from sluice.vendors.protocol.capabilities import CaptureWay

if TYPE_CHECKING:
    from sluice.config.logical_decoding import Decoding
    from sluice.config.mapper import Mapper
    from sluice.connections import ConnectionInfo
    from sluice.messages.column_literal import Cell
    from sluice.model.leftover import Leftover
    from sluice.model.lineage import Dataset
    from sluice.model.names import Pair, Resources, TableName
    from sluice.model.table_size import TableSize
    from sluice.tls import Transport
    from sluice.vendors.protocol.compare import Comparison, GivesWay
    from sluice.vendors.protocol.digests import DigestSide
    from sluice.vendors.protocol.load import BlockReceiver, Programs, Reading, Receiver, SlaveRanges, TableDefinition
    from sluice.vendors.protocol.master import Source
    from sluice.vendors.protocol.read import Foreseen, KeyRange
    from sluice.vendors.protocol.repair import RowRepair, VersionedRepair
    from sluice.vendors.protocol.slave import SlaveDatabase
    from sluice.vendors.protocol.tasks import BlockJob, LoadJob, SlaveLoad
    from sluice.vendors.protocol.visibility import ReadSnapshot
    from sluice.verify.difference import Difference

    # By a connection, a snapshot, the roles whose functions may run with our rights, a table and its columns.
    OpenDigests = Callable[
        [ConnectionInfo, str, Collection[str], TableName, Sequence[str]], AbstractContextManager[DigestSide]
    ]


@dataclass(frozen=True, kw_only=True)
class Master:
    """The interface of a vendor that can be a master.

    Attributes:
        source: its ports, to read it and to capture its changes. As `read` and `foresee` it is told the roles whose
            functions may run with our rights; the way to capture its changes; how its log is decoded; and on which
            standby, if not on the master.
        resources: the DbResources of a schema and a prefix, which folds as this database folds.
        read: its rows, as an exported snapshot shows them.
        message_values: for a type, what a message has for what the database prints; None if it is the same.
        read_snapshot: which transactions a snapshot shows.
        definition: what `to_json` gave of a table of a dump.
        exporting: how programs export from it; None if they cannot.
        active: how many sessions of others execute something on its server.
        foresee: about how much is left of ranges of keys; none if it cannot say so of them.
        captures: its ways of capturing changes, by their names in the configuration.
        digests: one of its tables with these columns, as an exported snapshot shows it to a comparison with another
            kind of database; None if it cannot compute digests of canonical texts.
        version: a column of every table that is not among its columns, and whose value changes whenever its row does;
            None if there is no such one.
        leftovers: what the role of a source still has by the script of its grants, and what is left beside it: of its
            DbResources, in these schemas and of these tables. None if it cannot say.
    """

    source: Callable[
        [ConnectionInfo, str | None, str, Collection[str], str, Decoding | None, ConnectionInfo | None], Source
    ]
    resources: Callable[[str | None, str], Resources]
    read: Callable[[ConnectionInfo, str, Collection[str]], AbstractContextManager[Reading]]
    message_values: Callable[[str], Callable[[str], Cell] | None]
    read_snapshot: ReadSnapshot
    definition: Callable[[Any], TableDefinition]
    exporting: Programs | None
    active: Callable[[ConnectionInfo], int]
    foresee: Callable[[ConnectionInfo, Sequence[KeyRange], Collection[str]], list[Foreseen]]
    captures: Mapping[str, CaptureWay]
    digests: OpenDigests | None = None
    version: str | None = None
    leftovers: Callable[[ConnectionInfo, Resources, Collection[str], Collection[TableName]], list[Leftover]] | None = (
        None
    )

    def capture(self, name: str) -> CaptureWay:
        """A way of capturing, by its name. Of one that this vendor does not have little can be said."""
        return self.captures.get(name, CaptureWay())


@dataclass(frozen=True, kw_only=True)
class BlockLoading:
    """The interface of a vendor whose slaves can be loaded in blocks while the stream goes on.

    Attributes:
        ranges: those of a slave, whose position tables are in a schema; with the masters that are not to hear of it.
        receive: the slave as a task that loads a block sees it.
    """

    ranges: Callable[[ConnectionInfo, Pair, str, Mapper, Collection[Resources]], SlaveRanges]
    receive: Callable[[ConnectionInfo, BlockJob], BlockReceiver]


def _nothing(masters: Collection[Resources], name: TableName) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """One kind of slave: its ports, and what Spark tasks do with it.

    Attributes:
        slave: with the masters that are not to hear of what is written, if they are in the slave's database.
        receive: the slave as a task of an initial update fills it.
        compare_table: a table of such a slave with its master's.
        dataset: the name in lineage of a table, by the connection of its slave, or of its master, and the replication.
        history: the same as a slave that keeps every change instead of rows; None if it cannot.
        master: what it offers besides if it can be a master, too.
        database_id: a text that is the same for connections that reach the same tables by the same names; None if it
            has no server, where each connection is a place of its own.
        importing: how programs import into it; None if they cannot.
        size: how many bytes tables of it have that programs fill, with what is not committed yet.
        sizes: about how large those of these tables are that exist, soon and without waiting for locks; None if it
            cannot say.
        online: how it is loaded in blocks; None if it cannot be.
        grants: the script that gives a slave's role its rights, in the schema of its position tables, in others and on
            tables; None if it has no roles.
        leftovers: what a slave's role still has by that script, and which of its types and schemas nothing uses, by the
            same arguments. None if it cannot say.
        altering: the statements, for the end of that script, that let the role carry out ALTERs of masters on tables of
            these schemas; None if it may anyway, or none is carried out.
        silencing: the statement that lets this role keep triggers and foreign keys from acting; None if none can be.
        is_ours: whether a table of this name is one that Sluice keeps in a slave, or in one of these masters, which
            may be in the slave's database.
        remove: takes a replication out of its slave, under the fence of this epoch: its position, and these of the
            slave's tables, or none; calls a function before that is final; which objects went. None if it cannot.
        is_one_piece: rows and position cannot be removed but together.
        giving_way: ends sessions that read a snapshot once a statement of others has waited some seconds for one of
            their tables; None if readers block no statement.
        cut: comparisons of one slave, of which those of large tables are cut into ranges of keys, so many at most; it
            sees that ranges of keys which alone are compared can be. None if a table is compared by one, and whole.
        repair: the slave while rows of some keys are repaired, with the masters that are not to hear of it; None if
            they cannot be.
        repair_versions: the same if others write these rows, too.
        transport: how a session of such a connection travels; None if there are no sessions.
        conn_type: the type of the Airflow connections that lead to it.
    """

    slave: Callable[[ConnectionInfo, Pair, str, Mapper, Collection[Resources]], SlaveDatabase]
    receive: Callable[[ConnectionInfo, LoadJob, SlaveLoad], Receiver]
    compare_table: Callable[[Comparison], Difference]
    dataset: Callable[[ConnectionInfo, Pair, TableName], Dataset]
    master: Master | None = None
    database_id: Callable[[ConnectionInfo], str] | None = None
    remove: (
        Callable[[ConnectionInfo, Pair, str, int, Sequence[TableName] | None, Callable[[], None]], list[str]] | None
    ) = None
    history: Callable[[ConnectionInfo, Pair, str, Mapper, Collection[Resources]], SlaveDatabase] | None = None
    importing: Programs | None = None
    size: Callable[[ConnectionInfo, Sequence[TableName]], int] | None = None
    sizes: Callable[[ConnectionInfo, Sequence[TableName]], Mapping[TableName, TableSize]] | None = None
    online: BlockLoading | None = None
    grants: Callable[[ConnectionInfo, str, Collection[str], Collection[TableName]], str] | None = None
    leftovers: Callable[[ConnectionInfo, str, Collection[str], Collection[TableName]], list[Leftover]] | None = None
    altering: Callable[[Collection[str]], str] | None = None
    silencing: Callable[[ConnectionInfo], str] | None = None
    giving_way: Callable[[ConnectionInfo, str, float], AbstractContextManager[GivesWay]] | None = None
    is_ours: Callable[[Collection[Resources], TableName], bool] = _nothing
    is_one_piece: bool = False
    cut: Callable[[list[Comparison], int], list[Comparison]] | None = None
    repair: Callable[[ConnectionInfo, Pair, str, Mapper, Collection[Resources]], RowRepair] | None = None
    repair_versions: Callable[[ConnectionInfo, Pair, str, Mapper, Collection[Resources]], VersionedRepair] | None = None
    transport: Callable[[ConnectionInfo], Transport] | None = None
    conn_type: str = "postgres"


@cache
def vendor(name: str) -> Vendor:
    """The vendor of that name, loaded when it is first needed."""
    found: Vendor = import_module(f"sluice.vendors.{name}.vendor").VENDOR
    return found


def master(name: str) -> Master:
    """The master interface of a vendor; the configuration allows only vendors with one as sources."""
    found = vendor(name).master
    assert found is not None
    return found


def online(name: str) -> BlockLoading:
    """The interface of a vendor for loads in blocks. Raises ConfigError SLC-099 if it has none."""
    found = vendor(name).online
    if found is None:
        raise ConfigError(
            99, "this kind of slave cannot be loaded in blocks", "run initial_update in the mode `snapshot`"
        )
    return found
