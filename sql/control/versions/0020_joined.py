"""Slaves that have all that an update brings, for whoever tries it again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("joined", JSONB))
