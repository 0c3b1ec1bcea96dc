"""Initial data that was carried to a slave and is in, while its gate is still shut."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("transfer", sa.Column("rows", sa.BigInteger))
