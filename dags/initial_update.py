"""DAG `initial_update`: fill slaves from their master while it keeps working."""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Param, TriggerRule

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
| `blocks` | mode `markers` alone: loads block by block, while the stream goes on | TRANSITION, dispatcher ACTIVE |
| `verify` | compares value by value at one point of the stream; waits for a slave that is not there yet | NORMAL |
| `abandon` | only if one of these failed | INCONSISTENT |

The master keeps working all along, and one dump serves all the slaves. Tables that a slave lacks are created;
**what its watched tables hold now is replaced**. After a failure, mend the cause and trigger this DAG again, with
`resume` if the chunks that are in may stay.

* **source**, **slaves**: the master database, and the slaves to fill
* **tables**: those to fill, of slaves that are NORMAL; the others keep their rows, and follow meanwhile. None: all
* **mode**: `snapshot`, chunks are copied out of one snapshot; `external`, programs bring the rows (`initial_program`);
  `markers`, the stream begins with empty tables, and rows come in blocks, each at a point of it: for the largest tables
* **store_initial_data**: `dump` stores it in files, in a new directory. Somebody copies that to each slave's place,
  where the DAG `receive_initial_files` loads it. Until then the slave is in TRANSITION, its gate is shut
  (`./sluice status` names the directory), and the change log keeps what it needs
* **version**: an older one of the source's data, which was kept; the changes since then follow
* **resume**: go on where an update broke off, as a task that is tried again does; what cannot begins anew
* **force**: cancel the updates that these slaves are in, and data that is on its way to them in that manner; else this
  run is refused, and changes nothing. To cancel alone: the DAG `cancel_update`
* **cascade**: a replication that is filled when these slaves are NORMAL, now and from now on; `none` forgets it
"""

settings = config.load()
UPDATE = conventions.chosen("source", slave="slaves")

with DAG(
    dag_id="initial_update",
    description="fill slaves from their master while it keeps working",
    doc_md=DOC,
    tags=["sluice", "initial_update"],
    schedule=None,
    params={
        "source": conventions.source_param(settings),
        "slaves": conventions.slaves_param(settings),
        "tables": conventions.tables_param(settings),
        "mode": Param("snapshot", type="string", enum=["snapshot", "external", "markers"], description="how rows come"),
        "store_initial_data": Param(False, type="boolean", description="into files, carried to the slaves by hand"),
        "version": Param("", type="string", description="prefix_Ver_x; empty: the newest"),
        "resume": Param(False, type="boolean", description="go on where an earlier update of these slaves broke off"),
        "force": Param(False, type="boolean", description="cancel the updates that these slaves are in"),
        **conventions.cascade_params(settings),
    },
    **conventions.beside(settings),
):
    inhibit, dump, release = (
        SluiceSparkOperator(task_id=job, job=job, arguments={**UPDATE, **more}, pool=pool)
        for job, pool, more in (
            ("inhibit", pools.RESERVED, conventions.chosen("tables", "force", "cascade", "after")),
            ("dump", pools.BULK, conventions.chosen("mode", "resume", "version", store="store_initial_data")),
            ("release", pools.RESERVED, {}),
        )
    )
    blocks = conventions.patient("blocks", UPDATE, only_if="{{ params.mode == 'markers' }}")
    verify = conventions.ending_verification({**UPDATE, **conventions.chosen("tables")})
    abandon = SluiceSparkOperator(
        task_id="abandon", job="abandon", arguments=UPDATE, pool=pools.RESERVED, trigger_rule=TriggerRule.ONE_FAILED
    )
    # A run is judged by its last tasks. `abandon` succeeds when the update failed, so it cannot be the only one.
    finished = EmptyOperator(task_id="finished")

    inhibit >> dump >> release >> blocks >> verify >> finished
    [inhibit, dump, release, blocks, verify] >> abandon
