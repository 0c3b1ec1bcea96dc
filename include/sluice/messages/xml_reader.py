"""Messages out of XML: one document with one message, or with many in ``<messages>``; hostile ones are refused.

No entity is ever declared and no file opened; an element that a message cannot have is refused where it begins, so a
document can be neither deep nor grow. What is in hand is one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sluice.messages import column_literal
from sluice.messages.column_literal import Cell
from sluice.messages.message import OLD_CONTENT, Cells, ColumnName, Description, Message, Row
from sluice.messages.xml_codec import Element, elements, of_base64

_CHILDREN = {
    "": frozenset({"sql", "messages"}),
    "messages": frozenset({"sql"}),
    "sql": frozenset({"desc", "row"}),
    "desc": frozenset({"command", "ident", "colname", "attr"}),
    "row": frozenset({"col", "attr"}),
    # The old content, of which the guide has two forms: escaped, or as elements.
    "attr": frozenset({"col"}),
}
_LEAVES = {"command", "ident", "colname", "col", "attr"}


def parse(document: str | bytes) -> Message:
    """Parse a document with one message. Raises ValueError for anything else."""
    text = document.encode() if isinstance(document, str) else document
    parts = list(read([text]))
    if [isinstance(part, Description) for part in parts[:1]] != [True]:
        raise ValueError("no message in the document")
    description, *rows = parts
    if any(isinstance(part, Description) for part in rows):
        raise ValueError("more than one message in the document")
    return Message(description, tuple(rows))  # type: ignore[arg-type]


def read(chunks: Iterable[bytes]) -> Iterator[Description | Row]:
    """Each message's description, and then its rows, out of a document that comes in pieces.

    Raises:
        ValueError: it is no XML, or not of messages alone; with the place where that shows.
    """
    hand = _Hand()
    for element in elements(chunks, _CHILDREN):
        if element.text is None:
            hand.begin(element)
        elif finished := hand.end(element, element.text):
            yield finished


@dataclass
class _Hand:
    """The state of the description or the row that is being read."""

    described: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    names: list[ColumnName] = field(default_factory=list)
    attributes: dict[str, Cell] = field(default_factory=dict)
    columns: dict[str, Cell] = field(default_factory=dict)
    old: Cells | None = None
    nested: dict[str, Cell] | None = None

    def begin(self, element: Element) -> None:
        """Note where we are."""
        if element.tag == "sql":
            self.described = False
        elif element.tag in ("desc", "row"):
            if (element.tag == "row") != self.described:
                raise ValueError("a row without a description" if element.tag == "row" else "two descriptions")
            self.texts, self.names, self.attributes, self.columns, self.old = {}, [], {}, {}, None
        elif element.tag == "attr":
            self.nested = {}

    def end(self, element: Element, text: str) -> Description | Row | None:
        """Take what has ended in; a description or a row that is whole comes back."""
        if element.tag not in _LEAVES and text.strip():
            raise ValueError(f"text in <{element.tag}>, outside of its elements")
        if element.tag == "attr":
            self._attribute(element, text)
        elif element.tag == "col":
            column_literal.add(self.columns if self.nested is None else self.nested, element)
        elif element.tag == "colname":
            rest = {name: value for name, value in element.attributes.items() if name != "encoding"}
            self.names.append(ColumnName(_text(element, text), rest))
        elif element.tag in ("command", "ident"):
            if element.tag in self.texts:
                raise ValueError(f"two elements <{element.tag}>")
            self.texts[element.tag] = _text(element, text)
        elif element.tag == "desc":
            return self._description()
        elif element.tag == "row":
            return Row(tuple(self.columns.items()), _texts(self.attributes), self.old)
        return None

    def _attribute(self, element: Element, text: str) -> None:
        nested, self.nested = self.nested or {}, None
        if element.attributes.get("name") != OLD_CONTENT:
            if nested:
                raise ValueError(f"<col> in <attr>, which is no {OLD_CONTENT}")
            column_literal.add(self.attributes, element)
            return
        if self.old is not None:
            raise ValueError(f"{OLD_CONTENT!r} stands there twice")
        if nested and text.strip():
            raise ValueError(f"{OLD_CONTENT} both as elements and as text")
        self.old = tuple((nested or column_literal.parse(text)).items())

    def _description(self) -> Description:
        if "command" not in self.texts:
            raise ValueError("a description without a command")
        self.described = True
        return Description(
            self.texts["command"], self.texts.get("ident", ""), tuple(self.names), _texts(self.attributes)
        )


def _text(element: Element, text: str) -> str:
    return of_base64(text).decode() if element.attributes.get("encoding") == "base64" else text


def _texts(attributes: dict[str, Cell]) -> dict[str, str | None]:
    """Attributes are texts, whether or not their base64 says so."""
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
