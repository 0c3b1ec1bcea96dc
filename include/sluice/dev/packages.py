"""The packages that only developers need: `./sluice install --production` leaves them out."""

from __future__ import annotations

import importlib.util

from sluice.errors import SluiceError


def require(package: str) -> None:
    """Raise SLC-281 if a package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise SluiceError(
            281, f"the packages for developers are not installed: {package}", "run ./sluice install, then this again"
        )
