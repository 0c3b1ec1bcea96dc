"""The values of a row by the names of its columns, as pages and REST show them."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.model.layout import Layout

# Characters of a value that are shown.
MOST_LETTERS = 2_000


def values_by_name(layout: Layout | None, image: Sequence[str | None] | None) -> dict[str, str | None] | None:
    """The values of an image by their columns, long ones cut; None if there is none."""
    if layout is None or image is None:
        return None
    names = (column.name for column in layout.columns)
    return {name: None if value is None else cut(value) for name, value in zip(names, image, strict=True)}


def cut(text: str) -> str:
    """The beginning of a long text; a short one as it is."""
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
