"""The rows that an expression is evaluated over: images as lists of texts, read a column at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sluice.expressions.tree import Image


class RowImages:
    """Images of the same rows, all of them or some."""

    def __init__(self, images: Mapping[Image, pa.Array], count: int, indices: pa.Array | None = None) -> None:
        self._images = images
        self._indices = indices
        self._count = count
        self._read: dict[tuple[Image, int], pa.StringArray] = {}

    def __len__(self) -> int:
        return self._count

    def texts(self, image: Image, position: int) -> pa.StringArray:
        """One column; of an image that is not there it is NULL."""
        key = (image, position)
        if key not in self._read:
            self._read[key] = self._texts(image, position)
        return self._read[key]

    def _texts(self, image: Image, position: int) -> pa.StringArray:
        if image not in self._images:
            return pa.nulls(self._count, pa.string())
        texts = pc.list_element(self._images[image], position)
        return texts if self._indices is None else texts.take(self._indices)

    def where(self, chosen: pa.BooleanArray) -> RowImages:
        """The rows for which it is true."""
        indices = pc.indices_nonzero(chosen)
        if self._indices is not None:
            indices = self._indices.take(indices)
        return RowImages(self._images, len(indices), indices)
