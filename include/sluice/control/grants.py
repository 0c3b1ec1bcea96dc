"""`./sluice grants`: the script that gives a source's role what capture needs, for whoever may run it."""

from __future__ import annotations

from sluice.context import Context


def grants(context: Context, source: str) -> str:
    """The script, for the role of the source's connection and the tables that are watched today."""
    database = context.source(source)
    try:
        activity = context.config.source(source).blocks.max_active is not None
        return database.grants(list(context.watched(source)), activity=activity)
    finally:
        database.close()
