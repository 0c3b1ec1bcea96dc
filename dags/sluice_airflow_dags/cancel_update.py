"""DAG `cancel_update`: end initial updates that are under way. Who may trigger it is Airflow's to say."""

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### End the initial updates of slaves

It begins at once, however busy everything is. The slaves become INCONSISTENT first; then the runs that are at work for
them are marked as failed, and what still writes to them is fenced out. Other slaves of the same update go on, and so
does its run then. A slave that no update is under way for is left as it is.

Their tables stay as far as they came. Trigger `initial_update` again, with `resume` if the chunks that are in may stay;
its `force` cancels by itself.

* **source**: the master database
* **slaves**: the slaves whose updates are to end
"""


def cancel_update(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("cancel_update"),
        description="end initial updates that are under way",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.COMMAND, "cancel_update"),
        tags=conventions.tags(conventions.COMMAND),
        schedule=None,
        params={**trigger_form.source(settings), **trigger_form.slaves(settings)},
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="cancel",
            job="cancel",
            command=True,
            arguments={**conventions.params("source", slave="slaves"), "who": conventions.WHO},
            pool=pools.RESERVED,
        )
    return dag
