"""DAG `verify`: compare slaves with their master, value by value."""

from airflow.sdk import DAG, Param

from sluice import config
from sluice_airflow import conventions, pools
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Compare slaves with their master

Both sides are compared value by value at one point of the stream that both have reached, while everything keeps
running. The task's result (XCom) holds the rows compared, the rows that differ, and why.

* **source**, **slaves**: what to compare
* **tables**: nothing chosen means every watched table
* **sample**: percent of the keys that are compared
"""

settings = config.load()

with DAG(
    dag_id=settings.dag_id("verify"),
    description="compare slaves with their master, value by value",
    doc_md=DOC,
    tags=["sluice", "verify"],
    schedule=None,
    params={
        "source": conventions.source_param(settings),
        "slaves": conventions.slaves_param(settings),
        "tables": conventions.tables_param(settings),
        "sample": Param(100, type="integer", minimum=1, maximum=100, description="percent of the keys"),
    },
    **conventions.DAG_SETTINGS,
):
    SluiceSparkOperator(
        task_id="verify",
        job="verify",
        arguments=conventions.chosen("source", "tables", "sample", slave="slaves"),
        pool=pools.BULK,
    )
