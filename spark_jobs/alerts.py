"""Spark job: decide which alerts people are to be told of."""

import argparse

from sluice.context import Context
from sluice.monitor.alerts import confirm, look
from sluice.spark.job import run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sent", action="store_true", help="somebody has the message of this task")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Look at everything, or record that the message was sent."""
    return confirm(context) if options.sent else look(context)


if __name__ == "__main__":
    run(parser(), call)
