"""The literal of CONTENT and OLDCONTENT: a bare sequence of ``<col name="id">5</col>``.

The database renders the same literal in its ITEMS view; both sides are tested against each other. A value is plain
where it can be, CDATA where it holds ``<`` or ``&``, base64 where XML could not give it back, and ``type="null"``
tells NULL from ''.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sluice.messages.xml_codec import Element, elements, head, in_base64, of_base64, protect

Cell = str | bytes | None

# How a boolean is written, by the letter that the database prints; and back.
BOOLEAN_WORDS = {"t": "true", "f": "false"}
BOOLEAN_LETTERS = {word: letter for letter, word in BOOLEAN_WORDS.items()}


def _from_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


# For types that every vendor prints alike: what a message has for that. Of others it has what is printed.
PRINTED: Mapping[str, Callable[[str], Cell]] = {"bytea": _from_hex}
_CHILDREN = {"": frozenset({"row"}), "row": frozenset({"col"})}


def render(names: Sequence[str], values: Iterable[Cell]) -> str:
    """The literal of one row; `bytes` are always base64, a text only where it must be."""
    return "".join(cell("col", name, value) for name, value in zip(names, values, strict=True))


def parse(literal: str) -> dict[str, Cell]:
    """Column name to value, in the literal's order; what was base64 comes back as bytes unless it was text.

    Raises:
        ValueError: the literal is no sequence of columns, or names one twice.
    """
    values: dict[str, Cell] = {}
    try:
        for element in elements([b"<row>", literal.encode(), b"</row>"], _CHILDREN):
            if element.text is None:
                continue
            if element.tag == "col":
                add(values, element)
            elif element.text.strip():
                raise ValueError("text between columns")
    except ValueError as error:
        raise ValueError(f"not a sequence of columns: {error}") from None
    return values


def cell(tag: str, name: str, value: Cell, quote: str = '"') -> str:
    """An element with a name and a value."""
    begun = head(tag, name, quote)
    if value is None:
        return f"{begun} type={quote}null{quote}/>"
    if isinstance(value, bytes):
        return f"{begun} encoding={quote}base64{quote}>{in_base64(value)}</{tag}>"
    coded, text = protect(value)
    if coded:
        return f"{begun} type={quote}text{quote} encoding={quote}base64{quote}>{text}</{tag}>"
    return f"{begun}>{text}</{tag}>"


def add(values: dict[str, Cell], element: Element) -> None:
    """Take name and value of an element that `cell` wrote. Raises ValueError if it has no name, or stands twice."""
    name, kind = element.attributes.get("name"), element.attributes.get("type")
    if name is None or name in values:
        raise ValueError(f"<{element.tag}> without a name" if name is None else f"{name!r} stands there twice")
    text = element.text or ""
    if kind == "null":
        values[name] = None
    elif element.attributes.get("encoding") != "base64":
        values[name] = text
    else:
        raw = of_base64(text)
        values[name] = raw.decode() if kind == "text" else raw
