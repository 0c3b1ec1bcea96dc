"""Definitions as PostgreSQL's catalog prints them, read piece by piece before they go into a statement.

They come from the master, so they may be anything. What is read here ends where it should: it closes what it opens,
holds no comment and no second statement. It is written again from its pieces, so that no server reads it otherwise.
Whether what it calls may be called is another question: see `sluice.vendors.postgresql.ddl.trust`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sluice.errors import SluiceError

# PostgreSQL manual, "Lexical Structure", without what a catalog never prints: comments, dollar quotes, parameters.
_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_TOKEN = re.compile(
    rf"""
      (?P<space>[ \t\n\r\f\v]+)
    | (?P<string>[eE]'(?:[^'\\]|\\.|'')*' | [bB]'[^']*' | '(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")+")
    | (?P<word>[{_LETTER}][{_LETTER}0-9$]*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![{_LETTER}0-9$.]))
    | (?P<operator>[-+*/<>=~!@#%^&|`?]+)
    | (?P<mark>::|[()\[\],.:])
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]"}

_DEFERRED = r"(?: (?:NOT )?DEFERRABLE)?(?: INITIALLY (?:DEFERRED|IMMEDIATE))?"
_CONSTRAINT = re.compile(
    rf"""
      CHECK\ \(\)(?:\ NO\ INHERIT)?(?:\ NOT\ VALID|\ NOT\ ENFORCED)?
    | (?:PRIMARY\ KEY|UNIQUE(?:\ NULLS\ NOT\ DISTINCT)?)\ \(\)(?:\ INCLUDE\ \(\))?{_DEFERRED.replace(" ", "[ ]")}
    | EXCLUDE\ USING\ \S+\ \(\)(?:\ INCLUDE\ \(\))?(?:\ WITH\ \(\))?(?:\ WHERE\ \(\))?{_DEFERRED.replace(" ", "[ ]")}
    """,
    re.VERBOSE,
)
_INDEX = re.compile(r"USING \S+ \(\)(?: INCLUDE \(\))?(?: NULLS NOT DISTINCT)?(?: WITH \(\))?(?: WHERE .+)?")
_COUNTER = re.compile(r"INCREMENT BY -?\d+ MINVALUE -?\d+ MAXVALUE -?\d+ START WITH -?\d+(?: NO)? CYCLE")


@dataclass(frozen=True)
class Piece:
    """A word, a name, a value or an operator; or all that stands between two brackets.

    Attributes:
        shape: what it is: words as they are, `""` for a quoted name, `''` for a value, `()` for what is in brackets.
        within: what stands between the brackets.
    """

    text: str
    shape: str
    within: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Definition:
    """A constraint or an index: what follows its name when it is made, and the expressions and conditions in it."""

    text: str
    expressions: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


def pieces(text: str) -> tuple[Piece, ...]:
    """Split a definition into tokens and groups in parentheses.

    Raises:
        SluiceError: SLC-321, it is not one that PostgreSQL prints.
    """
    tokens = _tokens(text)
    found, ending = _nested(tokens, text)
    if ending or next(tokens, None):
        raise unprinted(text)
    return found


def written(some: Sequence[Piece]) -> str:
    """The text of some pieces, as it goes into a statement."""
    return " ".join(piece.text for piece in some)


def shape(some: Sequence[Piece]) -> str:
    """The pattern of some pieces, without their names and values."""
    return " ".join(piece.shape for piece in some)


def split(some: Sequence[Piece]) -> list[tuple[Piece, ...]]:
    """The pieces between commas."""
    parts: list[list[Piece]] = [[]]
    for piece in some:
        if piece.shape == ",":
            parts.append([])
        else:
            parts[-1].append(piece)
    return [tuple(part) for part in parts]


def expression(text: str) -> str:
    """An expression, in brackets of its own. Raises SLC-321, as `pieces`."""
    return f"({written(pieces(text))})"


def constraint(text: str) -> Definition:
    """A key, a check or an exclusion. Raises SLC-321, as `pieces`."""
    found = pieces(text)
    if not _CONSTRAINT.fullmatch(shape(found)):
        raise unprinted(text)
    groups = [piece for piece in found if piece.shape == "()"]
    if found[0].shape == "CHECK":
        return Definition(written(found), conditions=(groups[0].text,))
    if found[0].shape != "EXCLUDE":
        return Definition(written(found))
    wheres = tuple(after.text for before, after in pairwise(found) if before.shape == "WHERE")
    return Definition(written(found), tuple(_elements(groups[0], text)), wheres)


def index(text: str) -> Definition:
    """An index, from USING on. Raises SLC-321, as `pieces`."""
    found = pieces(text)
    if not _INDEX.fullmatch(shape(found)):
        raise unprinted(text)
    named = next(index for index, piece in enumerate(found) if piece.shape == "()")
    where = next((index for index, piece in enumerate(found) if piece.shape == "WHERE"), None)
    conditions = () if where is None else (f"({written(found[where + 1 :])})",)
    return Definition(written(found), tuple(_elements(found[named], text)), conditions)


def counter(text: str) -> str:
    """Check the sequence options of an identity. Raises SLC-321."""
    if not _COUNTER.fullmatch(text):
        raise unprinted(text)
    return text


def unprinted(text: str) -> SluiceError:
    """The error for a definition that is refused in any case."""
    return SluiceError(
        321,
        f"a definition of the master is not one that PostgreSQL prints: {text}",
        "nothing of it was executed. Look at the table on the master, and who may write to the DbResources, the change "
        "log or the files that it came by; an initial_update leaves it behind",
    )


def _elements(group: Piece, text: str) -> Iterator[str]:
    """The expressions among what an index is made of: each is in brackets, or the call of a function."""
    for element in split(group.within):
        end = next((index for index, piece in enumerate(element) if piece.shape == "()"), 0)
        called = bool(element) and (element[0].shape == "()" or (end and _is_name(element[:end])))
        if called:
            yield f"({written(element[: end + 1])})"
        # In other brackets stand an operator, and what an operator class is told.
        for before, piece in pairwise(element[end:] if called else element):
            if piece.within and before.shape != "OPERATOR" and not all(map(_is_option, split(piece.within))):
                raise unprinted(text)


def _is_name(some: Sequence[Piece]) -> bool:
    """Whether these are the parts of one name, with dots between them."""
    parts, dots = some[::2], some[1::2]
    return len(some) % 2 == 1 and all(one.shape == "." for one in dots) and not any(one.within for one in parts)


def _is_option(some: Sequence[Piece]) -> bool:
    return len(some) == 3 and some[1].shape == "=" and not any(piece.within for piece in some)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    offset, before = 0, ""
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None or match.lastgroup is None:
            raise unprinted(text)
        kind, token, offset = match.lastgroup, match[0], match.end()
        if kind == "space":
            continue
        # A comment begins within what is otherwise an operator; a value goes on behind a line's end.
        if (kind == "operator" and ("--" in token or "/*" in token)) or kind == before == "string":
            raise unprinted(text)
        before = kind
        yield kind, token


def _nested(tokens: Iterator[tuple[str, str]], text: str) -> tuple[tuple[Piece, ...], str]:
    """The pieces up to a bracket that closes, and that bracket."""
    found: list[Piece] = []
    for kind, token in tokens:
        if token in _CLOSING.values():
            return tuple(found), token
        if token in _CLOSING:
            within, ending = _nested(tokens, text)
            if ending != _CLOSING[token]:
                raise unprinted(text)
            found.append(Piece(f"{token}{written(within)}{ending}", f"{token}{ending}", within))
        else:
            found.append(Piece(token, {"quoted": '""', "string": "''"}.get(kind, token)))
    return tuple(found), ""
