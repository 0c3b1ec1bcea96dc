"""The clients that may connect to the relay, and what each may read."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from secrets import randbits

from sluice import shell
from sluice.config.relay import Relay
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.model.watched import Pattern, find_entry
from sluice.relay.secret_hash import auth_keys


@dataclass(frozen=True)
class RelayReader:
    """A client that the configuration names; `keys` prove that it knows its secret."""

    keys: tuple[int, ...]
    tables: Collection[Pattern] = ()

    def has_key(self, key: int) -> bool:
        """Whether a key is one of its own; in constant time."""
        given = key.to_bytes(8, "little")
        return sum(hmac.compare_digest(given, own.to_bytes(8, "little")) for own in self.keys) > 0

    def may_read(self, table: TableName) -> bool:
        """Whether it may have events of a table."""
        return find_entry(self.tables, table) is not None


def unknown_reader() -> RelayReader:
    """A client without a valid key: guessing names takes as long as guessing secrets."""
    return RelayReader(tuple(randbits(64) for _ in range(4)))


def read_secrets(context: Context, settings: Relay) -> tuple[Mapping[str, RelayReader], str | None]:
    """The clients, by name, and the secret of the figures if there is one.

    Raises:
        ConfigError: SLC-014, one has no secret; SLC-017, two have the same.
    """
    clients: dict[str, RelayReader] = {}
    owners: dict[int, str] = {}
    for name, client in settings.clients.items():
        keys = auth_keys(_secret(context, client.connection))
        # One of the keys leaves the last character out.
        if others := {owners.setdefault(key, name) for key in keys} - {name}:
            raise ConfigError(
                17,
                f"the clients {min(others)!r} and {name!r} of the relay have secrets that differ in their last "
                "character at most, so each could take the other's name and its events",
                f"give {name!r} one of its own: {shell.connect(client.connection)}",
            )
        clients[name] = RelayReader(keys, client.patterns)
    return clients, _secret(context, settings.admin) if settings.admin else None


def _secret(context: Context, conn_id: str) -> str:
    """A secret of the relay. Raises ConfigError SLC-014."""
    if password := context.connection(conn_id).password:
        return password
    raise ConfigError(
        14,
        f"a secret of the relay is the password of the Airflow connection {conn_id!r}, and that has none",
        f"type: {shell.connect(conn_id)}",
    )
