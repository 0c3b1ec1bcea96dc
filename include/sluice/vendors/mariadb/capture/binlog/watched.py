"""What is watched, as a source keeps it: the patterns of the configuration, which also take tables that are to come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from sluice.log import event
from sluice.model.names import Resources, TableName
from sluice.model.watched import Pattern, Watch, find_entry
from sluice.vendors.mariadb.charsets import is_text

# The DbResources here. Another table that begins with their prefix is taken by its name, and by no wildcard.
_TABLES = ("state", "statement")
# Names of our tables in a slave, which may be in the same database.
_OF_SLAVES = "sluice_"


def written(entries: Mapping[Pattern, Watch], *, carries: bool) -> str:
    """The text of the patterns, and of whether definitions go into the stream."""
    plain = [[one.schema, one.table, one.wildcard, one.excluded, watch.actions] for one, watch in entries.items()]
    return json.dumps({"entries": plain, "carries": carries})


class Watched:
    """The patterns of a source.

    Attributes:
        entries: the actions that are wanted of what a pattern takes.
        carries: definitions go into the stream.
    """

    def __init__(self, text: str, resources: Resources) -> None:
        known: Any = json.loads(text)
        self.carries: bool
        entries, self.carries = known["entries"], known["carries"]
        self.entries = {Pattern(*plain): actions for *plain, actions in entries}
        self._resources = resources
        self.actions = cache(self._actions)

    def takes(self, name: TableName) -> bool:
        """Whether a pattern takes a table, perhaps for its first copy alone."""
        return self._pattern(name) is not None

    def _actions(self, name: TableName) -> str | None:
        """The letters of the actions that are wanted of a table; None if it is not watched."""
        pattern = self._pattern(name)
        actions = "none" if pattern is None else self.entries[pattern]
        return None if actions == "none" else actions or "IUD"

    def _pattern(self, name: TableName) -> Pattern | None:
        is_near = name.schema == self._resources.schema and name.table.startswith(self._resources.folded)
        if is_near and name.table in map(self._resources.name, _TABLES):
            return None
        if not is_text(f"{name.schema}{name.table}"):
            event("a table is not watched", table=ascii(str(name)), why="its name is no text")
            return None
        pattern = find_entry(self.entries, name)
        if pattern and pattern.wildcard and (is_near or name.table.startswith(_OF_SLAVES)):
            return None
        return pattern
