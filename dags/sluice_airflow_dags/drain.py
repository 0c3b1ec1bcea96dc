"""DAGs `drain__<source>__<slave>`: the change log of a master goes to one slave. The DAG's pause switch is its gate."""

from datetime import timedelta

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config, Replication
from sluice_airflow import conventions
from sluice_airflow.airflow_versions import AssetOrTimeSchedule, DeltaTriggerTimetable
from sluice_airflow.failures import KeepTrying
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Deliver the changes of `{source}` to `{slave}`

Reads the change log from the position that is kept in the slave, and applies it in whole transactions; the position
commits together with the data. A run starts within seconds when something was published, and in any case every
{every_s} s. It ends when nothing came for {run_for_s:g} s. Its **note** says where the slave stands.

A run that had nothing to do because the gate is shut, or whose slave did not answer, is **skipped**; its note says why.

**Pausing** this DAG puts the dispatcher of `{slave}` on standby: a running drain stops at its next batch. Nothing is
lost; the slave catches up after unpausing.

**A terminal error** (a value the slave cannot hold, a missing column ...) fails the run, and the DAG pauses itself.
Read the error and its HINT in the run's note or the task's log, fix the cause, and unpause.

**A slave that does not answer** does not pause anything: the next run tries again.
"""


def drain(settings: Config, replication: Replication) -> DAG:
    """The DAG of a replication."""
    source, slave, schedule = replication.source, replication.slave, replication.schedule
    with DAG(
        dag_id=settings.dag_id("drain", source, slave),
        description=f"changes of {source}: the change log to {slave}",
        doc_md=DOC.format(source=source, slave=slave, **schedule.model_dump()),
        tags=conventions.source_tags(conventions.PIPELINE, source, settings.source(source), f"slave:{slave}"),
        # One run at a time: what is published meanwhile asks for one more run, however often it happens.
        schedule=AssetOrTimeSchedule(
            timetable=DeltaTriggerTimetable(timedelta(seconds=schedule.every_s)),
            assets=[conventions.change_log_asset(source)],
        ),
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="drain",
            job="drain",
            arguments={"source": source, "slave": slave},
            skip_if="idle",
            patience=2,
            pool=pools.DRAIN,
            retries=conventions.NO_LIMIT,
            retry_delay=timedelta(seconds=5),
            retry_policy=KeepTrying(),
            execution_timeout=conventions.HUNG,
        )
    return dag
