"""Names, as the server quotes them: only where they are not plain."""

from __future__ import annotations

import re

from sluice.model.names import TableName

IDENTIFIER = r'(?>"(?:[^"]++|"")++"|[a-z_][a-z0-9_$]*+)'
_QUALIFIED = re.compile(rf"({IDENTIFIER})\.({IDENTIFIER})")


def unquoted(name: str) -> str:
    """The name itself."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def qualified(text: str) -> TableName | None:
    """The table that a schema and a name with a dot between are; None if the text is something else."""
    found = _QUALIFIED.fullmatch(text)
    return TableName(unquoted(found[1]), unquoted(found[2])) if found else None
