"""A range of keys of a table, as people write it: ``public.legs: 2013, 'UA' .. 2013, 'WN'``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sluice.model.names import TableName
from sluice.model.watched import split_table

Bound = tuple[str, ...]

# A word that is read as one value without quotes.
_WORD = re.compile(r"(?:(?!\.\.)[^\s,()'])+")
# A text in quotes, two dots, a comma, a parenthesis; or a word, which ends before any of these.
_TOKENS = re.compile(r"\s*(?:('(?:[^']|'')*')|(\.\.)|([,()])|((?:(?!\.\.)[^\s,()'])+))")
_BOUND = re.compile(r"v(?:,v)*|\(v(?:,v)*\)|")


@dataclass(frozen=True)
class KeyInterval:
    """The rows of a table whose keys are in a range that includes both of its bounds.

    Attributes:
        first, until: values of the key's columns, or of its leading ones, as texts; None if there is no bound.
    """

    table: TableName
    first: Bound | None
    until: Bound | None

    @classmethod
    def parse(cls, text: str) -> KeyInterval:
        """Parse a table, a colon, and two bounds with `..` between them; either bound may be missing.

        A bound is a list of values, separated by commas, for all columns of the key or for its leading ones. Texts are
        in single quotes; texts without blanks and commas may be unquoted.

        Raises:
            ValueError: the text has another form.
        """
        name, colon, rest = _split_table(text)
        tokens = _tokens(rest)
        dots = [index for index, (kind, _) in enumerate(tokens) if kind == ".."]
        if not colon or len(dots) != 1:
            raise ValueError("it is no table, a colon, and two bounds with .. between them")
        first, until = tokens[: dots[0]], tokens[dots[0] + 1 :]
        return cls(TableName(*split_table(name)), _parse_bound(first), _parse_bound(until))

    def __str__(self) -> str:
        """As people write it."""
        return " ".join(filter(None, (f"{self.table}:", _to_text(self.first), "..", _to_text(self.until))))


def _to_text(bound: Bound | None) -> str:
    values = ((value if _WORD.fullmatch(value) else "'" + value.replace("'", "''") + "'") for value in bound or ())
    return ", ".join(values)


def _split_table(text: str) -> tuple[str, str, str]:
    """The table, the colon and the rest; no colon within double quotes is the one."""
    match = re.fullmatch(r'((?:"[^"]*"|[^":])*)(:)(.*)', text.strip(), re.DOTALL)
    return (match[1].strip(), match[2], match[3]) if match else (text, "", "")


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, offset = [], 0
    text = text.rstrip()
    while offset < len(text):
        token = _TOKENS.match(text, offset)
        if token is None:
            raise ValueError("a text in quotes does not end")
        quoted, dots, sign, word = token.groups()
        kind = dots or sign or "v"
        tokens.append((kind, quoted[1:-1].replace("''", "'") if quoted is not None else word or ""))
        offset = token.end()
    return tokens


def _parse_bound(tokens: list[tuple[str, str]]) -> Bound | None:
    if not _BOUND.fullmatch("".join(kind for kind, _ in tokens)):
        raise ValueError("a bound is one value, or several with commas between them")
    return tuple(value for kind, value in tokens if kind == "v") or None
