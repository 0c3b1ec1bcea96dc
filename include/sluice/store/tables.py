"""The control store's tables. Its migrations are in sql/control; a test keeps the two alike."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    and_,
    false,
    func,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, UUID

from sluice.model.names import Pair

metadata = MetaData()

_now = func.clock_timestamp()


def _moment(name: str, *, required: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=not required, server_default=_now if required else None)


def _key(*names: str) -> list[Column[str]]:
    return [Column(name, Text, primary_key=True) for name in names]


# Which store this is. Its one row is made with the table.
identity = Table(
    "identity",
    metadata,
    Column("only_row", Boolean, CheckConstraint("only_row"), primary_key=True, server_default=true()),
    Column("id", UUID(as_uuid=False), nullable=False, server_default=func.gen_random_uuid()),
)

# Who may write what, and until when by this database's clock. The epoch only grows (R6).
lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("holder", Text, nullable=False),
    _moment("expires_at", required=True),
    *map(_moment, ("succeeded_at", "failed_at")),
    Column("error", JSONB),
)

# The columns that row images of a segment list.
layout = Table(
    "layout",
    metadata,
    Column("source", Text, primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("body", JSONB, nullable=False),
)
# A table that a source watches, or did: slaves may have rows of it.
watched = Table("watched", metadata, *_key("source", "schema", "table"))

# The manifest: a segment exists if and only if it is listed here (R2).
segment = Table(
    "segment",
    metadata,
    Column("source", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("sha256", Text, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in ("bytes", "first_ordinal", "last_ordinal", "changes")),
    Column("incarnation", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("sequences", JSONB, nullable=False, server_default="[]"),
    _moment("published_at", required=True),
    _moment("trimmed_at"),
)

# How far the publisher of a source is. Everything was in the log at `caught_up_at`; the next look is due at `due_at`.
publisher = Table(
    "publisher",
    metadata,
    Column("source", Text, primary_key=True),
    *(Column(name, BigInteger, nullable=False, server_default="0") for name in ("queued", "log_bytes", "changes")),
    *map(_moment, ("caught_up_at", "due_at")),
    *(Column("sweep_s", Double), Column("upgrade", JSONB(none_as_null=True))),
)

# One row a (source, slave) pair. `segment` and `ordinal` are what the slave has made durable (R3). `filled_at` is the
# newest segment at the end of its last initial update.
replication = Table(
    "replication",
    metadata,
    *_key("source", "slave"),
    Column("status", Text, nullable=False),
    Column("segment", BigInteger, nullable=False, server_default="0"),
    Column("ordinal", BigInteger, nullable=False, server_default="0"),
    _moment("delivered_at"),
    *(Column(name, BigInteger) for name in ("update_id", "filled_at")),
    Column("batch_s", Double),
)

# How a replication was, by the minute or, of more than a day ago, by the hour: the most of each, and its last ordinal.
history = Table(
    "history",
    metadata,
    *_key("source", "slave"),
    Column("hourly", Boolean, primary_key=True),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("lag_s", Double, nullable=False),
    Column("holdback", BigInteger, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
)

# Rows that changed in a table of a master, in ten minutes; of more than a day ago, in one row at the beginning of time.
activity = Table(
    "activity",
    metadata,
    *_key("source", "schema", "table"),
    Column("at", DateTime(timezone=True), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in ("inserts", "updates", "deletes")),
)

# Rows of a slave's table that were not as expected, since it was filled.
tolerated = Table(
    "tolerated",
    metadata,
    *_key("source", "slave", "schema", "table"),
    Column("missing", BigInteger, nullable=False, server_default="0"),
    Column("duplicate", BigInteger, nullable=False, server_default="0"),
)

# Why a change is kept, where no conflict is the reason: it was removed, as the slave sees it or, if that failed, as the
# master does.
REMOVED, REMOVED_UNSEEN = "removed", "removed unseen"

# A change that a slave did not carry out; with its values, which no log has.
rejected = Table(
    "rejected",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    *(Column(name, Text, nullable=False) for name in ("source", "slave")),
    *(Column(name, BigInteger, nullable=False) for name in ("ordinal", "repl_key")),
    Column("part", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("layout", JSONB, nullable=False),
    Column("action", Text, nullable=False),
    Column("new", JSONB),
    Column("old", JSONB),
    _moment("at", required=True),
    UniqueConstraint("source", "slave", "repl_key", "part"),
)

# The transaction that a slave stands in front of, without its values.
stuck = Table(
    "stuck",
    metadata,
    *_key("source", "slave"),
    Column("ordinal", BigInteger, nullable=False),
    Column("body", JSONB, nullable=False),
    _moment("since", required=True),
)

# A table of the master that a slave is not given until it is filled anew, and how many changes that were.
skipped = Table(
    "skipped",
    metadata,
    *_key("source", "slave", "schema", "table"),
    Column("changes", BigInteger, nullable=False, server_default="0"),
    Column("actor", Text, nullable=False),
    _moment("since", required=True),
)

# Whether a slave carries a command of the master out; `run` is the DAG run that asks people for it.
question = Table(
    "question",
    metadata,
    *_key("source", "slave"),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("table", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("state", Text, nullable=False),
    _moment("since", required=True),
    Column("doubts", ARRAY(Text), nullable=False, server_default="{}"),
)

# What is filled once a replication has been; `after`: what led to that.
cascade = Table(
    "cascade",
    metadata,
    *_key("source", "slave"),
    Column("next_source", Text, nullable=False),
    Column("next_slave", Text, nullable=False),
    Column("after", JSONB, nullable=False),
)

# Runs that Airflow is still to be asked for, and the replication that wants each.
pending_run = Table(
    "pending_run",
    metadata,
    *_key("dag", "run"),
    Column("source", Text, nullable=False),
    Column("slave", Text, nullable=False),
    Column("conf", JSONB, nullable=False),
)

# What a column of a slave's table may lose, by the cast that makes what is left.
allowed_loss = Table(
    "allowed_loss",
    metadata,
    *_key("source", "slave", "schema", "table"),
    Column("column", Text, primary_key=True),
    Column("cast", Text, nullable=False),
    Column("actor", Text, nullable=False),
    _moment("since", required=True),
)

# Why a gate is shut; no row, no reason.
hold = Table(
    "hold",
    metadata,
    *_key("source", "slave"),
    Column("kind", Text, primary_key=True),
    Column("actor", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _moment("since", required=True),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _moment("at", required=True),
    Column("source", Text, nullable=False),
    Column("slave", Text),
    *(Column(name, Text, nullable=False) for name in ("actor", "event")),
    Column("detail", Text, nullable=False, server_default=""),
    Index("audit_of", "source", "slave", "id"),
)

# One row an initial update: where its data stands in the stream, and how far it is.
initial_update = Table(
    "initial_update",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    *(Column(name, Text, nullable=False) for name in ("source", "state", "run")),
    _moment("started_at", required=True),
    _moment("ended_at"),
    Column("snapshot", Text),
    Column("segment", BigInteger),
    Column("ordinal", BigInteger),
    *(Column(name, Integer, nullable=False, server_default="0") for name in ("chunks", "chunks_done")),
    Column("rows", BigInteger, nullable=False, server_default="0"),
    *(Column(name, BigInteger) for name in ("bytes", "bytes_planned", "rows_per_s", "seconds_left")),
    Column("waits", Text),
    Column("cancelled", JSONB, nullable=False, server_default="[]"),
    *(Column(name, JSONB) for name in ("tables", "keys", "asked", "joined", "by_table")),
)

# Initial data carried by hand, gone at the release: its manifest's hash, where the log goes on from it.
transfer = Table(
    "transfer",
    metadata,
    *_key("source", "slave"),
    Column("update_id", BigInteger, nullable=False),
    *(Column(name, Text, nullable=False) for name in ("url", "name", "sha256")),
    Column("files", BigInteger, nullable=False),
    *(Column(name, BigInteger) for name in ("epoch", "rows", "segment", "ordinal")),
    _moment("since", required=True),
)

# Initial data of older versions of a source, one directory for each kind of slave; the log goes on at the ordinal.
kept_version = Table(
    "kept_version",
    metadata,
    *_key("source", "version"),
    Column("kind", BigInteger, primary_key=True, autoincrement=False),
    *(Column(name, Text, nullable=False) for name in ("url", "name", "sha256")),
    *(Column(name, BigInteger, nullable=False) for name in ("update_id", "files", "segment", "ordinal")),
)

# An SQL statement for every node: who issued it, when, and what it was; the run that is to execute it, if it was asked
# for on a page, and whether it has begun.
statement = Table(
    "statement",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("source", Text, nullable=False),
    Column("actor", Text, nullable=False),
    _moment("at", required=True),
    *(Column(name, Text, nullable=False) for name in ("sql", "schema")),
    *(Column(name, Text) for name in ("trans_key", "incarnation")),
    *(Column(name, Boolean, nullable=False, server_default=false()) for name in ("varying", "hurried")),
    Column("begun", Boolean, nullable=False, server_default=true()),
    Column("max_rows", Integer, nullable=False, server_default="10"),
    Column("run", Text, nullable=False, server_default=""),
)

# What each node answered; the master's node is ''.
answer = Table(
    "answer",
    metadata,
    Column("statement", BigInteger, ForeignKey("statement.id", ondelete="CASCADE"), primary_key=True),
    Column("slave", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    Column("body", JSONB),
    _moment("at", required=True),
    Index("answer_status", "status", "slave"),
)

# A request for a point to compare both sides at, and the publisher's answer (R10); a slave that stops there meanwhile.
point = Table(
    "point",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("source", Text, nullable=False),
    *(_moment(name, required=True) for name in ("asked", "deadline")),
    Column("snapshot_id", Text),
    *(Column(name, BigInteger) for name in ("segment", "ordinal")),
    Column("progress", JSONB),
)
barrier = Table(
    "barrier",
    metadata,
    Column("point", BigInteger, ForeignKey("point.id", ondelete="CASCADE"), primary_key=True),
    Column("slave", Text, primary_key=True),
    Column("passed", Boolean, nullable=False, server_default="false"),
)

# What a comparison found, a table a row: `body` has the counts by kind, and where and how it compared.
comparison = Table(
    "comparison",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("point", BigInteger, nullable=False),
    *(Column(name, Text, nullable=False) for name in ("source", "slave", "table")),
    *(Column(name, BigInteger, nullable=False) for name in ("compared", "different")),
    Column("sample", JSONB, nullable=False),
    _moment("at", required=True),
    Column("body", JSONB, nullable=False, server_default="{}"),
    UniqueConstraint("point", "slave", "table"),
    Index("comparison_last", "source", "slave", "point"),
)
# The rows that it found different, as `sluice.verify.difference.RowDifference`.
row_difference = Table(
    "row_difference",
    metadata,
    Column("comparison", BigInteger, ForeignKey(comparison.c.id, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    *(Column(name, JSONB, nullable=False) for name in ("kind", "key", "columns", "ours", "theirs")),
)
# The parts of one that is not over, and the outcomes of those that were compared, for the next try of its run.
compared_part = Table(
    "compared_part",
    metadata,
    *_key("run", "source", "slave", "table"),
    Column("number", Integer, primary_key=True),
    *(Column(name, Text, nullable=name == "found") for name in ("plan", "shape", "found")),
    Column("body", JSONB, nullable=False),
    *(Column(name, BigInteger) for name in ("segment", "ordinal")),
    _moment("at", required=True),
)

# A client of the relay, and up to where it has each source's log: see `sluice.relay.log_reader` for the number.
relay_client = Table(
    "relay_client",
    metadata,
    *_key("name"),
    Column("filters", JSONB, nullable=False),
    _moment("seen_at", required=True),
)
relay_position = Table(
    "relay_position",
    metadata,
    Column("client", Text, ForeignKey("relay_client.name", ondelete="CASCADE"), primary_key=True),
    *_key("source"),
    Column("position", BigInteger, nullable=False),
)


def for_pair(table: Table, pair: Pair) -> ColumnElement[bool]:
    """The rows of one replication."""
    return and_(table.c.source == pair.source, table.c.slave == pair.slave)
