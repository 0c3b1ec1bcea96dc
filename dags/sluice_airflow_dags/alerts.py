"""DAG `alerts`: tell people what needs one, once when it begins and once when it is over."""

from datetime import timedelta

from airflow.sdk import DAG

from sluice.config.configuration import Config
from sluice.model.names import ALERTS
from sluice_airflow import conventions
from sluice_airflow.airflow_versions import DeltaTriggerTimetable
from sluice_airflow.alert_operator import AlertOperator

DOC = """
### Tell people what needs one

Looks every {every_s:g} s at all replications, and at runs that failed. What `alerts` of the configuration asks for is
told once when it begins, and once when it is over, in one message a look.

**A failed run** may have told nobody; the next one tells it again. No replication waits for this DAG.
"""


def alerts(settings: Config) -> DAG | None:
    """The DAG, if anybody is to be told of anything."""
    if settings.alerts is None:
        return None
    with DAG(
        dag_id=settings.dag_id(ALERTS),
        description="tell people what needs one",
        doc_md=DOC.format(every_s=settings.alerts.every_s),
        dag_display_name=conventions.display_name(conventions.UPKEEP, ALERTS),
        tags=conventions.tags(conventions.UPKEEP),
        schedule=DeltaTriggerTimetable(timedelta(seconds=settings.alerts.every_s)),
        **conventions.DAG_SETTINGS,
    ) as dag:
        # The next look is soon. Receivers that do not answer are waited for one after the other.
        AlertOperator(task_id=ALERTS, job=ALERTS, retries=0, execution_timeout=timedelta(minutes=30))
    return dag
