"""Keeps PyArrow from importing pandas, which costs a job more CPU than all else until it begins.

PyArrow asks once whether there is pandas, at its first array, and imports it to know. An ImportError is a no. So pandas
is hidden from that question alone. PyArrow is told as soon as pandas is imported for another reason: `to_pandas`,
plugins and PySpark find all as if PyArrow had asked then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import get_ident
from types import ModuleType


def hide_pandas() -> None:
    """Let PyArrow go without pandas until another module imports it, in this process from now on."""
    if "pandas" in sys.modules or any(isinstance(finder, _ImportWatch) for finder in sys.meta_path):
        return
    watch = _ImportWatch()
    sys.meta_path.insert(0, watch)
    if arrow := sys.modules.get("pyarrow"):
        watch.let_ask(arrow)


class _ImportWatch(MetaPathFinder):
    """Finds no module by itself. It sees PyArrow and pandas being imported."""

    def __init__(self) -> None:
        self._asking: int | None = None
        self._arrow: ModuleType | None = None

    def let_ask(self, arrow: ModuleType) -> None:
        """Let PyArrow ask now, and find no pandas."""
        if "pandas" in sys.modules:
            return
        # Other threads may import pandas meanwhile.
        self._asking = get_ident()
        try:
            arrow.array([0])
        finally:
            self._asking = None
        self._arrow = arrow

    def _tell(self, _: ModuleType) -> None:
        """Let PyArrow look again: without an answer it has an array of pandas for any other sequence."""
        if self._arrow:
            _ = self._arrow.lib._pandas_api.pd

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module as the other finders find it, with a call once it is loaded."""
        if name not in ("pyarrow", "pandas"):
            return None
        if name == "pandas" and self._asking == get_ident():
            raise ModuleNotFoundError("pandas is hidden from PyArrow", name=name)
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((spec_ for finder in others if (spec_ := finder.find_spec(name, path, target))), None)
        if spec and spec.loader:
            spec.loader = _Then(spec.loader, self._tell if name == "pandas" else self.let_ask)
        return spec


class _Then(Loader):
    """Loads a module as its own loader does, then calls a function with it."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute it. It has its own loader then, which knows more, such as its files."""
        assert module.__spec__
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)
