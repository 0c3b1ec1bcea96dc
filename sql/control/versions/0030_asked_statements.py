"""Statements that a person asks for on a page: how they are to be executed, and whether their run has begun."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    for name in ("varying", "hurried"):
        op.add_column("statement", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false()))
    # Those before had begun when they were written down.
    op.add_column("statement", sa.Column("begun", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("statement", sa.Column("max_rows", sa.Integer, nullable=False, server_default="10"))
    op.add_column("statement", sa.Column("run", sa.Text, nullable=False, server_default=""))
