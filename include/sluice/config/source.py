"""A master in the configuration: its connection, what is captured of it, and how it is published."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.config.fields import Identifier, Name, Prefix
from sluice.config.logical_decoding import Decoding
from sluice.config.models import (
    Blocks,
    Messages,
    OutgoingFiles,
    Part,
    Program,
    PublishSchedule,
    Segments,
    Verification,
    WatchedTable,
    maybe_empty,
)
from sluice.model.watched import Pattern, distinct, split_pattern


class Source(Part):
    """A master database, identified by the prefix of its DbResources."""

    connection: str
    reading_connection: Annotated[
        str | None, Field(description="connection of a role that may only read, which comparisons use")
    ] = None
    standby_connection: Annotated[
        str | None, Field(description="connection of a standby, on which a slot is made and the log decoded")
    ] = None
    vendor: Literal["postgresql", "gaussdb", "mariadb", "oracle"] = "postgresql"
    prefix: Prefix = "REPL_"
    schema_: Annotated[
        Identifier | None,
        Field(
            alias="schema", description="schema that holds the DbResources; by default one of their own, by the prefix"
        ),
    ] = None
    tables: Annotated[
        dict[str, Annotated[WatchedTable, maybe_empty(WatchedTable | None)]],
        Field(min_length=1, description="schema.table, or schema.* or schema.prefix*: how it is watched"),
    ]
    capture: Annotated[
        Literal["triggers", "log", "binlog"],
        Field(description="what tells of changes: triggers, the server's log by a slot, or the binary log of MariaDB"),
    ] = "triggers"
    slot_retains_mb: Annotated[int, Field(ge=64, description="warn when the slot of `capture: log` keeps more")] = 1_000
    decoding: Decoding | None = None
    group: Annotated[Name | None, Field(description="sources that belong together; a tag of their DAGs")] = None
    bootstrap_warnings: Annotated[bool, Field(description="bootstrap repeats what the server has to say")] = False
    detect_ddl: Annotated[bool, Field(description="CREATE, ALTER and DROP go into the stream")] = True
    initial_content: Annotated[bool, Field(description="a CREATE brings the rows the table has already")] = True
    char_width: Annotated[int, Field(ge=1, le=10_000, description="least width of columns that hold names")] = 50
    char_width_small: Annotated[int, Field(ge=1, le=10_000, description="least width of columns of short texts")] = 10
    schedule: PublishSchedule = PublishSchedule.by_default()
    yields_after_s: Annotated[
        float | None,
        Field(ge=0, description="seconds that an ALTER TABLE waits for a dump or a comparison at most; 0: no limit"),
    ] = 30
    trusted_code: list[Identifier] = Field(
        [], description="roles whose functions may run with the rights of the source's role when tables are read"
    )
    max_row_mb: Annotated[int, Field(ge=1, le=1_000, description="a row with more text is not published")] = 128
    statement_max_rows: Annotated[int, Field(ge=0, le=1_000, description="rows kept of a statement's answer")] = 10
    segments: Segments = Segments.by_default()
    messages: Messages = Messages.by_default()
    initial_files: OutgoingFiles = OutgoingFiles.by_default()
    initial_program: Program = Program.by_default()
    blocks: Blocks = Blocks.by_default()
    verification: Verification = Verification.by_default()

    @property
    def connections(self) -> list[str]:
        """The ids of the connections by which it is captured."""
        return [self.connection, *([self.standby_connection] if self.standby_connection else [])]

    @property
    def max_row_bytes(self) -> int:
        """`max_row_mb` in bytes."""
        return self.max_row_mb * 1_000_000

    def reading(self) -> Source:
        """The same by the connection of a role that may only read, if there is one."""
        return self.model_copy(update={"connection": self.reading_connection or self.connection})

    @cached_property
    def patterns(self) -> dict[Pattern, WatchedTable]:
        """The entries of `tables`, taken apart."""
        return {split_pattern(name, excluded=entry.exclude): entry for name, entry in self.tables.items()}

    @cached_property
    def watched(self) -> dict[tuple[str, str], WatchedTable]:
        """The tables that are named, by (schema, table); what wildcards take is not among them."""
        named = (one for one in self.patterns.items() if not one[0].wildcard and not one[0].excluded)
        return {(pattern.schema, pattern.table): entry for pattern, entry in named}

    @model_validator(mode="after")
    def _entries_make_sense(self) -> Source:
        triggers: dict[str, str] = {}
        for name, pattern in distinct(self.tables).items():
            entry = self.tables[name]
            if pattern.wildcard and entry.trigger:
                raise ValueError(f"{name} is a wildcard, and each table's trigger has a name of its own")
            # Other tables might do with the same name, until one of them becomes a partition of the other.
            if entry.trigger and (twin := triggers.setdefault(entry.trigger, name)) != name:
                raise ValueError(f"{twin} and {name} have the same trigger {entry.trigger}")
            if entry.old_images == "key" and not self.messages.send_unchanged_updates:
                raise ValueError(f"{name} has `old_images: key`: which of its updates change nothing cannot be told")
        if all(entry.exclude for entry in self.tables.values()):
            raise ValueError("every table is excluded")
        return self
