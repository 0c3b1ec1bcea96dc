"""The control store of 0.1.0."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None


def _moment(name: str, *, required: bool = False) -> sa.Column:
    default = sa.text("clock_timestamp()") if required else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=not required, server_default=default)


def _columns(kind: object, *names: str, nullable: bool = False, **how: object) -> list[sa.Column]:
    return [sa.Column(name, kind, nullable=nullable, **how) for name in names]


def upgrade() -> None:
    op.create_table(
        "activity",
        *_columns(sa.Text, "source", "schema", "table"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        *_columns(sa.BigInteger, "inserts", "updates", "deletes"),
        sa.PrimaryKeyConstraint("source", "schema", "table", "at"),
    )
    op.create_table(
        "alert",
        *_columns(sa.Text, "source", "slave", "what", primary_key=True),
        *(_moment(name, required=True) for name in ("since", "held_at")),
        *_columns(sa.Text, "told", "teller", nullable=True),
    )
    op.create_table(
        "allowed_loss",
        *_columns(sa.Text, "source", "slave", "schema", "table", "column", primary_key=True),
        *_columns(sa.Text, "cast", "actor"),
        _moment("since", required=True),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        _moment("at", required=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("slave", sa.Text),
        *_columns(sa.Text, "actor", "event"),
        sa.Column("detail", sa.Text, server_default="", nullable=False),
    )
    op.create_index("audit_of", "audit", ["source", "slave", "id"])
    op.create_table(
        "cascade",
        *_columns(sa.Text, "source", "slave", primary_key=True),
        *_columns(sa.Text, "next_source", "next_slave"),
        sa.Column("after", JSONB, nullable=False),
    )
    op.create_table(
        "compared_part",
        *_columns(sa.Text, "run", "source", "slave", "table"),
        sa.Column("number", sa.Integer, nullable=False),
        *_columns(sa.Text, "plan", "shape"),
        sa.Column("found", sa.Text),
        sa.Column("body", JSONB, nullable=False),
        *_columns(sa.BigInteger, "segment", "ordinal", nullable=True),
        _moment("at", required=True),
        sa.PrimaryKeyConstraint("run", "source", "slave", "table", "number"),
    )
    op.create_table(
        "comparison",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("point", sa.BigInteger, nullable=False),
        *_columns(sa.Text, "source", "slave", "table"),
        *_columns(sa.BigInteger, "compared", "different"),
        sa.Column("sample", JSONB, nullable=False),
        _moment("at", required=True),
        sa.Column("body", JSONB, server_default="{}", nullable=False),
        sa.UniqueConstraint("point", "slave", "table"),
    )
    op.create_index("comparison_last", "comparison", ["source", "slave", "point"])
    op.create_table(
        "differing",
        *_columns(sa.Text, "source", "slave", "table", "scope", primary_key=True),
        *_columns(sa.BigInteger, "rows", "ordinal"),
        _moment("at", required=True),
    )
    op.create_table(
        "history",
        *_columns(sa.Text, "source", "slave"),
        sa.Column("hourly", sa.Boolean, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lag_s", sa.Double, nullable=False),
        *_columns(sa.BigInteger, "holdback", "ordinal"),
        sa.PrimaryKeyConstraint("source", "slave", "hourly", "at"),
    )
    op.create_table(
        "hold",
        *_columns(sa.Text, "source", "slave", "kind", primary_key=True),
        *_columns(sa.Text, "actor", "reason"),
        _moment("since", required=True),
    )
    op.create_table(
        "identity",
        sa.Column("only_row", sa.Boolean, server_default=sa.true(), nullable=False),
        sa.Column("id", sa.UUID(as_uuid=False), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.CheckConstraint("only_row"),
        sa.PrimaryKeyConstraint("only_row"),
    )
    op.create_table(
        "initial_update",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        *_columns(sa.Text, "source", "state", "run"),
        _moment("started_at", required=True),
        _moment("ended_at"),
        sa.Column("snapshot", sa.Text),
        *_columns(sa.BigInteger, "segment", "ordinal", nullable=True),
        *_columns(sa.Integer, "chunks", "chunks_done", server_default="0"),
        sa.Column("rows", sa.BigInteger, server_default="0", nullable=False),
        *_columns(sa.BigInteger, "bytes", "bytes_planned", "rows_per_s", "seconds_left", nullable=True),
        sa.Column("waits", sa.Text),
        sa.Column("cancelled", JSONB, server_default="[]", nullable=False),
        *_columns(JSONB, "tables", "keys", "asked", "joined", "by_table", nullable=True),
    )
    op.create_table(
        "kept_version",
        *_columns(sa.Text, "source", "version"),
        sa.Column("kind", sa.BigInteger, autoincrement=False, nullable=False),
        *_columns(sa.Text, "url", "name", "sha256"),
        *_columns(sa.BigInteger, "update_id", "files", "segment", "ordinal"),
        sa.PrimaryKeyConstraint("source", "version", "kind"),
    )
    op.create_table(
        "layout",
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("body", JSONB, nullable=False),
        sa.PrimaryKeyConstraint("source", "id"),
    )
    op.create_table(
        "lease",
        *_columns(sa.Text, "name", primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        _moment("expires_at", required=True),
        *map(_moment, ("succeeded_at", "failed_at")),
        sa.Column("error", JSONB),
    )
    op.create_table(
        "pending_run",
        *_columns(sa.Text, "dag", "run", primary_key=True),
        *_columns(sa.Text, "source", "slave"),
        sa.Column("conf", JSONB, nullable=False),
    )
    op.create_table(
        "point",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        *(_moment(name, required=True) for name in ("asked", "deadline")),
        sa.Column("snapshot_id", sa.Text),
        *_columns(sa.BigInteger, "segment", "ordinal", nullable=True),
        sa.Column("progress", JSONB),
    )
    op.create_table(
        "publisher",
        *_columns(sa.Text, "source", primary_key=True),
        *_columns(sa.BigInteger, "queued", "log_bytes", "changes", server_default="0"),
        *map(_moment, ("caught_up_at", "due_at")),
        *(sa.Column("sweep_s", sa.Double), sa.Column("upgrade", JSONB)),
    )
    op.create_table(
        "question",
        *_columns(sa.Text, "source", "slave"),
        sa.Column("key", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        *_columns(sa.Text, "action", "table", "text", "state"),
        _moment("since", required=True),
        sa.Column("doubts", sa.ARRAY(sa.Text), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("source", "slave", "key"),
    )
    op.create_table(
        "rejected",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        *_columns(sa.Text, "source", "slave"),
        *_columns(sa.BigInteger, "ordinal", "repl_key"),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("layout", JSONB, nullable=False),
        *_columns(sa.Text, "reason", "action"),
        *_columns(JSONB, "new", "old", nullable=True),
        _moment("at", required=True),
        sa.UniqueConstraint("source", "slave", "repl_key", "part"),
    )
    op.create_table(
        "relay_client",
        *_columns(sa.Text, "name", primary_key=True),
        sa.Column("filters", JSONB, nullable=False),
        _moment("seen_at", required=True),
    )
    op.create_table(
        "replication",
        *_columns(sa.Text, "source", "slave", primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        *_columns(sa.BigInteger, "segment", "ordinal", server_default="0"),
        _moment("delivered_at"),
        *_columns(sa.BigInteger, "update_id", "filled_at", nullable=True),
        sa.Column("batch_s", sa.Double),
    )
    op.create_table(
        "segment",
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, autoincrement=False, nullable=False),
        *_columns(sa.Text, "name", "sha256"),
        *_columns(sa.BigInteger, "bytes", "first_ordinal", "last_ordinal", "changes"),
        *_columns(sa.Text, "incarnation", "snapshot"),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("sequences", JSONB, server_default="[]", nullable=False),
        _moment("published_at", required=True),
        _moment("trimmed_at"),
        sa.PrimaryKeyConstraint("source", "number"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "skipped",
        *_columns(sa.Text, "source", "slave", "schema", "table", primary_key=True),
        sa.Column("changes", sa.BigInteger, server_default="0", nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        _moment("since", required=True),
    )
    op.create_table(
        "statement",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        *_columns(sa.Text, "source", "actor"),
        _moment("at", required=True),
        *_columns(sa.Text, "sql", "schema"),
        *_columns(sa.Text, "trans_key", "incarnation", nullable=True),
        *_columns(sa.Boolean, "varying", "hurried", server_default=sa.false()),
        sa.Column("begun", sa.Boolean, server_default=sa.true(), nullable=False),
        sa.Column("max_rows", sa.Integer, server_default="10", nullable=False),
        sa.Column("run", sa.Text, server_default="", nullable=False),
    )
    op.create_table(
        "stuck",
        *_columns(sa.Text, "source", "slave", primary_key=True),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("body", JSONB, nullable=False),
        _moment("since", required=True),
    )
    op.create_table(
        "table_files",
        *_columns(sa.Text, "source", "slave", primary_key=True),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("files", JSONB, nullable=False),
    )
    op.create_table(
        "tolerated",
        *_columns(sa.Text, "source", "slave", "schema", "table", primary_key=True),
        *_columns(sa.BigInteger, "missing", "duplicate", server_default="0"),
    )
    op.create_table(
        "transfer",
        *_columns(sa.Text, "source", "slave", primary_key=True),
        sa.Column("update_id", sa.BigInteger, nullable=False),
        *_columns(sa.Text, "url", "name", "sha256"),
        sa.Column("files", sa.BigInteger, nullable=False),
        *_columns(sa.BigInteger, "epoch", "rows", "segment", "ordinal", nullable=True),
        _moment("since", required=True),
    )
    op.create_table("watched", *_columns(sa.Text, "source", "schema", "table", primary_key=True))
    op.create_table(
        "answer",
        sa.Column("statement", sa.BigInteger, nullable=False),
        *_columns(sa.Text, "slave", "status"),
        sa.Column("detail", sa.Text, server_default="", nullable=False),
        sa.Column("body", JSONB),
        _moment("at", required=True),
        sa.ForeignKeyConstraint(["statement"], ["statement.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("statement", "slave"),
    )
    op.create_index("answer_status", "answer", ["status", "slave"])
    op.create_table(
        "barrier",
        sa.Column("point", sa.BigInteger, nullable=False),
        sa.Column("slave", sa.Text, nullable=False),
        sa.Column("passed", sa.Boolean, server_default="false", nullable=False),
        sa.ForeignKeyConstraint(["point"], ["point.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("point", "slave"),
    )
    op.create_table(
        "relay_position",
        *_columns(sa.Text, "client", "source", primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["client"], ["relay_client.name"], ondelete="CASCADE"),
    )
    op.create_table(
        "row_difference",
        sa.Column("comparison", sa.BigInteger, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        *_columns(JSONB, "kind", "key", "columns", "ours", "theirs"),
        sa.ForeignKeyConstraint(["comparison"], ["comparison.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("comparison", "number"),
    )
    op.execute("INSERT INTO identity DEFAULT VALUES")
