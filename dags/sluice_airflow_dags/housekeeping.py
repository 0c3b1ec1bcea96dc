"""DAG `housekeeping`: delete old runs of our DAGs and their logs, once a day."""

from datetime import timedelta

from airflow.configuration import conf
from airflow.sdk import DAG, DeltaTriggerTimetable

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Delete old runs of Sluice's DAGs, and their logs

Runs that ended more than {days:g} days ago (`keep_runs_days` of the configuration), and the logs of their tasks, where
Airflow keeps these in a directory. Runs of other DAGs are left alone. Nothing of the replication is touched: its
history is the audit trail, in the control store.
"""


def housekeeping(settings: Config) -> DAG | None:
    """The DAG, if old runs are to be deleted."""
    if settings.keep_runs_days is None:
        return None
    with DAG(
        dag_id=settings.dag_id("housekeeping"),
        description="delete old runs of Sluice's DAGs and their logs",
        doc_md=DOC.format(days=settings.keep_runs_days),
        dag_display_name=conventions.display_name(conventions.UPKEEP, "housekeeping"),
        tags=conventions.tags(conventions.UPKEEP),
        schedule=DeltaTriggerTimetable(timedelta(days=1)),
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="housekeeping",
            job="housekeeping",
            arguments={"days": settings.keep_runs_days, "logs": conf.get("logging", "base_log_folder")},
            pool=pools.BULK,
            execution_timeout=conventions.HUNG,
        )
    return dag
