"""The newest segment when the last initial update of a slave ended.

Slaves that were filled before count as filled now.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column("replication", sa.Column("filled_at", sa.BigInteger))
    newest = "(SELECT coalesce(max(number), 0) FROM segment WHERE segment.source = replication.source)"
    op.execute(f"UPDATE replication SET filled_at = {newest} WHERE status = 'NORMAL'")
