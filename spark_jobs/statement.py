"""Spark job: execute an SQL statement that a person asked for on the master; the slaves follow in their streams."""

import argparse

from sluice.context import Context
from sluice.errors import WorkLost
from sluice.model import requester
from sluice.spark.job import arguments, as_task, run
from sluice.statements import issue, request


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--statement", type=int, required=True, metavar="NUMBER", help="its number")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Execute it, then ask Airflow for a publisher. The result, which others may see, has no text and no answer."""
    options.people = requester.from_environment()
    try:
        done = as_task(context, options, carry_out)
    except WorkLost as error:
        raise issue.open_error(options.source, options.statement, error.fact) from None
    if done["hurried"]:
        issue.hurry(context, options.source)
    number = done["statement"]
    return {"statement": number, "note": f"statement {number} was executed on {options.source}; its slaves follow"}


def carry_out(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Execute it on the master."""
    done, hurried = request.carry_out(context, options.source, options.statement, options.people)
    return {"statement": done.id, "hurried": hurried}


if __name__ == "__main__":
    run(parser(), call)
