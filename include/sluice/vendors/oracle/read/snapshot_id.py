"""The id of a snapshot for sessions that read it: a change number, and whose functions make texts of values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sluice.vendors.oracle.names import parts_of, resources

_TEXT = re.compile(r"(\d{1,20})@([^/]*)/(.*)", re.DOTALL)


@dataclass(frozen=True)
class SnapshotId:
    """Rows as of a change number, read with the functions of one prefix."""

    scn: int
    prefix: str
    schema: str

    def __str__(self) -> str:
        return f"{self.scn}@{self.prefix}/{self.schema}"

    @property
    def parts(self) -> dict[str, str]:
        """The DbResources, for the expressions that are selected."""
        return parts_of(resources(self.schema, self.prefix))

    @classmethod
    def parsed(cls, text: str) -> SnapshotId:
        """The place that was written so. Raises ValueError for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no place to read a source on Oracle at")
        return cls(int(found[1]), found[2], found[3])
