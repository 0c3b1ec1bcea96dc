"""How far each table of an initial update is."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("by_table", JSONB))
