"""How far publishers are, for the lag of an idle source and for metrics, and how replications were, for charts."""

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
    op.create_table(
        "history",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("source", "slave")),
        sa.Column("hourly", sa.Boolean, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("lag_s", sa.Double, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("holdback", "ordinal")),
    )
    # The publisher says so again every few minutes.
    op.execute(
        "INSERT INTO publisher (source, log_bytes, changes) SELECT source,"
        " coalesce(sum(bytes) FILTER (WHERE trimmed_at IS NULL), 0), sum(changes) FROM segment GROUP BY source"
    )
