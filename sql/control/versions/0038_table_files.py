"""What a drain has left the files of a slave's tables as: others that empty or replace one are noticed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.create_table(
        "table_files",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("source", "slave")),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("files", JSONB, nullable=False),
    )
