"""DAG `receive_initial_files`: load initial data that was carried to a slave by hand."""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.arrival import ArrivalSensor
from sluice_airflow.operator import SluiceSparkOperator
from sluice_airflow.reactivation import Reactivation

DOC = """
### The other half of a manual transfer

`initial_update` with *store_initial_data* left a directory at the master's place. Somebody copies it to the slave's.

| task | what it does | afterwards |
|---|---|---|
| `expected` | tells which directory the slave waits for, and how many files | TRANSITION, dispatcher STANDBY |
| `arrived` | waits until all are there and have settled; takes no worker's slot, for up to 30 days | the same |
| `receive` | checks every file, then loads them; does not ask the master | the same |
| `approve` | asks somebody (*Required actions*), if the slave's `reactivation` is `approval` | the same |
| `release` | opens the gate: changes newer than the dump are delivered | TRANSITION, dispatcher ACTIVE |
| `verify` | compares value by value at one point of the stream | NORMAL |

Trigger it before the files are there, and it starts with them; or afterwards, when you want it to start. Whatever fails
here leaves the slave waiting: fix the cause and trigger it again. What is loaded already is not loaded again.
So it is with a slave that somebody left waiting in `approve`: triggered again, this DAG asks again.

* **source**, **slave**: which one
"""

SLAVE = conventions.params("source", "slave")
LOADED = "ti.xcom_pull(task_ids='receive')"


def receive_initial_files(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("receive_initial_files"),
        description="load initial data that was carried to a slave by hand",
        doc_md=DOC,
        tags=conventions.tags(conventions.OPERATION),
        schedule=None,
        params={**trigger_form.source(settings), **trigger_form.slave(settings)},
        **conventions.beside(settings),
    ) as dag:
        update = f"{{{{ {LOADED}['update'] }}}}"
        asked = f"{{{{ {LOADED}['ask'] }}}}"
        expected, receive, release = (
            SluiceSparkOperator(task_id=job, job=job, pool=pool, **more)
            for job, pool, more in (
                ("expected", pools.RESERVED, {"arguments": SLAVE}),
                ("receive", pools.BULK, {"arguments": SLAVE}),
                (
                    "release",
                    pools.RESERVED,
                    {"arguments": {**SLAVE, "approved": update}, "answer_of": "approve", "if_asked": asked},
                ),
            )
        )
        arrived = ArrivalSensor(
            task_id="arrived",
            expected="{{ ti.xcom_pull(task_ids='expected') }}",
            timeout=conventions.IN_THE_POST,
        )
        approve = Reactivation(
            task_id="approve",
            only_if=asked,
            subject=f"{{{{ {LOADED}['subject'] }}}}",
            body=f"{{{{ {LOADED}['body'] }}}}",
            response_timeout=conventions.ANSWERED_WITHIN,
        )
        verify = conventions.ending_verification(SLAVE, update)
        finished = EmptyOperator(task_id="finished")

        expected >> arrived >> receive >> approve >> release >> verify >> finished
    return dag
