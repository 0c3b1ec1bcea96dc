"""Worlds of a kind, as they are when they have just been made, to be copied: making one takes three times as long."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import text

from sluice.connections import ConnectionInfo
from sluice.store.engine import Store

# So many kinds are kept: a file's tests have a few, and a database takes ten megabytes of memory.
_KEPT = 8
# What a copy does not get from the databases themselves: their settings, roles, and those of the session.
_BESIDE = re.compile(r"\b(DATABASE|ROLE|USER)\b|(^|;)\s*SET\b", re.IGNORECASE)


class Templates:
    """The databases of one world of each kind on a server, by what they are to the world."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._kept: dict[str, Mapping[str, ConnectionInfo]] = {}

    def copied(self, kind: str, make: Callable[[], Mapping[str, ConnectionInfo]]) -> dict[str, ConnectionInfo]:
        """Databases like those that `make` makes, and leaves without a session, for this kind of world."""
        made = self._kept.pop(kind, None) or make()
        # The one that was used last is dropped last.
        self._kept[kind] = made
        if len(self._kept) > _KEPT:
            self._server.drop_databases(self._kept.pop(next(iter(self._kept))).values())
        # The store is a copy in any case, and who owns its tables matters to nobody.
        return {
            name: self._server.create_database(template=info.database)
            if name == "control"
            else self._server.copy_database(info)
            for name, info in made.items()
        }


def looked_just_now(store: Store) -> None:
    """The publisher of a world that is copied has looked at ITEMS just now, however long ago that world was made."""
    with store.begin() as connection:
        connection.execute(text("UPDATE publisher SET due_at = now() + (due_at - caught_up_at), caught_up_at = now()"))
        connection.execute(text("UPDATE lease SET succeeded_at = now()"))


def copyable(ddl: str) -> bool:
    """Whether all that these statements make is in the database."""
    return not _BESIDE.search(ddl)
