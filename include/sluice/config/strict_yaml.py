"""YAML as a person means it: no key twice, no key that is a list or a mapping; and what is wrong in it, in words."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Hashable, Sequence

import yaml
from pydantic_core import ErrorDetails


class StrictLoader(yaml.SafeLoader):
    """YAML takes the last of two equal keys without a word; two slaves of one name would become one."""

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


def place(location: Sequence[int | str]) -> str:
    """A place in a file, as people write it."""
    return ".".join(str(part) for part in location) or "(the file)"


def reason(fault: ErrorDetails, keys: Collection[str]) -> str:
    """What is wrong there; of a key that nobody knows, which of those there are was meant."""
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(fault["loc"][-1]), keys, n=1)
        return f"unknown key{f'; did you mean {near[0]}?' if near else ''}"
    return fault["msg"].removeprefix("Value error, ")
