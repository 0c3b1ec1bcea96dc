"""DAG `housekeeping`: delete old runs of our DAGs, their logs, and old records of the control store, once a day."""

from datetime import timedelta

from airflow.configuration import conf
from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions
from sluice_airflow.airflow_versions import DeltaTriggerTimetable
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Delete old runs of Sluice's DAGs, their logs, and old records

| what | kept for, in days | setting |
|---|---|---|
| runs, logs of their tasks in a directory, rows that comparisons found | {runs} | `keep_runs_days` |
| reports of comparisons, statements, ended initial updates | {records} | `keep_records_days` |
| the audit trail | {audit} | `keep_audit_days` |

Runs of other DAGs are left alone. No replication is touched.
"""


def housekeeping(settings: Config) -> DAG | None:
    """The DAG, if anything old is to be deleted."""
    if not settings.keeps_house:
        return None
    kept = {"runs": settings.keep_runs_days, "records": settings.keep_records_days, "audit": settings.keep_audit_days}
    with DAG(
        dag_id=settings.dag_id("housekeeping"),
        description="delete old runs of Sluice's DAGs, their logs, and old records",
        doc_md=DOC.format(**{name: f"{days:g}" if days else "ever" for name, days in kept.items()}),
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
