"""DAG `upgrade_master`: a new major version of a PostgreSQL master without filling its slaves again."""

from airflow.sdk import DAG, Param

from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Upgrade the server of a PostgreSQL master

Trigger it with the step **before** while applications write. It publishes what is queued and notes what the server is;
from then on triggers collect changes, and nothing is published. Stop the server, run `pg_upgrade` (the new server needs
no `pg_restore`, and no slot), start the new one, and let the connection lead to it.

Then trigger it with the step **after**. It takes the new server only if it goes on from the old one: the record of the
last segment, the transaction ids, the keys and the triggers. Else nothing is changed (SLC-962). Slaves go on where
they were, and are not filled again. On the old server the step **after** gives the upgrade up.

A **logical copy**, as a blue/green switch makes one, has other transaction ids. Stop all writers before the step
*before*, copy, and go on with the step *after_copy* before anybody writes to the copy. Sluice is installed on it anew,
and slaves are *to be compared*: trigger `verify`.

In clouds this is experimental: we ran it on servers of our own.

* **source**: the master database
* **step**: before or after the upgrade
* **events_aside**: drop Sluice's event triggers until the step *after*, where a provider demands that. Do not alter
  tables meanwhile
"""
_STEPS = {
    "before": "before: publish what is queued, then wait",
    "after": "after: go on with the new server",
    "after_copy": "after: go on with a logical copy",
}


def upgrade_master(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("upgrade_master"),
        description="a new major version of a PostgreSQL master, without filling slaves again",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.COMMAND, "upgrade_master"),
        tags=conventions.tags(conventions.COMMAND),
        schedule=None,
        params={
            **trigger_form.source(settings),
            "step": Param(
                type="string",
                enum=list(_STEPS),
                values_display=_STEPS,
                title="Step",
                description="On which side of the upgrade.",
            ),
            "events_aside": trigger_form.switch(
                "Event triggers aside",
                "With `before`: drop Sluice's event triggers until `after`, where a provider demands that.",
                section=trigger_form.ADVANCED,
            ),
        },
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="upgrade_master",
            job="upgrade_master",
            command=True,
            arguments={**conventions.params("source", "step", "events_aside"), "who": conventions.WHO},
            pool=pools.BULK,
            execution_timeout=conventions.HUNG,
        )
    return dag
