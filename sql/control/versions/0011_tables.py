"""Tables that an initial update is for, if these are not all."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("tables", JSONB))
