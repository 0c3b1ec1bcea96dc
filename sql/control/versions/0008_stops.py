"""Transactions that slaves stand in front of, tables that they are not given, and questions about commands."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "stuck",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("body", JSONB, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    )
    op.create_table(
        "skipped",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("schema", sa.Text, primary_key=True),
        sa.Column("table", sa.Text, primary_key=True),
        sa.Column("changes", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    )
    op.create_table(
        "question",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("key", sa.BigInteger, primary_key=True),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("table", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
        sa.Column("run", sa.Text),
    )
