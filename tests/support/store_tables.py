"""All tables of the control store, also those that a module of the store declares by itself."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from sluice import store
from sluice.store.tables import metadata

__all__ = ["metadata"]

for module in pkgutil.iter_modules(store.__path__, f"{store.__name__}."):
    import_module(module.name)
