"""Plain words: functions are verbs or nouns, names say what they hold, one class name is one class.

A count may only fall. A change that makes one smaller writes the smaller number here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SLUICE = PROJECT / "include" / "sluice"

# Forms that are participles and nothing else. `read`, `put`, `set` and `run` are verbs, too.
IRREGULAR = re.compile(
    "begun|bound|bought|broken|brought|built|caught|chosen|cut|done|drawn|driven|fallen|fed|felt|forgotten|found|frozen|"
    "given|gone|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|proven|said|seen|sent|"
    "shown|sold|sought|spent|spoken|stolen|stood|stuck|swept|taken|taught|thought|thrown|told|understood|won|worn|written"
)
VERBS = re.compile("bring|embed|exceed|feed|need|ping|proceed|ring|seed|speed|string")
EMPTY_NAMES = frozenset({"one", "found"})
OBSCURE = re.compile(r"\b(?:whoever|nobody|those that|that of)\b", re.IGNORECASE)
CLAUSE = re.compile(r"(?:What|Who|Whom|Whose|Whoever|Where|How)\b")


def is_participle(name: str) -> bool:
    """Whether a name is one participle alone, or says nothing: `dropped`, `_loading`, `of`."""
    word = name.lstrip("_")
    if VERBS.fullmatch(word):
        return False
    return word == "of" or bool(IRREGULAR.fullmatch(word) or re.fullmatch("[a-z]+(?:ed|ing)", word))


@cache
def modules() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in SLUICE.rglob("*.py")}


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """All nodes of these kinds, each with the room it stands in."""
    for file, module in modules().items():
        parts = file.relative_to(SLUICE).parts
        for node in ast.walk(module):
            if isinstance(node, kinds):
                yield parts[0] if len(parts) > 1 else "", node


def docstrings() -> Iterator[tuple[str, str]]:
    for room, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module):
        if text := ast.get_docstring(node):
            yield room, text


def participles() -> Iterator[str]:
    for room, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        if is_participle(node.name):
            yield room


def empty_names() -> Iterator[str]:
    for room, node in nodes(ast.Name, ast.arg):
        if (node.arg if isinstance(node, ast.arg) else node.id) in EMPTY_NAMES:
            yield room


def clauses() -> Iterator[str]:
    """Docstrings whose subject is a clause: "What is left of a step"."""
    return (room for room, text in docstrings() if CLAUSE.match(text))


def obscure_words() -> Iterator[str]:
    return (room for room, text in docstrings() for _ in OBSCURE.findall(text))


def classes_that_share_a_name() -> Iterator[str]:
    rooms: dict[str, list[str]] = {}
    for room, node in nodes(ast.ClassDef):
        rooms.setdefault(node.name, []).append(room)
    return (room for there in rooms.values() if len(there) > 1 for room in there)


# What is counted: in the rooms of databases, and in all others together.
LIMITS = {
    participles: (641, 9),
    empty_names: (2937, 0),
    clauses: (162, 24),
    obscure_words: (159, 19),
    classes_that_share_a_name: (69, 5),
}


@pytest.mark.parametrize(("count", "limits"), LIMITS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_the_count_only_falls(count, limits):
    by_room = Counter(count())
    databases = by_room.pop("vendors", 0)
    assert (databases, sum(by_room.values())) == limits, dict(by_room)
