"""Tables that are to be watched and are not, and why: most of them because they are still to be made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.names import TableName


class Reason(Enum):
    """Why a table is not watched."""

    MISSING = "there is no table of this name"
    RENAMED = "it was renamed, and is watched under its new name"
    OTHER_KIND = "what bears the name is not a table"
    COLUMNLESS = "it has no column"
    PARTITION = "it is a partition of a watched table"
    CONFIGURED_SINCE = "the configuration names it since the last bootstrap"
    OWNER = "our role is not a member of its owner"
    PENDING = "the next look of the publisher finds it"

    @property
    def loses(self) -> bool:
        """Whether there are rows that no slave gets."""
        return self in (Reason.COLUMNLESS, Reason.CONFIGURED_SINCE, Reason.OWNER, Reason.PENDING)


@dataclass(frozen=True)
class Unwatched:
    """One such table.

    Attributes:
        related: RENAMED: its new name. PARTITION: the watched table. MISSING: tables that are spelled almost like it.
    """

    name: TableName
    reason: Reason
    related: tuple[TableName, ...] = ()
