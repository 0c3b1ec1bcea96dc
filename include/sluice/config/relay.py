"""The section `relay` of the configuration: where the relay listens, its secrets and its limits."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.config.fields import Identifier, Name
from sluice.config.models import Section
from sluice.model.watched import Pattern, split_pattern

Port = Annotated[int, Field(ge=0, le=65_535)]
_MOST_OF_A_NAME = 255


def _client_name(value: str) -> str:
    if not (value.isprintable() and 0 < len(value.encode()) <= _MOST_OF_A_NAME):
        raise ValueError(f"{value!r} is no name of a client: 1 to {_MOST_OF_A_NAME} printable bytes")
    return value


def _table(value: str) -> str:
    split_pattern(value)
    return value


ClientName = Annotated[str, AfterValidator(_client_name)]
TableEntry = Annotated[str, AfterValidator(_table)]


class AllowedClient(Section):
    """A client of the relay."""

    connection: Annotated[
        str,
        Field(
            description="connection whose password is this client's secret. No two clients have the same one (SLC-017)"
        ),
    ]
    tables: Annotated[
        list[TableEntry],
        Field(
            min_length=1,
            description="the tables whose events it may read: `schema.table`, `schema.*` or `schema.part*`",
        ),
    ]

    @cached_property
    def patterns(self) -> frozenset[Pattern]:
        """The entries of `tables`, taken apart."""
        return frozenset(map(split_pattern, self.tables))


class CsvLog(Section):
    """A log of all events of one schema, in files of CSV, one a day."""

    schema_: Annotated[
        Identifier,
        Field(alias="schema", description="schema of a source whose events are logged, whatever clients want"),
    ]
    exclude: Annotated[frozenset[Identifier], Field(description="tables of it that are not logged")] = frozenset()
    directory: Annotated[str, Field(description="where the files are; relative to `SLUICE_HOME`")] = "relay_log"
    keep_days: Annotated[int, Field(ge=1, description="days that a file is kept")] = 7


class Relay(Section):
    """Where the [relay](relay.md) listens, its clients and its limits. Without the section there is no relay."""

    clients: dict[ClientName, AllowedClient] = Field(
        {},
        description="the programs that may connect, and no others. A name has 1 to 255 printable bytes; the client "
        "logs in with it",
    )
    admin: Annotated[
        str | None,
        Field(description="connection whose password guards the [figures](relay.md#figures). None: no figures by HTTP"),
    ] = None
    address: Annotated[
        str,
        Field(
            min_length=1,
            description="the address of this machine to listen on. Others than the loopback: see [who may "
            "connect](relay.md#who-may-connect)",
        ),
    ] = "127.0.0.1"
    port: Annotated[Port, Field(description="TCP port for clients. 0: any that is free, which is printed")] = 6002
    admin_port: Annotated[Port, Field(description="HTTP port for the figures. 0: any that is free")] = 6081
    sources: Annotated[
        list[Name] | None, Field(min_length=1, description="the sources whose events are served. None: all")
    ] = None
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks for new segments")] = 0.2
    max_clients: Annotated[int, Field(ge=1, le=10_000, description="clients that are connected at a time")] = 100
    max_filters: Annotated[int, Field(ge=1, description="filters of one client")] = 100
    max_payload: Annotated[int, Field(ge=512, le=2**30, description="bytes of a request's payload")] = 65_536
    queue_bytes: Annotated[
        int,
        Field(
            ge=65_536,
            description="memory for the queue of a connected client. The rest of its queue stays in the change log",
        ),
    ] = 4_194_304
    login_s: Annotated[float, Field(gt=0, description="seconds in which a client has to authenticate")] = 10
    idle_s: Annotated[
        float,
        Field(
            gt=0, description="seconds without a request, or without reading a reply, until a client is disconnected"
        ),
    ] = 300
    forget_hours: Annotated[
        float,
        Field(
            gt=0,
            description="hours for which the queue of a client that does not come is kept, and with it the change log",
        ),
    ] = 72
    csv_log: Annotated[CsvLog | None, Field(description="a log of events as CSV")] = None

    @property
    def secret_ids(self) -> list[str]:
        """The ids of the connections that hold its secrets."""
        return [*(client.connection for client in self.clients.values()), *([self.admin] if self.admin else [])]
