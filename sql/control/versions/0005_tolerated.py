"""Rows that were not as expected, table by table."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "tolerated",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("slave", sa.Text, primary_key=True),
        sa.Column("schema", sa.Text, primary_key=True),
        sa.Column("table", sa.Text, primary_key=True),
        sa.Column("missing", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("duplicate", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.drop_column("replication", "tolerated")
