"""Runs that Airflow is still to be asked for, in one table, whatever asks for them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0023"
down_revision = "0022"

# What asked for runs before, and Airflow had not answered.
_WAITING = (
    """INSERT INTO pending_run SELECT 'decide', source || '__' || slave || '__' || key, source, slave,
       jsonb_build_object('source', source, 'slave', slave, 'change', key)
       FROM question WHERE state = 'WAITING' AND run IS NULL""",
    """INSERT INTO pending_run SELECT 'initial_update', 'after__' || source || '__' || slave || '__' || due,
       source, slave, jsonb_build_object('source', next_source, 'slaves', jsonb_build_array(next_slave),
                          'after', "after" || to_jsonb(source || '->' || slave))
       FROM cascade WHERE due IS NOT NULL AND NOT "after" @> to_jsonb(next_source || '->' || next_slave)""",
    """INSERT INTO pending_run SELECT 'approve_losses', source || '__' || slave || '__' || id, source, slave,
       jsonb_build_object('source', source, 'slave', slave, 'refused', id)
       FROM initial_update, jsonb_array_elements_text(unasked) AS slave""",
)


def upgrade() -> None:
    op.create_table(
        "pending_run",
        sa.Column("dag", sa.Text, primary_key=True),
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("slave", sa.Text, nullable=False),
        sa.Column("conf", JSONB, nullable=False),
    )
    for statement in _WAITING:
        op.execute(statement)
    op.drop_column("question", "run")
    op.drop_column("cascade", "due")
    op.drop_column("initial_update", "unasked")
