"""DAG `initial_update`: fill slaves from their master while it keeps working."""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TriggerRule

from sluice import shell
from sluice.config import pools
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = f"""
### Fill slaves with everything, then let the changes follow

**The rows that the slaves have in their watched tables are replaced.**

| task | what it does | afterwards |
|---|---|---|
| `inhibit` | refuses what cannot be, changing nothing; shuts gates, clears holdbacks | INITIAL, dispatcher STANDBY |
| `dump` | copies the watched tables out of one snapshot to all the slaves | INITIAL, dispatcher STANDBY |
| `release` | opens the gates: changes newer than the snapshot are delivered | TRANSITION, dispatcher ACTIVE |
| `blocks` | mode `online` alone: loads block by block, while the stream goes on | TRANSITION, dispatcher ACTIVE |
| `verify` | compares value by value at one point of the stream; waits for a slave that is not there yet | NORMAL |
| `abandon` | only if one of these failed | INCONSISTENT |

The master keeps working all along, and one dump serves all the slaves. An `ALTER TABLE` of a table that is being read
waits, and whatever comes after it for that table waits behind it: the application, too. So begin it with
`SET lock_timeout = '2s'`, and repeat it if it fails. Where it waits longer than `yields_after_s`, `dump` gives way, and
goes on later. Tables that a slave lacks are created.
After a failure fix the cause and trigger this DAG again.

* **source**, **slaves**: the master database, and the slaves to fill
* **tables**: those to fill, of slaves that are NORMAL; the others keep their rows, and follow meanwhile. None: all
* **mode**: `snapshot`, chunks of one snapshot; `external`, programs bring the rows (`initial_program`); `online`, the
  stream begins with empty tables, and rows come in blocks, each at a point of it: for the largest tables, or, with
  **key_ranges**, for rows such as `public.legs: 2013, 'UA' .. 2013, 'WN'` alone
* **store_initial_data**: `dump` stores it in a new directory. Somebody copies that to each slave's place, where the DAG
  `receive_initial_files` loads it. Until then the slave is in TRANSITION, its gate is shut (see
  `{shell.sluice("status")}`)
* **version**: an older one of the source's data, which was kept; the changes since then follow
* **resume**: go on where an update broke off, in its mode, as a task that is tried again does; what cannot begins anew
* **force**: cancel the updates that these slaves are in, which else refuse this run. Alone: the DAG `cancel_update`
* **cascade**: a replication that is filled when these slaves are NORMAL, now and from now on; `none` forgets it
"""

UPDATE = conventions.params("source", slave="slaves")
HOW = conventions.params("mode", "resume", "version", store="store_initial_data")
WANTED = HOW | conventions.params("tables", "key_ranges", "force", "cascade") | {"after": conventions.run_conf("after")}


def initial_update(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("initial_update"),
        description="fill slaves from their master while it keeps working",
        doc_md=DOC,
        tags=conventions.tags(conventions.OPERATION),
        schedule=None,
        params={
            **trigger_form.source(settings, " Its rows replace those of the slaves."),
            **trigger_form.slaves(settings, " The rows in their watched tables are replaced."),
            **trigger_form.tables(settings, what="is filled"),
            **trigger_form.initial_update(settings),
        },
        **conventions.beside(settings),
    ) as dag:
        inhibit, release = (
            SluiceSparkOperator(
                task_id=job, job=job, arguments={**UPDATE, **more}, pool=pools.RESERVED, command=command
            )
            for job, more, command in (("inhibit", WANTED, True), ("release", {}, False))
        )
        # It gives way to an ALTER TABLE as often as there is one.
        dump = conventions.patient("dump", {**UPDATE, **HOW})
        blocks = conventions.patient("blocks", UPDATE, only_if="{{ params.mode == 'online' }}")
        compared = {**UPDATE, **conventions.params("tables", "key_ranges")}
        verify = conventions.ending_verification(compared, "{{ ti.xcom_pull(task_ids='inhibit')['update'] }}")
        steps = [inhibit, dump, release, blocks, verify]
        ended = {**UPDATE, "why": conventions.failure(*(step.task_id for step in steps))}
        abandon = SluiceSparkOperator(
            task_id="abandon", job="abandon", arguments=ended, pool=pools.RESERVED, trigger_rule=TriggerRule.ONE_FAILED
        )
        # A run is judged by its last tasks, and `abandon` succeeds when the update failed.
        finished = EmptyOperator(task_id="finished")

        inhibit >> dump >> release >> blocks >> verify >> finished
        steps >> abandon
    return dag
