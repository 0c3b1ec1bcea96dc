"""The control store's first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None


def _moment(name: str, *, required: bool = False) -> sa.Column:
    default = sa.text("clock_timestamp()") if required else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=not required, server_default=default)


def upgrade() -> None:
    op.create_table(
        "lease",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        _moment("expires_at", required=True),
    )
    op.create_table(
        "layout",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("body", JSONB, nullable=False),
    )
    op.create_table(
        "segment",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("first_ordinal", sa.BigInteger, nullable=False),
        sa.Column("last_ordinal", sa.BigInteger, nullable=False),
        sa.Column("changes", sa.BigInteger, nullable=False),
        sa.Column("incarnation", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        _moment("published_at", required=True),
        _moment("trimmed_at"),
    )
    op.create_table(
        "replication",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("segment", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("ordinal", sa.BigInteger, nullable=False, server_default="0"),
        _moment("delivered_at"),
        sa.Column("tolerated", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("update_id", sa.BigInteger),
    )
    op.create_table(
        "hold",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        _moment("since", required=True),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        _moment("at", required=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("slave", sa.Text),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False, server_default=""),
    )
    op.create_table(
        "initial_update",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        _moment("started_at", required=True),
        _moment("ended_at"),
        sa.Column("snapshot", sa.Text),
        sa.Column("segment", sa.BigInteger),
        sa.Column("ordinal", sa.BigInteger),
        sa.Column("chunks", sa.Integer, nullable=False, server_default="0"),
        sa.Column("chunks_done", sa.Integer, nullable=False, server_default="0"),
        sa.Column("rows", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_table(
        "point",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        _moment("deadline", required=True),
        sa.Column("snapshot_id", sa.Text),
        sa.Column("segment", sa.BigInteger),
        sa.Column("ordinal", sa.BigInteger),
        sa.Column("closed", sa.Boolean, nullable=False, server_default="false"),
    )
    op.create_table(
        "barrier",
        sa.Column("point", sa.BigInteger, sa.ForeignKey("point.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("passed", sa.Boolean, nullable=False, server_default="false"),
    )
    op.create_table(
        "comparison",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("point", sa.BigInteger, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("slave", sa.Text, nullable=False),
        sa.Column("table", sa.Text, nullable=False),
        sa.Column("compared", sa.BigInteger, nullable=False),
        sa.Column("different", sa.BigInteger, nullable=False),
        sa.Column("sample", JSONB, nullable=False),
        _moment("at", required=True),
        sa.UniqueConstraint("point", "slave", "table"),
    )
