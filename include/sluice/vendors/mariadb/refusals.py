"""Features of Sluice that a slave on MariaDB has not, refused by name before anything is written."""

from __future__ import annotations

from sluice.errors import SluiceError
from sluice.model.names import Pair


def not_supported(pair: Pair, what: str, hint: str) -> SluiceError:
    """A setting or a command that such a slave does not know."""
    return SluiceError(438, f"slave {pair.slave} is on MariaDB or MySQL, where {what} is not supported", hint)
