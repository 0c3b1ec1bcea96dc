"""A button on the page of each task, which leads to the pages of its Spark."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperatorLink

# The key in the extra of the Spark connection that holds their address.
PAGES = "ui"


class SparkLink(BaseOperatorLink):
    """Airflow asks for the address when the task has ended; there is no button if it is empty."""

    name = "Spark"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return str(operator.spark_pages)


def pages(spark: Any) -> str:
    """The list of jobs in the pages that a Spark connection names; empty if it names none that a browser can show."""
    address = str(spark.extra_dejson.get(PAGES) or "")
    return f"{address.rstrip('/')}/jobs/" if address.startswith(("http://", "https://")) else ""
