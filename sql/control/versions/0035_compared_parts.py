"""The parts of a comparison that broke off, for the next try of its run."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "compared_part",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("run", "source", "slave", "table")),
        sa.Column("number", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("plan", "shape")),
        sa.Column("body", JSONB, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("segment", "ordinal")),
        sa.Column("found", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.clock_timestamp()),
    )
