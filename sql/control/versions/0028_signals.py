"""How far publishers are, for the lag of an idle source and for metrics."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    counters = ("queued", "log_bytes", "changes")
    op.create_table(
        "publisher",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("behind_s", sa.Double, nullable=False, server_default="0"),
        *(sa.Column(name, sa.BigInteger, nullable=False, server_default="0") for name in counters),
        *(sa.Column(name, sa.DateTime(timezone=True)) for name in ("noted_at", "due_at")),
    )
    # The publisher says so again every few minutes.
    op.execute(
        "INSERT INTO publisher (source, log_bytes, changes) SELECT source,"
        " coalesce(sum(bytes) FILTER (WHERE trimmed_at IS NULL), 0), sum(changes) FROM segment GROUP BY source"
    )
