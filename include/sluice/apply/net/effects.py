"""What is to be done about a batch: runs of effects on tables, and commands between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from sluice.apply.net.net_effect import Net
from sluice.model.action import Command
from sluice.model.layout import Layout


class Effect(Protocol):
    """What a run of changes brings to one table, however many they are."""

    @property
    def layout(self) -> Layout:
        """What all of them were written under."""

    @property
    def emptied(self) -> bool:
        """Whether the table is emptied first (TRUNCATE)."""

    def nets(self) -> Iterator[tuple[Net, pa.Table]]:
        """The net effect in pieces, none of which has a key of another, each with the changes that it points into."""

    def changes(self) -> Iterator[pa.Table]:
        """The changes, some at a time, in their order."""


@dataclass(frozen=True)
class Netted:
    """An effect in one piece: the net effect, and the changes that its places point into."""

    net: Net
    table: pa.Table

    @property
    def layout(self) -> Layout:
        """See `Effect`."""
        return self.net.layout

    @property
    def emptied(self) -> bool:
        """See `Effect`."""
        return self.net.emptied

    def nets(self) -> Iterator[tuple[Net, pa.Table]]:
        """See `Effect`."""
        yield self.net, self.table

    def changes(self) -> Iterator[pa.Table]:
        """See `Effect`."""
        yield self.table


# Effects on tables that have one layout each.
Run = Sequence[Effect]
Step = Run | Command
