"""A program that runs a job until its first statement, and prints what it has loaded by then; nothing is executed.

    python first_statement.py statement|end JOB.py ARGUMENTS

With `end` the job is not disturbed, and the names are printed behind its result.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any, NoReturn


def tell() -> None:
    """Print the names of all modules, as the last line."""
    print(json.dumps(sorted(sys.modules)), flush=True)


def stop(*_: Any, **__: Any) -> NoReturn:
    """Take the place of a statement. Nothing of the job may go on, whatever it catches."""
    tell()
    os._exit(0)


def main() -> None:
    until, job = sys.argv[1:3]
    # The job finds its own name and arguments.
    del sys.argv[:2]
    if until == "statement":
        # Every job needs it, at the latest for this statement.
        import psycopg

        psycopg.Cursor.execute = stop  # type: ignore[assignment, method-assign]
    sys.path[0] = str(Path(job).parent)
    runpy.run_path(job, run_name="__main__")
    tell()


if __name__ == "__main__":
    main()
