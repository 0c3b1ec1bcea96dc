"""Which tables each source has, so that two of them are known to fill one table of a slave."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "watched",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("schema", sa.Text, primary_key=True),
        sa.Column("table", sa.Text, primary_key=True),
    )
