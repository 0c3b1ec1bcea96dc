"""DAG `verify`: compare slaves with their master, value by value."""

from airflow.sdk import DAG

from sluice.config import pools
from sluice.config.configuration import Config
from sluice.model.sample_bound import CONFIDENCE, LEAST_CONFIDENCE, MOST_CONFIDENCE, SHARE
from sluice_airflow import conventions, trigger_form
from sluice_airflow.operator import SluiceSparkOperator

DOC = """
### Compare slaves with their master

Both sides are compared value by value at one point of the stream that both have reached, while everything keeps
running. The task's result (XCom) holds the rows compared, the rows that differ, and why.

* **source**, **slaves**: what to compare
* **tables**: nothing chosen means every watched table
* **ranges**: of keys, such as `public.legs: 2013, 'UA' .. 2013, 'WN'`; no other row of their tables is compared
* **since**: a position of the change log (`41/8`), a segment (`42`) or a time (`2026-01-31T22:00Z`): only rows that the
  log has changes of since then are compared
* **sample**: percent of the keys that are compared, which are drawn anew each time
* **at_most**: instead, the share that fewer rows differ than; as many keys are drawn as it needs
* **confidence**: a sample says with it that *fewer than 1 row in N differs*
"""


def verify(settings: Config) -> DAG:
    """The DAG."""
    with DAG(
        dag_id=settings.dag_id("verify"),
        description="compare slaves with their master, value by value",
        doc_md=DOC,
        tags=conventions.tags(conventions.OPERATION),
        schedule=None,
        params={
            **trigger_form.source(settings),
            **trigger_form.slaves(settings),
            **trigger_form.tables(settings, what="is compared"),
            "ranges": trigger_form.key_ranges(
                "One range a line, as in public.legs: 2013, 1 .. 2013, 12. No other row of their tables is compared. "
                "Empty: all rows."
            ),
            "since": trigger_form.optional(
                "string",
                title="Since",
                description="Only rows changed since: a position of the change log (41/8), a segment (42), or a time "
                "(2026-01-31T22:00Z; UTC if it has no zone). Empty: all rows.",
            ),
            "sample": trigger_form.optional(
                "integer",
                100,
                minimum=1,
                maximum=100,
                title="Sample",
                description="Percent of the keys that are compared. Empty: all of them.",
            ),
            "at_most": trigger_form.optional(
                "string",
                pattern=rf"^\s*({SHARE[1:-1]})?\s*$",
                title="At most",
                description="In place of a sample's size: 1/10000 draws as many keys as it takes to say that fewer "
                "than 1 row in 10,000 differs.",
            ),
            "confidence": trigger_form.optional(
                "number",
                CONFIDENCE,
                minimum=LEAST_CONFIDENCE,
                maximum=MOST_CONFIDENCE,
                title="Confidence",
                description="Of the number of rows that can differ, as far as a sample tells. 0.99 is 99 %.",
            ),
        },
        **conventions.DAG_SETTINGS,
    ) as dag:
        SluiceSparkOperator(
            task_id="verify",
            job="verify",
            arguments=conventions.params(
                "source", "tables", "ranges", "since", "sample", "at_most", "confidence", slave="slaves"
            ),
            pool=pools.BULK,
        )
    return dag
