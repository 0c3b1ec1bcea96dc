"""Names inside of definitions, as the master's catalog prints them, put into the words of a slave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.vendors.postgresql.session import Connection, composed

# A literal, or a name and another behind a dot; both sides of a dot may be quoted. With the catalog's search path alone
# what is printed with a dot is qualified by a schema, since columns of a definition stand alone.
_NAME = r'"(?:[^"]|"")+"|[^\W\d][\w$]*'
_TOKEN = re.compile(rf"""E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|({_NAME})\.({_NAME})|{_NAME}""", re.DOTALL)


@dataclass(frozen=True)
class SlaveNames:
    """The names under which a slave has types, functions and schemas.

    Attributes:
        extended: what extensions brought along, by name: the schema that it is in there.
        quoted: schemas as its catalog prints them.
    """

    mapper: Mapper = field(default_factory=Mapper)
    extended: Mapping[str, str] = field(default_factory=dict)
    quoted: Mapping[str, str] = field(default_factory=dict)

    def slave_name(self, name: TableName) -> TableName:
        """The name on the slave of a type or function of the master."""
        if name.table in self.extended and name.schema != "pg_catalog":
            return TableName(self.extended[name.table], name.table)
        return TableName(self.mapper.schema(name.schema), name.table)

    def within(self, definition: str) -> str:
        """A definition with the slave's schemas instead of the master's."""

        def put(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            schema = self.slave_name(TableName(_plain(match[1]), _plain(match[2]))).schema
            return f"{self.quoted.get(schema, match[1])}.{match[2]}"

        return _TOKEN.sub(put, definition)


def names_of(connection: Connection, mapper: Mapper) -> SlaveNames:
    """The names of the slave of this session."""
    extended: dict[str, str] = dict(connection.execute(composed("catalog/extended")).fetchall())
    schemas = [*mapper.schemas.values(), *extended.values()]
    quoted = connection.execute("SELECT name, quote_ident(name) FROM unnest(%s::text[]) AS name", [schemas])
    return SlaveNames(mapper, extended, dict(quoted.fetchall()))


def _plain(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
