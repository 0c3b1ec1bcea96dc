"""Which source executed a statement: another one cannot tell what became of it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("statement", sa.Column("incarnation", sa.Text))
