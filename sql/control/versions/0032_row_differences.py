"""The rows that a comparison found different."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.add_column("comparison", sa.Column("body", JSONB, nullable=False, server_default="{}"))
    op.create_table(
        "row_difference",
        sa.Column("comparison", sa.BigInteger, sa.ForeignKey("comparison.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        *(sa.Column(name, JSONB, nullable=False) for name in ("kind", "key", "columns", "ours", "theirs")),
    )
