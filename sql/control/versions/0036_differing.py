"""What is known to differ, until it is known to be equal."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

# Of each table the last comparison of all rows, and what later ones of some rows found.
_KNOWN = """
INSERT INTO differing (source, slave, "table", scope, rows, ordinal)
SELECT source, slave, "table", '', different, coalesce((body ->> 'ordinal')::bigint, 0) FROM (
    SELECT DISTINCT ON (source, slave, "table") source, slave, "table", different, body FROM comparison
    WHERE NOT body ?| ARRAY['within', 'only'] AND coalesce((body ->> 'percent')::float8, 100) >= 100
    ORDER BY source, slave, "table", point DESC) AS last
WHERE different > 0
"""


def upgrade() -> None:
    op.create_table(
        "differing",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("source", "slave", "table", "scope")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("rows", "ordinal")),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.clock_timestamp()),
    )
    op.get_bind().exec_driver_sql(_KNOWN)
