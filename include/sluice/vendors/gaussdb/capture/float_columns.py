"""Columns whose floating-point numbers the decoding may round: refused, unless the configuration allows it (R7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.model.watched import Watch
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.catalog.tables import rounded
from sluice.vendors.postgresql.session import Connection


def expect_allowed(
    connection: Connection, settings: CaptureSettings, watched: Mapping[TableName, Watch]
) -> list[tuple[TableName, str]]:
    """The columns of watched tables that may be rounded; all of them are allowed to be.

    Raises:
        ConfigError: SLC-477, one is not.
    """
    found = rounded(connection, [name for name, watch in watched.items() if watch.actions != "none"])
    if refused := [column for column in found if column not in settings.rounded]:
        raise ConfigError(
            477,
            f"the decoding of the server's log may take the last digits of {spelled(refused)}, which hold "
            "floating-point numbers",
            "nothing was changed; take these tables out of `tables`, or, if those digits do not matter, name the "
            "columns in `rounded_floats` of `decoding` of the source",
        )
    return found


def spelled(columns: Collection[tuple[TableName, str]]) -> str:
    """Columns as people read them."""
    return ", ".join(f"{name}.{column}" for name, column in columns)
