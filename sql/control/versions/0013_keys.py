"""Ranges of keys that an initial update is for, if these are not whole tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("keys", JSONB))
