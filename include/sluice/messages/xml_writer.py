"""Messages as XML, in the form of the guide's DbWatcher; a piece at a time, so that none need fit into memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape

from sluice.messages.column_literal import cell
from sluice.messages.message import OLD_CONTENT, Cells, ColumnName, Description, Message, Row
from sluice.messages.xml_codec import attributes, protect

DECLARATION = "<?xml version='1.0' encoding='UTF-8' ?>\n"
CLOSED = " </sql>\n"
QUOTE = "'"
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = {"encoding", "encoded"}


def render(message: Message) -> str:
    """A whole message as a document."""
    rows = "".join(row(number, content) for number, content in enumerate(message.rows))
    return f"{DECLARATION}{begin_message(message.description)}{rows}{CLOSED}"


def begin_message(description: Description) -> str:
    """The beginning of a message, up to its rows; `CLOSED` ends it."""
    columns = "".join(f"\n       {_column_name(column)}" for column in description.columns)
    attributes = "".join(f"\n       {attribute}" for attribute in _attributes(description.attributes))
    head = _leaf("command", description.command) + _leaf("ident", description.ident)
    return f" <sql>\n   <desc>{head}{columns}{attributes}</desc>\n"


def row(number: int, content: Row) -> str:
    """One row of a message, which counts them from 0."""
    attributes = _attributes(content.attributes)
    if content.old is not None:
        attributes.append(f"<attr name='{OLD_CONTENT}' encoding='forcePlain'>{escape(_literal(content.old))}</attr>")
    return f"   <row num='{number}'>  {_literal(content.columns)}\n     {' '.join(attributes)}\n   </row>\n"


def _literal(cells: Cells) -> str:
    return "".join(cell("col", name, value) for name, value in cells)


def _attributes(given: Mapping[str, str | None]) -> list[str]:
    if OLD_CONTENT in given:
        raise ValueError(f"{OLD_CONTENT} is no attribute, it is the row before an update")
    return [cell("attr", name, value, QUOTE) for name, value in given.items()]


def _column_name(column: ColumnName) -> str:
    wrong = [name for name in column.attributes if name in _TAKEN or not _NAME.fullmatch(name)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} cannot be said of a column")
    return _leaf("colname", column.name, attributes(column.attributes, QUOTE))


def _leaf(tag: str, text: str, attributes: str = "") -> str:
    coded, body = protect(text)
    return f"<{tag}{attributes}{' encoding=' + repr('base64') if coded else ''}>{body}</{tag}>"
