"""DAGs `verify__<source>__whole` and `verify__<source>__sample`: compare the slaves of a source at set times."""

from collections.abc import Mapping

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions
from sluice_airflow.airflow_versions import CronTriggerTimetable
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Compare the slaves of `{source}` with it, at {when} (UTC)

{scope}, of all watched tables, at one point of the stream, while everything keeps running.
If rows differ, the run **fails** with SLC-090, and what you have for failed runs tells you. The page
*Comparisons* shows the rows, and leads to their repair.

A slave that is being filled, or that is INCONSISTENT, is not compared: the run fails with SLC-020, after the others
were compared. The DAG `verify` does the same at once, for slaves and tables of your choice.
"""


def compare(settings: Config, source: str) -> list[DAG]:
    """The DAGs of a source, those that its settings ask for."""
    return [_compare(settings, source, names, *each) for names, each in settings.comparisons(source).items()]


def _compare(settings: Config, source: str, names: tuple[str, ...], when: str, asked: Mapping[str, object]) -> DAG:
    with DAG(
        dag_id=settings.dag_id(*names),
        description=f"compare the slaves of {source} with it: {names[-1]}",
        doc_md=DOC.format(source=source, when=when, scope=_scope(asked)),
        tags=conventions.source_tags(conventions.UPKEEP, source, settings.source(source)),
        schedule=CronTriggerTimetable(when, timezone="UTC"),
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="verify",
            job="verify",
            arguments={"source": source, "slave": settings.slaves_of(source), **asked},
            pool=pools.BULK,
        )
    return dag


def _scope(asked: Mapping[str, object]) -> str:
    if "at_most" in asked:
        return f"As many keys are compared as it takes to say that fewer than {asked['at_most']} of the rows differ"
    return f"{asked['sample']} percent of the keys are compared" if "sample" in asked else "All rows are compared"
