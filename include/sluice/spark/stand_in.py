"""A stand-in for pandas, which PySpark's Connect client imports and needs for frames of pandas alone.

To import pandas is more than half of what such a client costs until it begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType

_MODULES = ("pandas", "pandas.api", "pandas.api.types")


class _StandIn(ModuleType):
    """A module that has a class of any name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


@contextmanager
def stand_in_for_pandas() -> Iterator[None]:
    """Let this process find the stand-in, which says the version that is installed, unless it has pandas already."""
    try:
        version = metadata.version("pandas")
    except metadata.PackageNotFoundError:
        # PySpark says so.
        version = ""
    if not version or "pandas" in sys.modules:
        yield
        return
    for name in _MODULES:
        module = sys.modules[name] = _StandIn(name)
        module.__version__, module.__path__ = version, []  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for name in _MODULES:
            sys.modules.pop(name, None)
