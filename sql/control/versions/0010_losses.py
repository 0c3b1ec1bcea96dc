"""What people allowed the columns of slaves to lose."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "allowed_loss",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("schema", sa.Text, primary_key=True),
        sa.Column("table", sa.Text, primary_key=True),
        sa.Column("column", sa.Text, primary_key=True),
        sa.Column("cast", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    )
