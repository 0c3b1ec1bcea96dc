"""Vendors by their names in the configuration; each is a package here with a module `vendor`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from sluice.vendors.protocol import Master, Vendor


@cache
def vendor(name: str) -> Vendor:
    """The vendor of that name, loaded when it is first needed."""
    found: Vendor = import_module(f"sluice.vendors.{name}.vendor").VENDOR
    return found


def master(name: str) -> Master:
    """What a vendor offers as a master; the configuration names none as a source's that offers nothing."""
    found = vendor(name).master
    assert found is not None
    return found
