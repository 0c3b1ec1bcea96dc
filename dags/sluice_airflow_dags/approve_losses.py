"""DAG `approve_losses`: somebody allows the columns of a slave to lose digits or letters (human in the loop)."""

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG

from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Let columns of a slave lose what they do not hold

`initial_update` refuses a slave whose tables have columns too narrow for the master's (SLC-220), and triggers this DAG
if all that would be lost can be allowed. The task `losses` looks which these are; its XCom has the `report`, as CSV,
and says where that is as a `file`. The task `answer` shows them (*Required actions*), and waits:

* **Approve**: from the next `initial_update` on the slave gets numbers rounded and texts cut to its columns, in the
  stream and in comparisons, too, until a column changes. The update that was refused runs again by itself; if there is
  none, or another one since, trigger `initial_update`: see `next` in the XCom of `allow`
* **Reject**: nothing changes; alter the slave's tables, or its configuration, and trigger `initial_update`

* **source**, **slave**: the replication
"""

ASKED = {**conventions.params("source", "slave"), "refused": conventions.run_conf("refused")}


def approve_losses(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("approve_losses"),
        description="somebody allows the columns of a slave to lose what they do not hold",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.QUESTION, "approve_losses"),
        tags=conventions.tags(conventions.QUESTION),
        schedule=None,
        params={**trigger_form.source(settings), **trigger_form.slave(settings)},
        **conventions.ASKING_SETTINGS,
    ) as dag:
        losses = SluiceSparkOperator(task_id="losses", job="losses", arguments=ASKED, command=True)
        answer = ApprovalOperator(
            task_id="answer",
            subject="{{ ti.xcom_pull(task_ids='losses')['subject'] }}",
            body="{{ ti.xcom_pull(task_ids='losses')['body'] }}",
            response_timeout=conventions.ANSWERED_WITHIN,
        )
        allow = SluiceSparkOperator(
            task_id="allow",
            job="allow",
            arguments={**ASKED, "shown": conventions.exactly("ti.xcom_pull(task_ids='losses')['shown']")},
            command=True,
            answer_of="answer",
        )
        losses >> answer >> allow
    return dag
