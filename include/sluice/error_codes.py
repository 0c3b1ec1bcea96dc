"""The registry of error codes. `./sluice explain` and the page of errors are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import yaml

_FILE = "error_codes.yaml"
# The loader of the C library, where PyYAML was built with it: ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class ErrorEntry:
    """One error, in Markdown.

    Attributes:
        safe: the state in which the error leaves things, and whether the run tries again by itself.
        remedy: the commands to type, or the steps to take.
    """

    code: str
    meaning: str
    safe: str
    remedy: str


def sections() -> Mapping[str, list[ErrorEntry]]:
    """Every error, by the title of its section."""
    text = resources.files("sluice").joinpath(_FILE).read_text(encoding="utf-8")
    return {
        section["section"]: [
            ErrorEntry(code, told["what"], told["safe"], told["type"]) for code, told in section["codes"].items()
        ]
        for section in yaml.load(text, _LOADER)
    }


def entries() -> dict[str, ErrorEntry]:
    """Every error by its code."""
    return {entry.code: entry for section in sections().values() for entry in section}
