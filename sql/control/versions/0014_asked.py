"""What else was chosen for an initial update that is to be asked for again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("asked", JSONB))
