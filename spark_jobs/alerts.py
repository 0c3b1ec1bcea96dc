"""Spark job: decide which alerts people are to be told of."""

import argparse

from sluice.context import Context
from sluice.monitor.alerts import look, take_back
from sluice.spark.job import run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--take-back", action="store_true", help="nobody could be told what this task decided")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Look at everything, or take the last look back."""
    return take_back(context) if options.take_back else look(context)


if __name__ == "__main__":
    run(parser(), call)
