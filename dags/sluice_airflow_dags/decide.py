"""DAG `decide`: somebody says whether a slave carries a command of the master out (human in the loop)."""

from airflow.providers.standard.operators.hitl import ApprovalOperator, HITLOperator
from airflow.sdk import DAG, Param

from sluice import shell
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = f"""
### Carry a command of the master out on a slave, or pass it over

A slave whose replication says `ask` about CREATE, ALTER or DROP waits in front of such a command and triggers this DAG.
The task `answer` shows what the command is and what the slave loses by it (*Required actions*), and waits:

* **Approve**: the slave carries it out, and goes on by itself
* **Reject**: the slave leaves its table as it is, and goes on; the command is kept, see `{shell.sluice("rejected")}`

Without an answer the slave waits, and nothing is lost. `{shell.sluice("dispatcher")}` takes the answer as well; a run
whose question was answered there fails when somebody answers it here.

* **source**, **slave**: the replication
* **change**: the command's REPL_KEY
"""

ASKED = conventions.params("source", "slave", "change")


def decide(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("decide"),
        description="somebody says whether a slave carries a command of the master out",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.QUESTION, "decide"),
        tags=conventions.tags(conventions.QUESTION),
        schedule=None,
        params={
            **trigger_form.source(settings),
            **trigger_form.slave(settings),
            "change": Param(
                type="integer", minimum=1, title="Command", description=f"Its REPL_KEY, which {shell.status()} names."
            ),
        },
        **conventions.ASKING_SETTINGS,
    ) as dag:
        question = SluiceSparkOperator(task_id="question", job="question", arguments=ASKED, command=True)
        answer = HITLOperator(
            task_id="answer",
            subject="{{ ti.xcom_pull(task_ids='question')['subject'] }}",
            body="{{ ti.xcom_pull(task_ids='question')['body'] }}",
            options=[ApprovalOperator.APPROVE, ApprovalOperator.REJECT],
            response_timeout=conventions.ANSWERED_WITHIN,
        )
        decide = SluiceSparkOperator(task_id="decide", job="decide", arguments=ASKED, command=True, answer_of="answer")
        question >> answer >> decide
    return dag
