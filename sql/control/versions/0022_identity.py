"""Which control store this is: a source is captured for one alone."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "identity",
        sa.Column("only_row", sa.Boolean, sa.CheckConstraint("only_row"), primary_key=True, server_default=sa.true()),
        sa.Column("id", UUID(as_uuid=False), nullable=False, server_default=sa.text("gen_random_uuid()")),
    )
    op.execute("INSERT INTO identity DEFAULT VALUES")
