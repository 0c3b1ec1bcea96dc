"""What is filled once a replication has been."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "cascade",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("next_source", sa.Text, nullable=False),
        sa.Column("next_slave", sa.Text, nullable=False),
        sa.Column("after", JSONB, nullable=False),
        sa.Column("due", sa.BigInteger),
    )
