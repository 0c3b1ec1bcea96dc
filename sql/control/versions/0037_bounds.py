"""Indexes find the audit trail of a replication and the answers that are waited for. Points go at their end."""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_index("audit_of", "audit", ["source", "slave", "id"])
    op.create_index("answer_status", "answer", ["status", "slave"])
    op.get_bind().exec_driver_sql("DELETE FROM point WHERE closed")
    op.drop_column("point", "closed")
