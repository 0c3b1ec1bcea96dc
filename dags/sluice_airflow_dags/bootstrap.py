"""DAG `bootstrap`: install or reconcile what Sluice needs on a source."""

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Install or reconcile the DbResources of a source

Creates what is missing on the master, under the source's prefix: the queue table ITEMS, the registry TABLES, the
sequence, the functions, and one generated trigger function for each watched table. Everything happens in one
transaction; nothing that exists is dropped. A second run changes nothing. A table of the configuration that does not
exist is named in the result (`unwatched`), and captured when it is made.

Run it after you add a table to the configuration. `initial_update` does the same by itself.

* **source**: the master database
* **recreate_triggers**: replace the triggers and their functions, for example after an upgrade of Sluice
* **rebase**: only after SLC-048 or SLC-299, when the master was restored from a backup or failed over, or the
  control store was lost: accept it as it is now.
  All its slaves become INCONSISTENT; trigger `initial_update` for them next
"""


def bootstrap(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("bootstrap"),
        description="install or reconcile what Sluice needs on a source",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.COMMAND, "bootstrap"),
        tags=conventions.tags(conventions.COMMAND),
        schedule=None,
        params={
            **trigger_form.source(settings),
            "recreate_triggers": trigger_form.switch(
                "Recreate triggers", "Replace the triggers that exist, and their functions."
            ),
            "rebase": trigger_form.switch(
                "Rebase",
                "Only after SLC-048 or SLC-299: accept a master that was restored or failed over, or whose control "
                "store was lost. Its slaves become INCONSISTENT.",
                section=trigger_form.ADVANCED,
            ),
        },
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="bootstrap",
            job="bootstrap",
            command=True,
            arguments=conventions.params("source", "recreate_triggers", "rebase"),
            pool=pools.BULK,
            execution_timeout=conventions.HUNG,
        )
    return dag
