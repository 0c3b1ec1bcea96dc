"""Spark job: install or reconcile the DbResources of a source and its registry of tables."""

import argparse

from sluice.capture.reconcile import bootstrap
from sluice.spark.job import arguments, run_as_task


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--recreate-triggers", action="store_true", help="make every trigger again")
    options.add_argument("--rebase", action="store_true", help="accept a source that was restored or failed over")
    return options


if __name__ == "__main__":
    run_as_task(
        parser(),
        lambda context, options: bootstrap(
            context, options.source, recreate_triggers=options.recreate_triggers, rebase=options.rebase
        ),
    )
