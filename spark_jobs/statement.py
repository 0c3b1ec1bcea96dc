"""Spark job: execute an SQL statement that a person asked for on the master; the slaves follow in their streams."""

import argparse

from sluice.context import Context
from sluice.model import requester
from sluice.spark.job import arguments, run
from sluice.statements.request import carry_out


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--statement", type=int, required=True, metavar="NUMBER", help="its number")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Execute it; nothing of its text or its answer is in the result, which others may see in Airflow."""
    done = carry_out(context, options.source, options.statement, requester.from_environment())
    return {"statement": done.id, "note": f"statement {done.id} was executed on {options.source}; its slaves follow"}


if __name__ == "__main__":
    run(parser(), call)
