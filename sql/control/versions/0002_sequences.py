"""How far sequences had come when a segment was published."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("segment", sa.Column("sequences", JSONB, nullable=False, server_default="[]"))
