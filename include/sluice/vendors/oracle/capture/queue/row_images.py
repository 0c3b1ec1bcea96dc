"""Images of rows out of CONTENT and OLDCONTENT: one literal a column, as the functions of the source write it (R7)."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence

from sluice.errors import VALUES_ENV
from sluice.vendors.oracle.types import Captured
from sluice.vendors.oracle.values import canonical

_COLUMN = re.compile(
    r'<col name="([^"<]*)"(?: type="(null|text)")?(?: encoding="(base64)")?'
    r"(?:/>|>(?:<!\[CDATA\[(.*?)\]\]>|([^<&]*))</col>)",
    re.DOTALL,
)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#10;": "\n", "&#13;": "\r", "&#9;": "\t"}
_ENTITY = re.compile("|".join(_ENTITIES))

Cell = str | None


def cells(image: str) -> dict[str, Cell]:
    """The texts of an image by the names of columns; bytes are hexadecimal digits.

    Raises:
        ValueError: it is no image, or names a column twice.
    """
    found: dict[str, Cell] = {}
    place = 0
    for one in _COLUMN.finditer(image):
        if one.start() != place:
            break
        place = one.end()
        name = _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], one[1])
        if name in found:
            raise ValueError(f"it has the column {name} twice")
        found[name] = _text(*one.groups()[1:])
    if place != len(image):
        raise ValueError(f"it cannot be read from character {place + 1} on")
    return found


def _text(kind: Cell, encoding: Cell, protected: Cell, plain: Cell) -> Cell:
    if kind == "null":
        return None
    if encoding is None:
        return protected if protected is not None else plain or ""
    decoded = b64decode(plain or "", validate=True)
    return decoded.decode() if kind == "text" else f"\\x{decoded.hex()}"


def reader(
    names: Sequence[str], kinds: Sequence[Captured]
) -> Callable[[Mapping[str, Cell], Mapping[str, Cell]], list[Cell]]:
    """What makes the values of a row in the order of a layout, in their canonical texts.

    Its first argument is what `cells` gives of an image. Its second one has the values of columns that no trigger can
    read, which the image lacks. It raises ValueError for an image that does not fit the columns.
    """
    texts = [canonical(how) for how in kinds]
    captured = {name for name, how in zip(names, kinds, strict=True) if how.literal}

    def row(found: Mapping[str, Cell], longs: Mapping[str, Cell]) -> list[Cell]:
        if found.keys() != captured:
            raise ValueError(f"it has the columns {', '.join(found)}")
        values = [found[name] if name in captured else longs.get(name) for name in names]
        try:
            return [None if value is None else text(value) for value, text in zip(values, texts, strict=True)]
        except ValueError as error:
            raise ValueError(str(error) if os.environ.get(VALUES_ENV) else "a value is none of its column") from None

    return row
