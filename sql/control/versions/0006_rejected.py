"""Changes that slaves did not carry out, since their rows were not as expected."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "rejected",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("slave", sa.Text, nullable=False),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("repl_key", sa.BigInteger, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("layout", JSONB, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("new", JSONB),
        sa.Column("old", JSONB),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
        sa.UniqueConstraint("source", "slave", "repl_key", "part"),
    )
