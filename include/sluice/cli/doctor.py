"""`./sluice doctor`: what a report of a problem needs, as one text without a password."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata

import yaml

from sluice import library_errors, release
from sluice.cli.context import context, read_configuration
from sluice.context import Context
from sluice.monitor import check, status
from sluice.outside_text import say
from sluice.store import audit_trail

_PACKAGES = (
    "apache-airflow",
    "apache-airflow-providers-apache-spark",
    "pyspark",
    "pyspark-client",
    "pyarrow",
    "pandas",
    "psycopg",
    "sqlalchemy",
    "alembic",
    "pydantic",
    "sqlglot",
    "pymysql",
    "oracledb",
    "pyiceberg",
)
_EVENTS = 30
_LAST = (
    "Read it before you send it. It has no password, but names of hosts, databases, tables, columns and people, "
    "conditions of rows, and perhaps keys of rows that differ."
)


def show_doctor() -> int:
    """Print versions, the configuration, and, of an installation that answers, checks, status and the last events.

    A part that cannot be had is an error in its place. So the report is whole also where nothing works.
    """
    here = cache(context)
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "Versions": _versions,
        "Configuration": lambda: iter([_configuration()]),
        "Check": lambda: map(check.line, check.findings(here())),
        "Status": lambda: iter([status.as_table(status.statuses(here()))]),
        "Last events": lambda: _events(here()),
    }
    for title, lines in parts.items():
        say(f"## {title}\n\n```")
        try:
            for line in lines():
                say(line.rstrip())
        except Exception as error:
            say(str(library_errors.unforeseen(error)))
        say("```\n")
    say(_LAST)
    return 0


def _configuration() -> str:
    return yaml.safe_dump(read_configuration().model_dump(mode="json", exclude_unset=True), sort_keys=False)


def _versions() -> Iterator[str]:
    yield f"sluice {release.build()}"
    yield f"python {platform.python_version()}, {platform.platform()}"
    for name in _PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} is not installed"


def _events(context: Context) -> Iterator[str]:
    for entry in audit_trail.page(context.store, audit_trail.AuditFilter(), _EVENTS).entries:
        words = (entry.source, entry.slave or "", entry.actor, entry.event, entry.detail)
        yield "  ".join([f"{entry.at:%Y-%m-%d %H:%M:%S}", *filter(None, words)])
