"""The steps of a batch: runs of effects on tables, and commands between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from sluice.apply.net.net_effect import Net
from sluice.model.action import Command
from sluice.model.layout import Layout


class Effect(Protocol):
    """The effect of a run of changes on one table."""

    @property
    def layout(self) -> Layout:
        """The layout of all changes."""

    @property
    def is_emptied(self) -> bool:
        """Whether the table is emptied first (TRUNCATE)."""

    @property
    def rows(self) -> int:
        """The number of changes."""

    def nets(self) -> Iterator[tuple[Net, pa.Table]]:
        """The net effect in parts with disjoint keys, each with the changes that its indices refer to."""

    def changes(self) -> Iterator[pa.Table]:
        """The changes in order, in tables of limited size."""


@dataclass(frozen=True)
class Netted:
    """An effect in one part: the net effect, and the changes that its indices refer to."""

    net: Net
    table: pa.Table

    @property
    def layout(self) -> Layout:
        """The layout of all changes."""
        return self.net.layout

    @property
    def is_emptied(self) -> bool:
        """Whether the table is emptied first (TRUNCATE)."""
        return self.net.emptied

    @property
    def rows(self) -> int:
        """The number of changes."""
        return len(self.table)

    def nets(self) -> Iterator[tuple[Net, pa.Table]]:
        """The net effect, in one part."""
        yield self.net, self.table

    def changes(self) -> Iterator[pa.Table]:
        """The changes, in one table."""
        yield self.table


# Effects on tables that have one layout each.
Run = Sequence[Effect]
Step = Run | Command
