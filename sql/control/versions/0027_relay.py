"""Clients of the relay, and their positions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    now = sa.func.clock_timestamp()
    op.create_table(
        "relay_client",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("filters", JSONB, nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
    )
    op.create_table(
        "relay_position",
        sa.Column("client", sa.Text, sa.ForeignKey("relay_client.name", ondelete="CASCADE"), primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
    )
