"""The section `relay` of the configuration: where the relay listens, its secrets and its limits."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sluice.config.fields import Identifier, Name
from sluice.config.models import Part

Port = Annotated[int, Field(ge=0, le=65_535)]


class CsvLog(Part):
    """A log of all events of one schema, in files of CSV, one a day."""

    schema_: Annotated[Identifier, Field(alias="schema", description="schema of a source whose events are logged")]
    exclude: Annotated[frozenset[Identifier], Field(description="tables that are not logged")] = frozenset()
    directory: Annotated[str, Field(description="where the files are; relative to SLUICE_HOME")] = "relay_log"
    keep_days: Annotated[int, Field(ge=1, description="days that a file is kept")] = 7


class Relay(Part):
    """The relay, which serves events to clients."""

    connection: Annotated[str, Field(description="connection whose password is the clients' shared secret")] = (
        "sluice_relay"
    )
    admin: Annotated[
        str | None, Field(description="connection whose password guards the figures; null: there are none by HTTP")
    ] = None
    address: Annotated[str, Field(min_length=1, description="address of this machine to listen on")] = "127.0.0.1"
    port: Annotated[Port, Field(description="TCP port for clients; 0: any that is free")] = 6002
    admin_port: Annotated[Port, Field(description="HTTP port for the figures; 0: any that is free")] = 6081
    sources: Annotated[
        list[Name] | None, Field(min_length=1, description="sources whose events are served; null: all")
    ] = None
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks for new segments")] = 0.2
    max_clients: Annotated[int, Field(ge=1, le=10_000, description="clients that are connected at a time")] = 100
    max_known: Annotated[int, Field(ge=1, description="clients whose queues are kept, connected or not")] = 1_000
    max_filters: Annotated[int, Field(ge=1, description="filters of one client")] = 100
    max_payload: Annotated[int, Field(ge=512, le=2**30, description="bytes of a request's payload")] = 65_536
    queue_bytes: Annotated[
        int, Field(ge=65_536, description="memory for a client's queue; the rest of it stays in the change log")
    ] = 4_194_304
    login_s: Annotated[float, Field(gt=0, description="seconds in which a client has to authenticate")] = 10
    idle_s: Annotated[float, Field(gt=0, description="seconds without a request until a client is disconnected")] = 300
    forget_hours: Annotated[
        float, Field(gt=0, description="hours that the queue of a client that does not come is kept")
    ] = 72
    csv_log: Annotated[CsvLog | None, Field(description="a log of events as CSV")] = None
