"""The two forms in which messages leave: one XML document, or one JSON object a line. Both come in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sluice.messages import xml_writer
from sluice.messages.column_literal import Cell
from sluice.messages.message import REPLICATION, Cells, Description, Row
from sluice.messages.xml_codec import attributes, in_base64

_NUMBERS = {"ordinal", "replKey"}


def as_xml(parts: Iterable[Description | Row], about: Mapping[str, str]) -> Iterator[str]:
    """A document of all messages; `about` becomes the attributes of its root."""
    yield f"{xml_writer.DECLARATION}<messages{attributes(about, xml_writer.QUOTE)}>\n"
    rows = -1
    for part in parts:
        if isinstance(part, Row):
            yield xml_writer.row(rows, part)
        else:
            yield (xml_writer.CLOSED if rows >= 0 else "") + xml_writer.begin_message(part)
        rows = rows + 1 if isinstance(part, Row) else 0
    yield (xml_writer.CLOSED if rows >= 0 else "") + "</messages>\n"


def as_json_lines(parts: Iterable[Description | Row], _: Mapping[str, str]) -> Iterator[str]:
    """A line for each row, with what its message's description says, and a line for each command."""
    message = Description()
    for part in parts:
        if isinstance(part, Row):
            line = {"command": message.command, **_attributes(part.attributes), "columns": _cells(part.columns)}
            if part.old is not None:
                line["old"] = _cells(part.old)
            if message.attributes:
                line["description"] = dict(message.attributes)
        else:
            message = part
            if message.command == REPLICATION:
                continue
            line = {"command": message.command, **_attributes(message.attributes)}
            if message.columns:
                line["columns"] = [{"name": column.name, **column.attributes} for column in message.columns]
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _attributes(given: Mapping[str, str | None]) -> dict[str, Any]:
    return {name: int(value) if name in _NUMBERS and value else value for name, value in given.items()}


def _cells(cells: Cells) -> dict[str, Any]:
    return {name: _plain(value) for name, value in cells}


def _plain(value: Cell) -> str | dict[str, str] | None:
    return {"base64": in_base64(value)} if isinstance(value, bytes) else value
