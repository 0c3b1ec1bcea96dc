"""A question has what of a command the slave does not make by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.add_column("question", sa.Column("doubts", sa.ARRAY(sa.Text), nullable=False, server_default="{}"))
