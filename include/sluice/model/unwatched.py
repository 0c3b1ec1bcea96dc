"""Tables that are wanted by the configuration but not watched, with the reason; most of them do not exist yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.names import TableName


class UnwatchedReason(Enum):
    """Why a table is not watched."""

    MISSING = "there is no table of this name"
    RENAMED = "it was renamed, and is watched under its new name"
    OTHER_KIND = "what bears the name is not a plain table"
    COLUMNLESS = "it has no column"
    PARTITION = "it is a partition of a watched table"
    CONFIGURED_SINCE = "the last bootstrap did not know of it"
    OWNER = "our role is not a member of its owner"
    PENDING = "the next look of the publisher finds it"

    @property
    def loses(self) -> bool:
        """Whether changes of rows are lost to the slaves."""
        return self in (
            UnwatchedReason.OTHER_KIND,
            UnwatchedReason.COLUMNLESS,
            UnwatchedReason.CONFIGURED_SINCE,
            UnwatchedReason.OWNER,
            UnwatchedReason.PENDING,
        )


@dataclass(frozen=True)
class Unwatched:
    """One table that is not watched.

    Attributes:
        related: RENAMED: its new name. PARTITION: the watched table. MISSING: tables with almost the same name.
    """

    name: TableName
    reason: UnwatchedReason
    related: tuple[TableName, ...] = ()
