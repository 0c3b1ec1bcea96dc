"""A program that uses the Spark layer of the product, and nothing else of it; it prints what came back.

Its Python is of an environment with one PySpark. Spark is as the environment says: a server, or a local one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil

from sluice.config import configuration
from sluice.connections import new_key_file, seal
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.spark import session
from sluice.spark.errors import from_text
from sluice.spark.steps import SparkSteps
from sluice.spark.tasks import collect

PATIENCE_S = 300


def number_and_error(number: int) -> Iterator[dict[str, object]]:
    if number == 2:
        raise SluiceError(3, f"there is no {number}", "name another")
    yield {"number": number, "text": f"row {number}"}


def lose_once(_: Context, begun: Path) -> dict[str, object]:
    """End the process of its first try."""
    if not begun.exists():
        begun.touch()
        os._exit(1)
    return {"done": True}


def never_end(_: Context, begun: Path) -> dict[str, object]:
    begun.with_suffix(".new").write_text(str(os.getpid()))
    begun.with_suffix(".new").rename(begun)
    time.sleep(PATIENCE_S)
    return {}


def main(place: Path) -> dict[str, object]:
    """Use it in this directory, which executors see, too."""
    new_key_file(Path(os.environ["SLUICE_SEAL_KEY_FILE"]))
    os.environ["SLUICE_CONNECTIONS"] = seal({})
    rows = collect(3, number_and_error, {"number": "long", "text": "string"})
    context = Context(configuration.load(), {})
    steps = SparkSteps(context)
    lost = steps.start("lost", partial(lose_once, begun=place / "lost")).wait(PATIENCE_S)
    endless = steps.start("endless", partial(never_end, begun=place / "endless"))
    end = time.monotonic() + PATIENCE_S
    while not (place / "endless").exists() and time.monotonic() < end:
        time.sleep(0.1)
    worker = psutil.Process(int((place / "endless").read_text()))
    endless.cancel()
    try:
        cancelled = str(endless.wait(PATIENCE_S))
    except SluiceError as error:
        cancelled = error.code
    worker.wait(PATIENCE_S)
    return {
        "rows": sorted([row.number, row.text] for row in rows if not row.failure),
        "errors": [
            [error.code, error.fact, error.hint] for error in (from_text(row.failure) for row in rows if row.failure)
        ],
        "lost": lost,
        "cancelled": cancelled,
        "connect": "connect" in type(session.spark()).__module__,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
