"""How a GaussDB is captured: the plugin, the options, and the slot, as the configuration has them; checked at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sluice.config.logical_decoding import Decoding
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot.option_kinds import OPTIONS
from sluice.vendors.gaussdb.capture.slot.options import DecodingOptions, excluded, slot_name


@dataclass(frozen=True)
class Plugin:
    """What decodes the log.

    Attributes:
        options: the names of those that it knows.
    """

    name: str
    options: frozenset[str]


MPPDB = Plugin("mppdb_decoding", frozenset(OPTIONS))
# These exclude something that every source has.
_OURS = {
    "white-table-list": "the watched tables, of which it is made",
    "include-xids": "what Sluice needs, to tell transactions apart by their ids",
    "standby-connection": "the connection of the source, which leads to the primary",
}


@dataclass(frozen=True)
class CaptureSettings:
    """The settings of one source.

    Attributes:
        rounded: columns whose floating-point numbers may lose digits.
    """

    options: DecodingOptions
    by_protocol: bool = False
    slot: str | None = None
    plugin: Plugin = MPPDB
    rounded: frozenset[tuple[TableName, str]] = frozenset()

    @classmethod
    def of(cls, capture: str, decoding: Decoding | None, plugin: Plugin = MPPDB) -> CaptureSettings:
        """Those of a configuration. Nothing is opened for it.

        Raises:
            ConfigError: SLC-438 or SLC-041, see `DecodingOptions`; it is captured by its log alone.
        """
        if capture != "log":
            raise ConfigError(
                438,
                f"a source of this vendor cannot be captured by `{capture}`: its log alone is read",
                "nothing was opened; set `capture: log` for the source",
            )
        given = decoding or Decoding(options={}, rounded_floats={})
        options = DecodingOptions.of(given.options)
        for name, by in _OURS.items():
            if name in given.options:
                raise excluded(name, by)
        by_protocol = given.read_by == "protocol"
        if not by_protocol:
            options.arguments()
        rounded = frozenset((table, column) for table, columns in given.rounded_columns.items() for column in columns)
        return cls(options, by_protocol, slot_name(given.slot) if given.slot else None, plugin, rounded)

    def watching(self, tables: Iterable[TableName]) -> DecodingOptions:
        """The options with which these tables are read, as far as the plugin knows them.

        A name that its list cannot hold leaves the list out: then the server sends all tables.
        """
        names = [f"{name.schema}.{name.table}" for name in sorted(tables)]
        try:
            listed = DecodingOptions.of({"white-table-list": names}).given
        except ConfigError:
            listed = ()
        given = (*self.options.given, ("include-xids", True), *listed)
        return replace(self.options, given=tuple(one for one in given if one[0] in self.plugin.options))
