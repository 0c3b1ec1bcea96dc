"""Whether what slaves see of a source's tables goes with how these are watched, as far as the configuration tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sluice.config.mapper import Mapper
from sluice.config.models import WatchedTable
from sluice.config.slave_table import SlaveTableSettings
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.model.watched import Pattern, find_entry


def faults(patterns: Mapping[Pattern, WatchedTable], mapper: Mapper, *, styled: bool, lasting: bool) -> Iterator[str]:
    """Why a slave cannot be fed by a source, in sentences.

    Args:
        patterns: how the source's tables are watched.
        styled: the messages of the slave's tables pass a stylesheet, unless an entry says that they do not.
        lasting: the slave keeps what rows were before.
    """
    try:
        mapper.keep_apart(
            TableName(pattern.schema, pattern.table)
            for pattern in patterns
            if not (pattern.wildcard or pattern.excluded)
        )
    except ConfigError as error:
        yield error.fact
    for watched, settings in patterns.items():
        if settings.old_images == "full":
            continue
        entries = [entry for entry in _entries(patterns, watched, mapper) if not entry.exclude]
        needing = {key for entry in entries for key in entry.looking_back}
        if styled and any(entry.stylesheet for entry in entries):
            needing.add("stylesheets")
        if lasting and entries:
            needing.add("keeps: history")
        if needing:
            yield (
                f"{watched} has `old_images: key`, and {', '.join(sorted(needing))} of the slave needs to know what "
                "its rows were before each update"
            )


def replicated_patterns(patterns: Mapping[Pattern, WatchedTable], mapper: Mapper) -> Iterator[Pattern]:
    """What a source captures, with what of it never reaches the slave as excluded; where wildcards do not tell, it
    does.
    """
    for pattern, entry in patterns.items():
        declined = not pattern.wildcard and mapper.excludes(TableName(pattern.schema, pattern.table))
        yield replace(pattern, excluded=pattern.excluded or declined or entry.actions == "none")
    given = [TableName(listed.schema, listed.table) for listed, entry in mapper.tables.items() if not entry.exclude]
    for pattern, said in mapper.tables.items():
        if said.exclude and not any(map(pattern.takes, given)):
            yield replace(pattern, excluded=True)


def _entries(
    patterns: Mapping[Pattern, WatchedTable], watched: Pattern, mapper: Mapper
) -> Iterator[SlaveTableSettings]:
    """The slave's settings for tables that an entry of the source selects."""
    yield mapper.entry(TableName(watched.schema, watched.table))
    for pattern, entry in mapper.tables.items() if watched.wildcard else ():
        if pattern.wildcard:
            taken = pattern.schema == watched.schema and pattern.table.startswith(watched.table)
        else:
            taken = find_entry(patterns, TableName(pattern.schema, pattern.table)) == watched
        if taken:
            yield entry
