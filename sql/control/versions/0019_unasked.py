"""Slaves that people are still to be asked about, since Airflow did not answer when their update was refused."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("unasked", JSONB, nullable=False, server_default="[]"))
