"""Older versions of a source's data in a table of their own: they were transfers that no slave waits for."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "kept_version",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("kind", sa.BigInteger, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("url", "name", "sha256")),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("update_id", "files", "segment", "ordinal")),
    )
    # They posed as slaves that were called `PREFIX_Ver_VERSION#KIND`.
    posing = "slave ~ '^.+_Ver_.+#[0-9]+$' AND ordinal IS NOT NULL"
    op.execute(
        "INSERT INTO kept_version SELECT source, regexp_replace(slave, '^.*?_Ver_(.+)#[0-9]+$', '\\1'),"
        " regexp_replace(slave, '^.*#', '')::bigint, url, name, sha256, update_id, files, segment, ordinal"
        f" FROM transfer WHERE {posing}"
    )
    op.execute(f"DELETE FROM transfer WHERE {posing}")
