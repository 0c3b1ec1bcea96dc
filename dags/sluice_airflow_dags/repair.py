"""DAG `repair`: rows of a slave that differ become those of its master."""

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice.model.direction import RULES
from sluice.model.row_difference import KINDS
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Repair the rows of a slave that differ from its master's

The master's rows come at a point of the stream, while everything keeps running, so no newer change is undone. The slave
has to be NORMAL. Afterwards the tables are compared again. The task's result (XCom) holds how many rows were deleted,
inserted or updated.

* **source**, **slave**: what to repair
* **tables**: nothing chosen means every table that differs
* **report**: the number of a comparison; empty: compare first
* **rows**: numbers of rows of one table of that report, such as `3, 5, 10-20`: these alone are written. Empty: all
* **kinds**: of rows: `missing`, `extra`, `changed`; nothing chosen means all
* **rule**: which row wins where both databases are masters of each other; empty: the source's
* **column**: of the source's tables, that the rule `newest` compares
* **dry_run**: nothing is changed; the result holds the statements
"""


def repair(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("repair"),
        description="make the rows of a slave that differ those of its master",
        doc_md=DOC,
        tags=conventions.tags(conventions.OPERATION),
        schedule=None,
        params={
            **trigger_form.source(settings),
            **trigger_form.slave(settings),
            **trigger_form.tables(settings, what="is repaired"),
            "report": trigger_form.optional(
                "integer",
                minimum=1,
                title="Report",
                description="Number of a comparison whose rows are repaired. Empty: compare first.",
            ),
            "kinds": trigger_form.optional(
                "array",
                items={"type": "string", "enum": list(KINDS)},
                examples=list(KINDS),
                title="Kinds",
                description="Rows that the slave alone has (extra), that differ (changed), or that it lacks (missing). "
                "Empty: all.",
            ),
            "rows": trigger_form.optional(
                "string",
                title="Rows",
                description="Numbers of rows of one table of the report, as in 3, 5, 10-20: these alone. Empty: all.",
            ),
            "rule": trigger_form.choice(
                {**{name: f"{name}: {what}" for name, what in RULES.items()}, None: "as usual (source)"},
                title="Rule",
                description="Which row wins where both databases are masters of each other.",
            ),
            "column": trigger_form.optional(
                "string",
                title="Column",
                description="For the rule newest: a column of the source's tables that every change of a row makes "
                "larger, as a time does. Rows that are equal in it, or on one side alone, are left.",
            ),
            "dry_run": trigger_form.switch("Dry run", "Change nothing; the result has the statements."),
        },
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="repair",
            job="repair",
            arguments={
                **conventions.params(
                    "source", "slave", "tables", "report", "kinds", "rows", "rule", "column", "dry_run"
                ),
                "who": conventions.WHO,
            },
            pool=pools.BULK,
            command=True,
        )
    return dag
