"""Where the log goes on from initial data that is in files, whatever becomes of the update that stored it."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    for name in ("segment", "ordinal"):
        op.add_column("transfer", sa.Column(name, sa.BigInteger))
    known = "SELECT segment, ordinal FROM initial_update WHERE id = update_id"
    op.execute(f"UPDATE transfer SET (segment, ordinal) = ({known})")
