"""How long the last sweep of a source took, and the last batch of a drain."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column("publisher", sa.Column("sweep_s", sa.Double))
    op.add_column("replication", sa.Column("batch_s", sa.Double))
