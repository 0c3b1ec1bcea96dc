"""The frame of every Spark job around its one call: arguments, logs, the result line, the exit code.

The last line on the standard output is the result, one JSON object. Exit codes: 0 done; 1 a defect; 3 terminal, a retry
would fail again; 75 transient, a retry may succeed; 143 ended by SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sluice import extensions
from sluice.arrow_without_pandas import hide_pandas
from sluice.commands import roles
from sluice.context import Context
from sluice.errors import TransientError
from sluice.library_errors import classify, tell
from sluice.log import to_stderr
from sluice.model import requester
from sluice.model.names import TableName
from sluice.model.sample_bound import CONFIDENCE, confidence, share
from sluice.model.watched import split_table
from sluice.process_end import leave_process
from sluice.spark import session
from sluice.spark.step_factory import do_once
from sluice.spark_environment import work_name
from sluice.steps import Do

DEFECT = 1
TERMINAL = 3
TRANSIENT = 75
TERMINATED = 128 + signal.SIGTERM
# By it pydantic does not look for plugins of its own, for which it would read the metadata of every package.
_NO_PYDANTIC_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
# The one call of a job, with the arguments that its parser read.
Call = Callable[[Context, argparse.Namespace], dict[str, Any]]


def arguments(description: str, *, slaves: str | None = None) -> argparse.ArgumentParser:
    """A parser with ``--source``, and ``--slave`` if `slaves` is ``1``, or several times if it is ``+``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--source", required=True, help="name of the source in the configuration")
    if slaves == "1":
        parser.add_argument("--slave", required=True, help="name of the slave in the configuration")
    elif slaves:
        parser.add_argument(
            "--slave", required=True, action="append", dest="slaves", help="name of a slave; repeatable"
        )
    return parser


class _NotBlank(argparse.Action):
    """Adds the values of each use to a list. Blank ones are left out: they name nothing."""

    def __call__(
        self, _: argparse.ArgumentParser, options: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        given = values if isinstance(values, Sequence) and not isinstance(values, str) else [values]
        setattr(options, self.dest, [*getattr(options, self.dest), *(value for value in given if value)])


def table_options(options: argparse.ArgumentParser) -> None:
    """Add ``--table``, any number of times, or ``--tables`` with several; their names are in `tables`."""
    options.add_argument(
        "--table",
        "--tables",
        dest="tables",
        nargs="*",
        action=_NotBlank,
        default=[],
        type=lambda text: TableName(*split_table(text)) if text.strip() else None,
        metavar="TABLE",
        help="schema.table; all if not given",
    )


def key_options(options: argparse.ArgumentParser) -> None:
    """Add ``--key-ranges``, any number of times, as `sluice.model.key_range` reads them; they are in `keys`."""
    options.add_argument(
        "--key-ranges",
        dest="keys",
        action=_NotBlank,
        default=[],
        type=str.strip,
        metavar="RANGE",
        help="schema.table: FROM .. TO; repeatable",
    )


def row_options(options: argparse.ArgumentParser) -> None:
    """Add the options that say which rows of its tables a comparison reads."""
    options.add_argument("--sample", type=int, default=100, choices=range(1, 101), metavar="PERCENT", help="of keys")
    options.add_argument(
        "--confidence", type=confidence, default=CONFIDENCE, metavar="PART", help="of what a sample says, as 0.99"
    )
    options.add_argument("--at-most", type=share, metavar="1/N", help="as many as it takes to say that fewer differ")
    options.add_argument(
        "--ranges",
        action=_NotBlank,
        default=[],
        type=str.strip,
        metavar="RANGE",
        help="schema.table: FROM .. TO; repeatable; no other row is compared",
    )
    options.add_argument(
        "--since",
        default="",
        metavar="PLACE",
        help="only rows that the change log has changes of since: a position (41/8), a segment (42), or a time",
    )


def run_as_task(parser: argparse.ArgumentParser, call: Call) -> None:
    """The same as `run` for a call that gives Spark no work: it is one Spark task itself, on an executor."""
    run(parser, lambda context, options: as_task(context, options, call))


def as_task(context: Context, options: argparse.Namespace, call: Call) -> dict[str, Any]:
    """Do a call as one Spark task. It is not done twice: what is lost of it is for the next try of Airflow."""
    return in_task(context, options)(partial(_do, call, options))


def in_task(context: Context, options: argparse.Namespace) -> Do:
    """Do works as Spark tasks, each as `as_task` does a call."""
    return partial(do_once, context, _name(options))


def _do(call: Call, options: argparse.Namespace, context: Context) -> dict[str, Any]:
    return call(context, options)


def run(parser: argparse.ArgumentParser, call: Call) -> None:
    """Parse, call, print the result, and leave with the code that tells Airflow what to do next."""
    options = parser.parse_args()
    to_stderr()
    hide_pandas()
    os.environ.setdefault(*_NO_PYDANTIC_PLUGINS)
    signal.signal(signal.SIGTERM, _leave)
    session.show_as(_name(options))
    try:
        context = Context.from_environment()
        for person in requester.from_environment():
            roles.expect_allowed(context, person, options.source, _slaves(options), _job())
        result = json.dumps(call(context, options))
    except Exception as error:
        # After the signal an error is of a session that it interrupted.
        if not extensions.leaving.is_set():
            told = tell(error)
            if classify(error) is None:
                sys.exit(DEFECT)
            sys.exit(TRANSIENT if isinstance(told, TransientError) else TERMINAL)
    finally:
        if extensions.leaving.is_set():
            leave_process(TERMINATED)
    print(result, flush=True)


def _name(options: argparse.Namespace) -> str:
    return work_name(_job(), getattr(options, "source", ""), _slaves(options))


def _job() -> str:
    return Path(sys.argv[0]).stem


def _slaves(options: argparse.Namespace) -> Sequence[str]:
    slave: str | None = getattr(options, "slave", None)
    return [slave] if slave else getattr(options, "slaves", ())


def _leave(*_: object) -> None:
    """End as if the call had raised, so that leases are released and transactions rolled back."""
    extensions.leaving.set()
    raise SystemExit(TERMINATED)
