"""The hook of a source's owner: a transformer sees every change before it is published, and may withhold it or give it
attributes, for all slaves (the guide's `transformer.class`).

It is named by an entry point of the group `sluice.transformers`, or as ``module:attribute``; that is called with the
source's name once per run. Its errors stop the publishing of its source, and nothing is lost (R8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from sluice import extensions
from sluice.errors import ConfigError
from sluice.model.layout import Layout

GROUP = "sluice.transformers"


@dataclass(frozen=True)
class Transformed:
    """The result for a batch, with one entry for each change; None leaves all changes as they are.

    Attributes:
        keep: booleans; what is false is withheld from every slave, and keeps no more than its place (R1).
        attributes: maps of text to text, for the row in messages.
        description: maps of text to text, for the description of messages; those of a transaction's first change count.
    """

    keep: pa.BooleanArray | None = None
    attributes: pa.MapArray | None = None
    description: pa.MapArray | None = None


@runtime_checkable
class Transformer(Protocol):
    """The interface of a transformer."""

    def transform(self, changes: pa.RecordBatch, layouts: Mapping[int, Layout]) -> Transformed:
        """Judge a batch of changes, in the order in which they are published.

        Called again for the same changes if a run ended before they were published, so the answer should depend on
        them alone. A large transaction comes in several batches.

        Args:
            changes: columns as in `sluice.changelog.schema.SWEPT`: `new` and `old` are lists of texts in the order of
                the columns of the change's layout, or null; of a command `new` is its one text.
            layouts: schema, table and columns, by the numbers in `layout`; 0 is a change that belongs to no table.
        """


def load(named: str, source: str) -> Transformer:
    """The transformer of that name, for this source. Raises ConfigError SLC-054 if there is none."""
    try:
        made = extensions.call_hook(GROUP, named, source)
    except extensions.UnusableExtension as error:
        raise _unusable(named, str(error)) from error
    if not isinstance(made, Transformer):
        raise _unusable(named, "what it makes has no method `transform`")
    return made


def _unusable(named: str, why: str) -> ConfigError:
    return ConfigError(
        54,
        f"the transformer {named} cannot be loaded: {why}",
        f"nothing was published and nothing is lost; install it where the jobs run, as an entry point of {GROUP} or "
        "as module:attribute, or fix `transformer`",
    )
