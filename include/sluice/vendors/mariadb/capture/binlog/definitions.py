"""Statements of the log: which tables one defines or empties. No more of it is understood than that.

Source: MariaDB Knowledge Base, "ALTER TABLE", "DROP TABLE", "RENAME TABLE", "TRUNCATE TABLE", "CREATE TABLE".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from sluice.model.names import TableName

_TOKEN = re.compile(
    r"""/\*M?!\d*|\*/|(?P<comment>/\*.*?\*/|--\s[^\n]*|\#[^\n]*)|(?P<text>'(?:[^'\\]|\\.|'')*')"""
    r"""|`(?P<back>(?:[^`]|``)*)`|"(?P<double>(?:[^"]|"")*)"|(?P<word>[\w$]+)|(?P<sign>[^\s\w])""",
    re.DOTALL,
)
# A statement of these changes rows, if it is in the log at all.
_WRITING = {"INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "WITH", "EXECUTE", "DO", "SELECT"}
_ASIDE = {"IF", "EXISTS", "NOT", "TABLE", "TABLES", "IGNORE", "ONLINE", "WAIT", "NOWAIT", "OR", "REPLACE", "TEMPORARY"}
_PARTITIONS = {"DROP", "TRUNCATE", "EXCHANGE", "CONVERT", "DISCARD", "IMPORT"}


class Does(Enum):
    """What becomes of a table."""

    ALTERED = "it may have other columns from here on, and the same rows"
    EMPTIED = "it has no rows"
    GONE = "it is not there any more"
    REPLACED = "it has rows of which the log does not tell"


@dataclass(frozen=True)
class Definition:
    """A statement.

    Attributes:
        tables: those that it names, and what becomes of each, in order.
        schema: the database that it drops with all that is in it.
        writes: it changes rows, and the log does not tell which.
        mentioned: whatever may be a table in one that writes.
    """

    tables: tuple[tuple[TableName, Does], ...] = ()
    schema: str | None = None
    writes: bool = False
    mentioned: tuple[TableName, ...] = ()


@dataclass(frozen=True)
class _Token:
    text: str
    is_name: bool
    is_quoted: bool = False

    def is_word(self, *words: str) -> bool:
        return self.is_name and not self.is_quoted and self.text.upper() in words


def definition(schema: str, text: str) -> Definition:
    """What a statement, executed in a database, makes of tables."""
    tokens = list(_tokens(text))
    if not tokens:
        return Definition()
    if tokens[0].is_word(*_WRITING):
        return Definition(writes=True, mentioned=tuple(_mentioned(schema, tokens)))
    words = [one.text.upper() for one in tokens[:6] if one.is_name and not one.is_quoted]
    reader = _Statement(schema, tokens)
    if tokens[0].is_word("TRUNCATE"):
        return Definition(tuple((name, Does.EMPTIED) for name in reader.names(1)))
    if tokens[0].is_word("RENAME") and words[1:2] in (["TABLE"], ["TABLES"]):
        return Definition(tuple(reader.renamed()))
    if tokens[0].is_word("DROP") and words[1:2] in (["DATABASE"], ["SCHEMA"]):
        names = reader.names(2)
        return Definition(schema=names[0].table if names else None)
    if "TEMPORARY" in words[:5] or "TABLE" not in words[:5]:
        return Definition()
    if tokens[0].is_word("DROP"):
        return Definition(tuple((name, Does.GONE) for name in reader.names(1)))
    if tokens[0].is_word("CREATE"):
        replaces = words[1:3] == ["OR", "REPLACE"]
        return Definition(tuple((name, Does.GONE if replaces else Does.ALTERED) for name in reader.names(1)[:1]))
    if tokens[0].is_word("ALTER"):
        return Definition(tuple(reader.altered()))
    return Definition()


def _tokens(text: str) -> list[_Token]:
    found = []
    for one in _TOKEN.finditer(text):
        if (name := one["back"]) is not None:
            found.append(_Token(name.replace("``", "`"), is_name=True, is_quoted=True))
        elif (name := one["double"]) is not None:
            found.append(_Token(name.replace('""', '"'), is_name=True, is_quoted=True))
        elif word := one["word"]:
            found.append(_Token(word, is_name=True))
        elif sign := one["sign"]:
            found.append(_Token(sign, is_name=False))
    return found


def _mentioned(schema: str, tokens: list[_Token]) -> list[TableName]:
    names = [one.text for one in tokens if one.is_name]
    pairs = [
        TableName(one.text, other.text)
        for one, dot, other in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if one.is_name and dot.text == "." and other.is_name
    ]
    return [*pairs, *(TableName(schema, name) for name in names)]


class _Statement:
    def __init__(self, schema: str, tokens: list[_Token]) -> None:
        self._schema = schema
        self._tokens = tokens

    def names(self, begin: int) -> list[TableName]:
        """Names between commas from a token on."""
        at, found = self._skipped(begin), []
        while name := self._name(at):
            found.append(name[0])
            at = name[1]
            if at >= len(self._tokens) or self._tokens[at].text != ",":
                break
            at += 1
        return found

    def renamed(self) -> list[tuple[TableName, Does]]:
        """One name TO another, between commas."""
        found: list[tuple[TableName, Does]] = []
        at = self._skipped(1)
        while (old := self._name(at)) is not None:
            at = self._skipped(old[1])
            if at >= len(self._tokens) or not self._tokens[at].is_word("TO") or not (new := self._name(at + 1)):
                break
            found += [(old[0], Does.GONE), (new[0], Does.REPLACED)]
            at = new[1] + 1
        return found

    def altered(self) -> list[tuple[TableName, Does]]:
        """The table of an ALTER, and what it is called then."""
        if (old := self._name(self._skipped(1))) is None:
            return []
        name, at = old
        for place in range(at, len(self._tokens)):
            one, behind = self._tokens[place], self._tokens[place + 1 : place + 2]
            if one.is_word(*_PARTITIONS) and behind and behind[0].is_word("PARTITION", "TABLESPACE"):
                return [(name, Does.REPLACED)]
            if one.is_word("RENAME") and behind and not behind[0].is_word("COLUMN", "INDEX", "KEY"):
                begin = place + 1 + behind[0].is_word("TO", "AS")
                begin += self._tokens[begin : begin + 1] == [_Token("=", is_name=False)]
                if new := self._name(begin):
                    return [(name, Does.GONE), (new[0], Does.REPLACED)]
        return [(name, Does.ALTERED)]

    def _skipped(self, at: int) -> int:
        """Behind the words in front of a name."""
        while at < len(self._tokens) and self._tokens[at].is_word(*_ASIDE, "DATABASE", "SCHEMA"):
            is_wait = self._tokens[at].is_word("WAIT")
            at += 2 if is_wait else 1
        return at

    def _name(self, at: int) -> tuple[TableName, int] | None:
        parts = self._tokens[at : at + 3]
        if not parts or not parts[0].is_name:
            return None
        if len(parts) == 3 and parts[1].text == "." and parts[2].is_name:
            return TableName(parts[0].text, parts[2].text), at + 3
        return TableName(self._schema, parts[0].text), at + 1
