"""DAG `initial_update`: fill slaves from their master while it keeps working."""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TriggerRule

from sluice import config
from sluice_airflow import conventions, pools
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Fill slaves with everything, then let the changes follow

| task | what it does | afterwards |
|---|---|---|
| `inhibit` | closes the slaves' gates, clears their holdback; refuses paused drains | INITIAL, dispatcher STANDBY |
| `dump` | copies the watched tables out of one snapshot to all the slaves | INITIAL, dispatcher STANDBY |
| `release` | opens the gates: changes newer than the snapshot are delivered | TRANSITION, dispatcher ACTIVE |
| `verify` | compares value by value at one point of the stream; waits for a slave that is not there yet | NORMAL |
| `abandon` | only if one of these failed | INCONSISTENT |

The master keeps working all along, and one dump serves all the slaves. Tables that a slave lacks are created;
**what its watched tables hold now is replaced**. After a failure, mend the cause and trigger this DAG again.

* **source**: the master database
* **slaves**: the slaves to fill
"""

settings = config.load()
UPDATE = {"source": "{{ params.source }}", "slave": "{{ params.slaves }}"}

with DAG(
    dag_id="initial_update",
    description="fill slaves from their master while it keeps working",
    doc_md=DOC,
    tags=["sluice", "initial_update"],
    schedule=None,
    params={"source": conventions.source_param(settings), "slaves": conventions.slaves_param(settings)},
    **conventions.DAG_SETTINGS,
):
    inhibit, dump, release = (
        SluiceSparkOperator(task_id=job, job=job, arguments=UPDATE, pool=pools.BULK)
        for job in ("inhibit", "dump", "release")
    )
    # The data is in: what passes, and a slave that is behind, paused or on standby, is waited for.
    verify = SluiceSparkOperator(
        task_id="verify",
        job="verify",
        arguments={**UPDATE, "initial": True},
        pool=pools.BULK,
        retries=conventions.NO_LIMIT,
        retry_policy=conventions.KeepTrying(),
    )
    abandon = SluiceSparkOperator(
        task_id="abandon",
        job="abandon",
        arguments=UPDATE,
        pool=pools.BULK,
        trigger_rule=TriggerRule.ONE_FAILED,
    )
    # A run is judged by its last tasks. `abandon` succeeds when the update failed, so it cannot be the only one.
    finished = EmptyOperator(task_id="finished")

    inhibit >> dump >> release >> verify >> finished
    [inhibit, dump, release, verify] >> abandon
