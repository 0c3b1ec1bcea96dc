"""DAGs `publish__<source>`: what was captured on a master goes into its change log."""

from datetime import timedelta

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions
from sluice_airflow.airflow_versions import DeltaTriggerTimetable
from sluice_airflow.failures import KeepTrying
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Publish the changes of `{source}`

Takes whole transactions from where changes wait at the source (ITEMS, a slot, or its binary log), appends them to the
change log, and then removes from the source exactly the transactions that the log has on disk. Of a binary log it
removes nothing.

A run starts every {every_s} s and stays up for {run_for_s:g} s, looking every {poll_s:g} s. It asks for a drain run of
each slave that lacks something and has none; when it ends after it published something, it tells so with an event of
the asset `sluice://{source}/changelog`. Its **note** says how far the log is.

**Pausing** this DAG stops publishing. Changes wait at the source. In the end ITEMS or a slot fill its disk, and a
binary log is purged.

**A failed run** does not stop anything: the next one starts by itself, and takes up where this one ended.
"""


def publish(settings: Config, source: str) -> DAG:
    """The DAG of a source."""
    entry = settings.source(source)
    schedule = entry.schedule
    with DAG(
        dag_id=settings.dag_id("publish", source),
        description=f"changes of {source}, into the change log",
        doc_md=DOC.format(source=source, **schedule.model_dump()),
        tags=conventions.source_tags(conventions.PIPELINE, source, entry),
        schedule=DeltaTriggerTimetable(timedelta(seconds=schedule.every_s)),
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="publish",
            job="publish",
            arguments={"source": source},
            outlets=[conventions.change_log_asset(source)],
            outlet_if="transactions",
            skip_if="idle",
            pool=pools.PUBLISH,
            retries=5,
            retry_delay=timedelta(seconds=5),
            retry_policy=KeepTrying(),
            execution_timeout=conventions.HUNG,
        )
    return dag
