"""What a load in blocks waits for."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("initial_update", sa.Column("waits", sa.Text))
