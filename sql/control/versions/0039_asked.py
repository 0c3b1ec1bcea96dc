"""When a point was asked for: what was noticed of a table after that, the comparison there does not know."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    now = sa.func.clock_timestamp()
    op.add_column("point", sa.Column("asked", sa.DateTime(timezone=True), nullable=False, server_default=now))
