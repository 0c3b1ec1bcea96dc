"""Errors of libraries and of the machine, as errors of ours: a code, transient or terminal, and a hint (R8).

Code that expects an error explains it there. This module explains all others.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice.errors import AGAIN, VALUES_ENV, SluiceError, TransientError, names
from sluice.outside_text import say

# A limit on the size of files ends as a disk does that is full.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NETWORK = (ConnectionError, TimeoutError, socket.gaierror)
# What does not pass by itself. All else may: no route to a host, too many open files, a disk that is away for a moment.
_LASTING = {
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOEXEC,
}

_REPORT = f"{VALUES_ENV}=1 shows its text, which may have values; report it"


def _driver_error(what: str) -> SluiceError:
    hint = f"see the log of the database, then run this again. {_REPORT}"
    error = SluiceError(362, f"the driver of a database fails: {what}", hint)
    # All drivers name a lost session so.
    return _as_transient(error) if what.startswith(("OperationalError", "InterfaceError")) else error


def _arrow_error(what: str) -> SluiceError:
    return SluiceError(
        362,
        f"Arrow does not take the data: {what}",
        "nothing of them was written. A column of one batch holds 2 GB at most: smaller batches (`max_batch`) hold "
        f"less; then run this again. {_REPORT}",
    )


def _spark_error(what: str) -> SluiceError:
    hint = f"look into the log of Spark's server, or of its executor; nothing is lost, {AGAIN}"
    return TransientError(376, f"Spark does not do the work: {what}", hint)


# What an error means by the package of its class.
_LIBRARIES: dict[str, Callable[[str], SluiceError]] = {
    "pyarrow": _arrow_error,
    **dict.fromkeys(("psycopg", "pymysql", "oracledb", "sqlalchemy"), _driver_error),
    **dict.fromkeys(("pyspark", "py4j", "grpc"), _spark_error),
}
# The extras of the wheel, by what an import says without them.
_EXTRAS = {
    "pymysql": "mariadb",
    "oracledb": "oracle",
    "pyiceberg": "iceberg",
    "boto3": "aws",
    "no pq wrapper available": "postgresql",
    **dict.fromkeys(("pyspark", "py4j", "grpc"), "spark"),
}


def classify(error: BaseException) -> SluiceError | None:
    """The error in our words; None if no library is known for it: then it is a fault of a program."""
    if isinstance(error, SluiceError):
        return error
    if isinstance(error, MemoryError):
        return TransientError(
            658,
            f"there is not enough memory: {str(error) or type(error).__name__}",
            f"nothing is lost, {AGAIN}. If it stays: let other programs of that machine need less, or raise the limit "
            "of the job's container; fewer tasks at once (`bulk_tasks`) and smaller batches (`max_batch`) need less",
        )
    if isinstance(error, OSError):
        return _system_error(error)
    if isinstance(error, ImportError):
        return next((_extra_error(error, extra) for said, extra in _EXTRAS.items() if said in str(error)), None)
    if known := _LIBRARIES.get(type(error).__module__.partition(".")[0]):
        return known(f"{_place(error)}{f': {error}' if os.environ.get(VALUES_ENV) else ''}")
    return None


def _extra_error(error: ImportError, extra: str) -> SluiceError:
    return SluiceError(
        281,
        f"a package is not installed that belongs to the extra `{extra}`: {str(error).splitlines()[0]}",
        f'nothing was run; type pip install "sluice[{extra}]" wherever jobs and their tasks run '
        "(include/docs/install.md), or ./sluice install in a checkout",
    )


def unforeseen(error: BaseException) -> SluiceError:
    """Say what an error means to people. An error that nothing foresees gives its kind and place alone.

    Its text may hold values of rows.
    """
    return classify(error) or SluiceError(
        362,
        f"it could not be done: {_place(error)}",
        "everything else holds; look at other errors first. If it stays, report this line: it is a fault of a program",
    )


def tell(error: BaseException) -> SluiceError:
    """Write to standard error what an error means to people; behind its stack, if nothing foresees it."""
    known = unforeseen(error)
    if classify(error) is None:
        say("".join(traceback.format_exception(error)), file=sys.stderr, end="")
    say(str(known), file=sys.stderr)
    return known


@contextmanager
def name_table(table: object) -> Iterator[None]:
    """Let an error say which table of the master it is about."""
    try:
        yield
    except Exception as error:
        known = classify(error)
        if known is None:
            raise
        if not names(known.fact, table):
            known.fact = f"{known.fact} (the master's {table})"
        if known is error:
            raise
        raise known from error


def _system_error(error: OSError) -> SluiceError:
    what = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    if error.errno in _FULL:
        hint = f"free some there, or raise the limit; nothing is lost, {AGAIN}"
        return TransientError(658, f"a file cannot be written, since there is no room: {what}", hint)
    if isinstance(error, _NETWORK):
        hint = f"start it, or fix the way to it; nothing is lost, {AGAIN}"
        return TransientError(30, f"another host or program does not answer: {what}", hint)
    hint = "fix what the system says of it, then run this again; nothing is lost"
    refused = SluiceError(659, f"the system refuses something: {what} ({_place(error)})", hint)
    return refused if error.errno in _LASTING else _as_transient(refused)


def _as_transient(error: SluiceError) -> SluiceError:
    """The same as one that may pass, so that it is tried again."""
    return TransientError(error.code, error.fact, error.hint)


def _place(error: BaseException) -> str:
    """The kind of an error, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return type(error).__name__
    return f"{type(error).__name__} ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})"
