"""Statements that are executed on every node, and what each node answered."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"


def _now() -> sa.Column:
    return sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()"))


def upgrade() -> None:
    op.create_table(
        "statement",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        _now(),
        sa.Column("sql", sa.Text, nullable=False),
        sa.Column("schema", sa.Text, nullable=False),
        sa.Column("trans_key", sa.Text),
    )
    op.create_table(
        "answer",
        sa.Column("statement", sa.BigInteger, sa.ForeignKey("statement.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False, server_default=""),
        sa.Column("body", JSONB),
        _now(),
    )
