"""DAG `administer`: let a slave go on without what it does not take. Who may trigger it is Airflow's to say."""

from airflow.sdk import DAG

from sluice import shell
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = f"""
### Let a slave that an error stopped go on without what it does not take

`{shell.sluice("status")}` names the transaction that a slave on STANDBY (EXCEPTION) stands in front of. First try
to fix the cause. If that cannot be, choose one of these; then unpause its drain. Who triggered this is in the audit
trail.

* **source**, **slave**: the replication
* **remove_first**: the ordinal of that transaction, which is kept aside (`{shell.sluice("rejected")}`)
* **skip**: a table of the master that is left out until the slave is filled anew
* **clear_queue**: discard everything that waits for the slave. It is INCONSISTENT then, and is to be filled again
* **rejected**: carry changes out that the slave rejected, or forget them: the **numbers**, or all up to **through**
* **remove**: take the replication out of the control store and of the slave. Put it on standby first, and take it out
  of the configuration afterwards
"""


def administer(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("administer"),
        description="let a slave go on without a transaction or a table, clear its queue, or remove it",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.COMMAND, "administer"),
        tags=conventions.tags(conventions.COMMAND),
        schedule=None,
        params={
            **trigger_form.source(settings),
            **trigger_form.slave(settings),
            "remove_first": trigger_form.optional(
                "integer",
                minimum=0,
                title="Transaction to remove",
                description=f"The ordinal that {shell.status()} names. It is kept aside, and can be carried out later.",
            ),
            "skip": trigger_form.optional(
                "string",
                title="Table to leave out",
                description="As schema.table, by its name on the master. It stays out until the slave is filled anew.",
            ),
            "clear_queue": trigger_form.switch(
                "Clear queue",
                "Discard all transactions that wait for the slave now. It lacks them, and is to be filled again.",
            ),
            "rejected": trigger_form.choice(
                {None: "nothing", "carry_out": "carry them out, as they were", "drop": "forget them"},
                title="Rejected changes",
                description="All that are kept, or those named below.",
            ),
            "numbers": trigger_form.optional(
                "array", items={"type": "string"}, title="Numbers", description="One a line."
            ),
            "through": trigger_form.optional("integer", title="Up to", description="No later ones than this number."),
            "remove": trigger_form.choice(
                {
                    None: "nothing",
                    "position": "the replication; its tables on the slave stay",
                    "tables": "the replication, and its tables on the slave",
                    "store": "the replication; the slave is left as it is",
                },
                section=trigger_form.ADVANCED,
                title="Remove",
                description="For ever. Its audit trail stays.",
            ),
        },
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="administer",
            job="administer",
            command=True,
            arguments={
                **conventions.params("source", "slave", "skip", "clear_queue", "remove"),
                **conventions.params("rejected", "numbers", "through"),
                "remove_first": "{{ params.remove_first or None }}",
                "who": conventions.WHO,
            },
        )
    return dag
