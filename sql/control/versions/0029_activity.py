"""How many rows change in each table."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "activity",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("source", "schema", "table")),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("inserts", "updates", "deletes")),
    )
