"""How far an initial update is: bytes, rate and time left."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    for name in ("bytes", "bytes_planned", "rows_per_s", "seconds_left"):
        op.add_column("initial_update", sa.Column(name, sa.BigInteger))
