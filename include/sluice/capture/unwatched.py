"""Tables that are to be watched and are not, in words: for the status, the check, and the logs of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sluice import shell
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.model.unwatched import Unwatched, UnwatchedReason


def fact(table: Unwatched) -> str:
    """The fact of the message, without its HINT."""
    related = ", ".join(map(str, table.related))
    match table.reason:
        case UnwatchedReason.MISSING:
            spelled = " and ".join(f'{name.schema}."{name.table}"' for name in table.related)
            alike = f"; there is {spelled}" if spelled else ""
            return f"{table.name} does not exist{alike}: it will be captured from its first row on when it is made"
        case UnwatchedReason.RENAMED:
            return f"{table.name} does not exist: it is called {related} now, and captured under that name"
        case UnwatchedReason.OTHER_KIND:
            return f"{table.name} is not a plain table, and is not captured"
        case UnwatchedReason.COLUMNLESS:
            return f"{table.name} has no column, and is not captured until it gets one"
        case UnwatchedReason.PARTITION:
            return f"{table.name} is a partition of {related}, and captured as rows of that alone"
        case UnwatchedReason.CONFIGURED_SINCE:
            return f"{table.name} is not captured: the last bootstrap did not know of it"
        case UnwatchedReason.OWNER:
            return f"{table.name} is not captured: the source's role is not a member of its owner"
        case UnwatchedReason.PENDING:
            return f"{table.name} is not captured yet: no look of the publisher has taken it up"


def note(context: Context, source: str, table: Unwatched) -> str:
    """The same with its HINT: what is safe, and what to type."""
    bootstrap = shell.trigger("bootstrap", source=source)
    fix = f"fix `tables` of the source {source} in the configuration, then type: {bootstrap}"
    match table.reason:
        case UnwatchedReason.MISSING:
            hint = f"all other tables go on. If the name is wrong, {fix}"
        case UnwatchedReason.RENAMED:
            hint = f"nothing is lost. Name it by its new name, for its slaves, too: {fix}"
        case UnwatchedReason.OTHER_KIND | UnwatchedReason.COLUMNLESS | UnwatchedReason.PARTITION:
            hint = f"all other tables go on; {fix}"
        case UnwatchedReason.CONFIGURED_SINCE:
            hint = f"all other tables go on; type: {bootstrap}, then initial_update for slaves that have no copy of it"
        case UnwatchedReason.OWNER:
            hint = (
                f"all other tables go on. `{shell.sluice('grants', source)}` writes the script that gives the "
                "right; once an administrator has run it, the table is captured, and its rows follow. To do without "
                f"it: let `exclude` take it out of `tables` of the source, then type: {bootstrap}"
            )
        case UnwatchedReason.PENDING:
            hint = (
                "its rows follow when it is captured, within a minute. If this stays, the last log of the DAG "
                f"{context.config.dag_id('publish', source)} says why"
            )
    return f"{fact(table)}.\nHINT: {hint}"


def expect_present(
    context: Context, source: str, present: Mapping[TableName, TableName], named: Iterable[TableName]
) -> None:
    """Check that requested tables are watched, and exist.

    Args:
        present: see `Context.present`.

    Raises:
        ConfigError: SLC-040, one of them is not, or does not.
    """
    strange = sorted(set(named) - present.keys())
    if not strange:
        return
    called = {meant: name for name, meant in present.items()}
    if absent := sorted(set(strange) & context.watched_tables(source).keys()):
        names = ", ".join(
            f"{name} (it is called {called[name]} now)" if name in called else str(name) for name in absent
        )
        raise ConfigError(
            40,
            f"tables that were named do not exist on the source {source}: {names}",
            "nothing was changed; run it again and leave them out, or name them as the master calls them",
        )
    raise ConfigError(
        40,
        f"{', '.join(map(str, strange))}: no table that is watched on {source}",
        f"nothing was changed; name the tables as the master calls them: {', '.join(map(str, sorted(present)))}",
    )
