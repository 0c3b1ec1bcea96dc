"""DAG `statement`: execute an SQL statement that somebody asked for on the page of statements."""

from airflow.sdk import DAG, Param

from sluice import shell
from sluice.config.configuration import Config
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = f"""
### Execute an SQL statement on a master and on all of its slaves

The page *Statements* and its REST API start this DAG, in the name of the person who asks for a statement. The control
store has the statement; this run knows its number alone, and executes it on the master, once. The slaves follow in
their streams; what they answer is on the page. A run of another person executes nothing, nor does a second one.

One is executed after the other. To end a statement that does not end, mark its run as failed: the master rolls it back
within 10 seconds.

At a shell `{shell.sluice("statement")}` does the same.

* **source**: the master database
* **statement**: the number of the statement
"""


def statement(settings: Config) -> DAG:
    """The DAG."""
    number = Param(type="integer", minimum=1, title="Statement", description="Its number on the page Statements.")
    # One at a time, as ever: they are executed in the order in which they were asked for.
    with DAG(
        dag_id=settings.dag_id("statement"),
        description="execute a statement that somebody asked for on the page of statements",
        doc_md=DOC,
        dag_display_name=conventions.display_name(conventions.COMMAND, "statement"),
        tags=conventions.tags(conventions.COMMAND),
        schedule=None,
        params={**trigger_form.source(settings), "statement": number},
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="statement",
            job="statement",
            command=True,
            personal=True,
            arguments=conventions.params("source", "statement"),
            # The first try may have executed it, and found out late.
            retries=0,
            execution_timeout=conventions.HUNG,
        )
    return dag
