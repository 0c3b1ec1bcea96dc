"""DAG `administer`: let a slave go on without what it does not take. Who may trigger it is Airflow's to say."""

from airflow.sdk import DAG, Param

from sluice import config
from sluice_airflow import conventions
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Let a slave that an error stopped go on without what it does not take

`./sluice status` names the transaction that a slave on STANDBY (EXCEPTION) stands in front of. First try to mend the
cause. If that cannot be, choose one of these; then unpause its drain. Who triggered this is in the audit trail.

* **source**, **slave**: the replication
* **remove_first**: the ordinal of that transaction, which is kept aside (`./sluice rejected`); 0: none
* **skip**: a table of the master that is left out until the slave is filled anew; empty: none
"""

settings = config.load()

with DAG(
    dag_id=settings.dag_id("administer"),
    description="let a slave go on without a transaction, or without a table",
    doc_md=DOC,
    tags=["sluice", "administer"],
    schedule=None,
    params={
        "source": conventions.source_param(settings),
        "slave": conventions.slave_param(settings),
        "remove_first": Param(0, type="integer", minimum=0, description="ordinal of the transaction; 0: none"),
        "skip": Param("", type="string", description="schema.table, as the master calls it; empty: none"),
    },
    **conventions.DAG_SETTINGS,
):
    SluiceSparkOperator(
        task_id="administer",
        job="administer",
        arguments={
            **conventions.chosen("source", "slave", "skip"),
            "remove_first": "{{ params.remove_first or None }}",
            "who": conventions.WHO,
        },
    )
