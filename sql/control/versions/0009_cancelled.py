"""Slaves for which somebody cancelled an initial update."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("cancelled", JSONB, nullable=False, server_default="[]"))
