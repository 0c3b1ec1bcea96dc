"""SQL as tokens: which calls leave it to the server whose function or operator they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)|(?P<tag>\$\w*\$)|(?P<text>[Ee]?'(?:[^']|'')*')|(?P<mark>::|:=|[()\[\],;.])
    |(?P<name>"(?:[^"]|"")*"|[A-Za-z_]\w*|\{\w+\}|%\(\w+\)s|%s)|(?P<number>\d+)|(?P<operator>[-+*/<>=~!@\#%^&|`?]+)""",
    re.VERBOSE,
)
_OPENING, _CLOSING = ("(", "["), (")", "]")
# Words that may stand before a parenthesis and call nothing.
_WORDS = {"all", "and", "any", "array", "as", "coalesce", "exists", "from", "into", "not", "operator", "or"}
_WORDS |= {"returning", "row", "select", "values", "where"}
# Words that stand for an operator, which is looked up as one that is written.
_COMPARING = {"between", "ilike", "in", "like", "nullif", "similar"}
_SPELLINGS = {"bool": "boolean", "int": "integer", "int4": "integer", "int8": "bigint"}

Signatures = Mapping[tuple[str, int], Sequence[str]]


@dataclass(frozen=True)
class Token:
    """A word, a literal, an operator or a mark; what is quoted by dollars is code as well."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


def tokens(text: str) -> list[Token]:
    """Without comments, blanks and dollar quotes."""
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        kind = match.lastgroup if match else "mark"
        if kind not in ("space", "tag"):
            found.append(Token(kind or "", match[0] if match else text[place]))
        place = match.end() if match else place + 1
    return found


def type_name(parts: Sequence[Token]) -> str:
    """A type as it is compared: those of pg_catalog have no schema."""
    name = "".join(map(str, parts)).removeprefix("pg_catalog.")
    base = name.removesuffix("[]")
    return _SPELLINGS.get(base, base) + name[len(base) :]


def signatures(texts: Sequence[str]) -> dict[tuple[str, int], list[str]]:
    """The types of the arguments of each `{function}` that these texts make, by its name and their number."""
    found = {}
    for text in texts:
        code = tokens(text)
        for place, token in enumerate(code[:-1]):
            if token.text == "FUNCTION" and code[place - 1].text == "REPLACE":
                given = [one for one in _arguments(code, place + 3) if one and one[0].text != "OUT"]
                found[code[place + 1].text, len(given)] = [type_name(one[1:]) for one in given]
    return found


def inexact(text: str, known: Signatures, name_at: Callable[[Sequence[Token], int], str]) -> list[str]:
    """The arguments in calls of known functions that are not cast to the type that the function declares.

    Args:
        name_at: what a token is called among the known functions.
    """
    code, found = tokens(text), []
    names = {name for name, _ in known}
    for place, token in enumerate(code[:-1]):
        name = name_at(code, place)
        if name not in names or code[place + 1].text != "(" or _is_defined(code, place):
            continue
        given = [one for one in _arguments(code, place + 2) if one]
        for argument, wanted in zip(given, known.get((name, len(given)), repeat("anything")), strict=False):
            if not _is_cast(argument, wanted):
                found.append(f"{token}: {' '.join(map(str, argument))} is not cast to {wanted}")
    return found


def unqualified(text: str) -> list[str]:
    """What a session's search_path decides about: operators, functions and types without a schema; and operators of
    other schemas, unless both sides are cast."""
    code, found = tokens(text), []
    for place, token in enumerate(code):
        before, after = code[place - 1].text if place else "", code[place + 1].text if place + 1 < len(code) else ""
        word = token.text.lower()
        if token.kind == "operator" and not _in_operator(code, place):
            found.append(token.text)
        elif word == "operator" and code[place + 2].text != "pg_catalog" and not _both_cast(code, place):
            found.append("".join(map(str, code[place : place + 6])))
        elif before == "::" and after != ".":
            found.append(f"::{token}")
        elif token.kind == "name" and before != "." and (
            word in _COMPARING or (after == "(" and word not in _WORDS) or (word == "case" and after.lower() != "when")
            or (word == "distinct" and after.lower() == "from")
        ):  # fmt: skip
            found.append(token.text)
        elif (
            after in (":=", ";")
            and token.kind == code[place - 1].kind == "name"
            and before.lower() not in ("return", "end", "else")
        ):
            found.append(f"{before} {token}")
    return found


def _arguments(code: Sequence[Token], place: int) -> list[list[Token]]:
    """What stands between commas from a place behind a parenthesis on, up to its end."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in code[place:]:
        if token.text in _CLOSING and depth == 0:
            break
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _is_defined(code: Sequence[Token], place: int) -> bool:
    while place > 1 and code[place - 1].text == ".":
        place -= 2
    return code[place - 1].text.upper() in ("FUNCTION", "EXISTS")


def _is_cast(argument: Sequence[Token], wanted: str) -> bool:
    """Whether a cast to a type is the last that is done to a whole argument."""
    outer = list(_outside(argument))
    casts = [place for place, (_, token) in enumerate(outer) if token.text == "::"]
    if not casts:
        return wanted == "boolean" and [token.text for token in argument] in (["true"], ["false"])
    if type_name(argument[outer[casts[-1]][0] + 1 :]) != wanted:
        return False
    kinds = [token.kind for _, token in outer]
    return "operator" not in kinds and not any(one == other == "name" for one, other in pairwise(kinds))


def _outside(argument: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens outside of parentheses, with their places."""
    depth = 0
    for place, token in enumerate(argument):
        depth -= token.text in _CLOSING
        if depth == 0 and token.text not in (*_OPENING, *_CLOSING):
            yield place, token
        depth += token.text in _OPENING


def _in_operator(code: Sequence[Token], place: int) -> bool:
    return code[place - 1].text == "." and code[place - 4].text.lower() == "operator"


def _both_cast(code: Sequence[Token], place: int) -> bool:
    """Whether `a::s.t OPERATOR(s.=) b::s.t` stands there."""
    behind = [token.text for token in code[place + 6 : place + 14]]
    return code[place - 4].text == "::" and "::" in behind[:6]
