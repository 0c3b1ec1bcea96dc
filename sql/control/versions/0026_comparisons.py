"""The last comparison of a slave is found by an index."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_index("comparison_last", "comparison", ["source", "slave", "point"])
