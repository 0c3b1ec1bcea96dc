"""XML as our literals and messages use it: writing that loses no character, and a reading that is not led astray.

XML has no way to write most control characters, and reads a carriage return as a line feed. A text that holds such, or
``]]>``, is written as base64. In the value of an attribute that is told by one more attribute, ``encoded``, which lists
the names of those that are base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

_UNSAFE = re.compile("]]>|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_MARKUP = re.compile("[<&]")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCES = {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_ENCODED = "encoded"


def attributes(given: Mapping[str, str], quote: str = '"') -> str:
    """``name="value"`` for each, with a blank before it."""
    encoded = [name for name, value in given.items() if _NO_XML.search(value)]
    values = {name: in_base64(value.encode()) if name in encoded else value for name, value in given.items()}
    if encoded:
        values[_ENCODED] = " ".join(encoded)
    references = {sign: text for sign, text in _REFERENCES.items() if sign not in "'\"" or sign == quote}
    return "".join(f" {name}={quote}{escape(value, references)}{quote}" for name, value in values.items())


@lru_cache(maxsize=65_536)
def head(tag: str, name: str, quote: str = '"') -> str:
    """The beginning of an element that has a name, without its ``>``."""
    return f"<{tag}{attributes({'name': name}, quote)}"


def protect(text: str) -> tuple[bool, str]:
    """A text as an element may hold it, and whether that is base64."""
    if _UNSAFE.search(text):
        return True, in_base64(text.encode())
    return False, f"<![CDATA[{text}]]>" if _MARKUP.search(text) else text


def in_base64(raw: bytes) -> str:
    """Without line breaks."""
    return base64.b64encode(raw).decode()


def of_base64(text: str) -> bytes:
    """Decode base64 with any line breaks. Raises ValueError if it is invalid."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None


class Element(NamedTuple):
    """An element as it is read, its attributes decoded; `text` is its own once it has ended, None when it begins."""

    tag: str
    attributes: Mapping[str, str]
    text: str | None = None


def elements(chunks: Iterable[bytes], children: Mapping[str, frozenset[str]]) -> Iterator[Element]:
    """Every element of a document when it has ended; one that others may stand in also when it begins.

    Args:
        children: for each tag those that may stand in it, `""` for the document. A tag that has some has no text.

    Raises:
        ValueError: it is no XML, or has anything else in it: a document type with its entities, a processing
            instruction, an element at another place.
    """
    reading = _XmlParser(children)
    try:
        for chunk in chunks:
            reading.parser.Parse(chunk, False)
            yield from reading.take()
        reading.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError(f"no XML: {error}") from None
    yield from reading.take()


class _XmlParser:
    """The handlers of expat; it never opens a file or an address, and no entity is ever declared."""

    def __init__(self, children: Mapping[str, frozenset[str]]) -> None:
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.ProcessingInstructionHandler = self._refuse
        self._children = children
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self._found: list[Element] = []

    def take(self) -> list[Element]:
        """The elements since the last call."""
        elements, self._found = self._found, []
        return elements

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        parent = self._open[-1][0] if self._open else ""
        if tag not in self._children.get(parent, ()):
            raise self._error(f"<{tag[:40]}> in {f'<{parent}>' if parent else 'the document'}")
        if _ENCODED in given:
            self._decode(given)
        self._open.append((tag, given, []))
        if tag in self._children:
            self._found.append(Element(tag, given))

    def _decode(self, given: dict[str, str]) -> None:
        for name in given.pop(_ENCODED).split():
            if name not in given:
                raise self._error(f"{name[:40]} is called encoded, and is not there")
            given[name] = _text_of(given[name])

    def _end(self, _: str) -> None:
        tag, given, texts = self._open.pop()
        self._found.append(Element(tag, given, "".join(texts)))

    def _text(self, text: str) -> None:
        self._open[-1][2].append(text)

    def _refuse(self, *_: object) -> None:
        raise self._error("a document type or a processing instruction")

    def _error(self, what: str) -> ValueError:
        where = f"line {self.parser.CurrentLineNumber}, column {self.parser.CurrentColumnNumber}"
        return ValueError(f"{what}, which does not belong there: {where}")


def _text_of(encoded: str) -> str:
    return of_base64(encoded).decode()
