"""YAML as a person means it: no key twice, no key that is a list or a mapping; and what is wrong in it, in words.

An alias repeats what may hold aliases itself, so few lines can stand for more than any memory holds: what comes out is
counted before it is made.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Hashable, Iterator, Sequence

import yaml
from pydantic_core import ErrorDetails

from sluice.model.limits import MOST_BYTES_OF_FILE, MOST_ENTRIES, MOST_LEVELS_OF_FILE

# No path, name or text of a database can hold a NUL, and no file half a character.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# What constructors of scalars raise for a text that is none of theirs.
_NONE_OF_THEIRS = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)


def parse(content: bytes) -> object:
    """Read the content of a YAML file.

    Raises:
        UnicodeDecodeError: it is no text.
        YAMLError: it is no YAML, or not as a person means it, or too large.
    """
    if len(content) > MOST_BYTES_OF_FILE:
        raise yaml.YAMLError(f"it has more than {MOST_BYTES_OF_FILE:,} bytes")
    try:
        return yaml.load(content.decode(), Loader=StrictLoader)
    except RecursionError:
        raise yaml.YAMLError(f"it has more than {MOST_LEVELS_OF_FILE} levels") from None


class StrictLoader(yaml.SafeLoader):
    """YAML takes the last of two equal keys without a word; two slaves of one name would become one."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None:
            _expect_bounded(node)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        if not isinstance(node, yaml.ScalarNode):
            return super().construct_object(node, deep=deep)
        if _NO_TEXT.search(node.value):
            raise yaml.MarkedYAMLError(problem="a text has a character that is none", problem_mark=node.start_mark)
        try:
            return super().construct_object(node, deep=deep)
        except _NONE_OF_THEIRS:
            kind = node.tag.rpartition(":")[2]
            raise yaml.MarkedYAMLError(
                problem=f"{node.value[:40]!r} is no {kind}; put a text into quotes", problem_mark=node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.MarkedYAMLError(problem="a key must be one word", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"{key!r} stands here twice", problem_mark=key_node.start_mark)
            seen.add(key)
        mapping: dict[object, object] = super().construct_mapping(node, deep=deep)
        return mapping


def _expect_bounded(whole: yaml.Node) -> None:
    """Raises MarkedYAMLError if what it stands for has too many levels or entries, or holds itself."""
    entries: dict[yaml.Node, int] = {}
    within: list[yaml.Node] = []

    def count(node: yaml.Node) -> int:
        if node in entries:
            return entries[node]
        if node in within or len(within) == MOST_LEVELS_OF_FILE:
            problem = "it holds itself" if node in within else f"it has more than {MOST_LEVELS_OF_FILE} levels"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        within.append(node)
        entries[node] = 1 + sum(map(count, _parts(node)))
        within.pop()
        if entries[node] > MOST_ENTRIES:
            problem = f"with what aliases repeat it has more than {MOST_ENTRIES:,} entries"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return entries[node]

    count(whole)


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair


def dotted_path(location: Sequence[int | str]) -> str:
    """A path of keys in a file as people write it: ``slaves.zurich.tables``."""
    return ".".join(str(part) for part in location) or "(the file)"


def reason(fault: ErrorDetails, keys: Collection[str]) -> str:
    """The reason of a fault; for an unknown key with the nearest known one."""
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(fault["loc"][-1]), keys, n=1)
        return f"unknown key{f'; did you mean {near[0]}?' if near else ''}"
    return fault["msg"].removeprefix("Value error, ")
