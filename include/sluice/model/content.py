"""The literal of CONTENT and OLDCONTENT: a bare sequence of ``<col name="id">5</col>``.

The database renders the same literal in its ITEMS view; both sides are tested against each other. A value is plain
where it can be, CDATA where it holds ``<`` or ``&``, base64 where XML could not give it back, and ``type="null"``
tells NULL from ''.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

_UNSAFE = re.compile("]]>|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_MARKUP = re.compile("[<&]")
_IN_NAME = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}

Cell = str | bytes | None


def render(names: Sequence[str], values: Iterable[Cell]) -> str:
    """The literal of one row; `bytes` are always base64, a text only where it must be."""
    return "".join(_column(name, value) for name, value in zip(names, values, strict=True))


def parse(literal: str) -> dict[str, Cell]:
    """Column name to value, in the literal's order; what was base64 comes back as bytes unless it was text.

    Raises:
        ValueError: the literal is no sequence of columns.
    """
    try:
        root = ElementTree.fromstring(f"<row>{literal}</row>")
    except ElementTree.ParseError as error:
        raise ValueError(f"not a sequence of columns: {error}") from None
    return {column.attrib["name"]: _value(column) for column in root}


def _column(name: str, value: Cell) -> str:
    head = f'<col name="{escape(name, _IN_NAME)}"'
    if value is None:
        return f'{head} type="null"/>'
    if isinstance(value, bytes):
        return f'{head} encoding="base64">{base64.b64encode(value).decode()}</col>'
    if _UNSAFE.search(value):
        return f'{head} type="text" encoding="base64">{base64.b64encode(value.encode()).decode()}</col>'
    if _MARKUP.search(value):
        return f"{head}><![CDATA[{value}]]></col>"
    return f"{head}>{value}</col>"


def _value(column: ElementTree.Element) -> Cell:
    if column.get("type") == "null":
        return None
    text = column.text or ""
    if column.get("encoding") != "base64":
        return text
    raw = base64.b64decode(text)
    return raw.decode() if column.get("type") == "text" else raw
