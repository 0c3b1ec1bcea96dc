"""A master in the configuration: its connection, what is captured of it, and how it is published."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.config.fields import Identifier, Name, Prefix
from sluice.config.logical_decoding import Decoding
from sluice.config.models import OutgoingFiles, Program, Section, WatchedTable, maybe_empty
from sluice.config.source_sections import Blocks, Messages, PublishSchedule, Segments, Verification
from sluice.model.watched import Pattern, distinct, split_pattern


class SourceSettings(Section):
    """A master database, and how it is captured. Two sources may use one database, with different prefixes. Prefixes
    that would give two objects the same name are refused, such as `REPL_` and `REPL_CURRENT_`.
    """

    connection: Annotated[str, Field(description="connection of the master database; the primary, never a standby")]
    reading_connection: Annotated[
        str | None,
        Field(
            description="connection to the same database for [comparisons](verify.md#roles-that-may-only-read) by a "
            "role that may only read. None: they use `connection`"
        ),
    ] = None
    standby_connection: Annotated[
        str | None,
        Field(
            description="with `capture: log` of a PostgreSQL: connection of a standby of the master, on which [the "
            "log is decoded](capture.md#on-a-standby)"
        ),
    ] = None
    vendor: Annotated[
        Literal["postgresql", "gaussdb", "mariadb", "oracle"],
        Field(
            description="the kind of database. [`oracle`](oracle.md) with `capture: triggers` alone, and not run on a "
            "server yet; [`mariadb`](mariadb.md#a-mariadb-master) with `capture: binlog` alone; "
            "[`gaussdb`](gaussdb.md) is GaussDB or openGauss, with `capture: log` alone"
        ),
    ] = "postgresql"
    prefix: Annotated[
        Prefix,
        Field(
            description="the beginning of the names of all objects that Sluice installs there: letters, digits and "
            "`_`, at most 30. It folds like any name, so `SELECT * FROM repl.REPL_ITEMS` works"
        ),
    ] = "REPL_"
    schema_: Annotated[
        Identifier | None,
        Field(
            alias="schema",
            description="the schema of these objects. None: one named after the prefix, `repl`. `bootstrap`, or the "
            "script of [grants](commands.md#grants), makes the default schema, and [cleanup](commands.md#cleanup) "
            "removes it (but on MariaDB, see [there](mariadb.md#how-a-master-is-read)). A schema that you name must "
            "exist. Readers of `REPL_ITEMS` need `USAGE` on it. If other roles may create objects in the schema, "
            "nothing runs (SLC-291). The exception is `public`, if it belongs to this role, or if it belongs to the "
            "owner of the database and this role is that owner; [check](commands.md#check) then warns",
        ),
    ] = None
    tables: Annotated[
        dict[str, Annotated[WatchedTable, maybe_empty(WatchedTable | None)]],
        Field(
            min_length=1,
            description="the watched tables, each as `schema.table`, or as a [wildcard](tables.md#wildcards). Write a "
            "part with a dot or an upper-case letter exactly as the catalog has it; put one with a dot in double "
            "quotes",
        ),
    ]
    capture: Annotated[
        Literal["triggers", "log", "binlog"],
        Field(
            description="the origin of changes of rows: triggers of each table; the server's log, [read by a "
            "slot](capture.md#from-the-log); or [the binary log](mariadb.md#a-mariadb-master) of MariaDB"
        ),
    ] = "triggers"
    slot_retains_mb: Annotated[
        int,
        Field(
            ge=64,
            description="with `capture: log` of a PostgreSQL: status, check, pages and the publisher's log warn when "
            "the server keeps more of its own log for the slot; see [a slot in "
            "operation](capture.md#a-slot-in-operation)",
        ),
    ] = 1_000
    decoding: Decoding | None = None
    group: Annotated[
        Name | None,
        Field(
            description="the group of sources that this one belongs to. Their DAGs have the tag `group:<name>`, by "
            "which you can filter Airflow's list"
        ),
    ] = None
    bootstrap_warnings: Annotated[
        bool,
        Field(
            description="`bootstrap` repeats the notices of the server in its log, for example about objects that "
            "exist already"
        ),
    ] = False
    detect_ddl: Annotated[
        bool,
        Field(
            description="CREATE, ALTER and DROP of watched tables go into the stream, and tables made later under a "
            "wildcard are watched. `false`: neither, and slaves *lack rows* of such a table until `bootstrap`. Columns "
            "are still recorded, since rows could not be read without them. A table that is named is still captured "
            "when it is made: make it on the slaves as well, or they stop at its first row"
        ),
    ] = True
    initial_content: Annotated[
        bool,
        Field(
            description="after a CREATE, the rows that the table has already follow as inserts of the same "
            "transaction: the rows of `CREATE TABLE AS`, or of a table that was renamed under a wildcard"
        ),
    ] = True
    char_width: Annotated[
        int,
        Field(
            ge=1,
            le=10_000,
            description="minimum width of the columns of `TABLES` that hold names. The longest name that the server "
            "allows (63 bytes) always fits",
        ),
    ] = 50
    char_width_small: Annotated[
        int,
        Field(
            ge=1,
            le=10_000,
            description="minimum width of its column of short texts, `STATUS`. Wider columns stay as they are; other "
            "DbResources have texts without a limit",
        ),
    ] = 10
    schedule: PublishSchedule = PublishSchedule.by_default()
    late_s: Annotated[
        float,
        Field(
            gt=0,
            description="a slave is [late](monitoring.md#conditions) if it is further behind its master than so many "
            "seconds, beside those in which no publisher is to run (`every_s` - `run_for_s`)",
        ),
    ] = 120
    yields_after_s: Annotated[
        float | None,
        Field(
            ge=0,
            description="the longest time, in seconds, that a statement of others, such as `ALTER TABLE`, waits for "
            "an exclusive lock on a table that an initial update or a comparison reads: see "
            "[there](runbook.md#an-alter-table-while-slaves-are-filled). 0 or none: it waits until the table was "
            "read, or the part of it that a dump reads at that moment",
        ),
    ] = 30
    trusted_code: list[Identifier] = Field(
        [],
        description="roles whose functions may run with the rights of the source's role: functions that indexes, "
        "statistics, constraints or partition keys of watched tables call, see [code of "
        "others](configuration.md#code-of-others)",
    )
    max_row_mb: Annotated[
        int,
        Field(
            ge=1,
            le=1_000,
            description="a change of a row with more text is not published: its table is [left "
            "out](types.md#large-values) for the slaves until they are filled again. A byte of a `bytea` counts "
            "twice, a number counts its digits. Trigger `bootstrap` after a change",
        ),
    ] = 128
    statement_max_rows: Annotated[
        int,
        Field(ge=0, le=1_000, description="rows that are kept of each node's answer to a [statement](statements.md)"),
    ] = 10
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
    def late_after_s(self) -> float:
        """The seconds without a success of its publisher, or of lag of a slave, behind which that is too late."""
        return self.late_s + max(self.schedule.every_s - self.schedule.run_for_s, 0.0)

    @property
    def max_row_bytes(self) -> int:
        """`max_row_mb` in bytes."""
        return self.max_row_mb * 1_000_000

    def for_reading(self) -> SourceSettings:
        """The same by the connection of a role that may only read, if there is one."""
        return self.model_copy(update={"connection": self.reading_connection or self.connection})

    @cached_property
    def patterns(self) -> dict[Pattern, WatchedTable]:
        """The entries of `tables`, taken apart."""
        return {split_pattern(name, excluded=entry.exclude): entry for name, entry in self.tables.items()}

    @cached_property
    def watched_tables(self) -> dict[tuple[str, str], WatchedTable]:
        """The tables that are named, by (schema, table); what wildcards take is not among them."""
        named = (pair for pair in self.patterns.items() if not pair[0].wildcard and not pair[0].excluded)
        return {(pattern.schema, pattern.table): entry for pattern, entry in named}

    @model_validator(mode="after")
    def _entries_make_sense(self) -> SourceSettings:
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
