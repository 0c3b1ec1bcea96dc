"""A slave in the configuration: its connection, its view of a master, and how it is filled."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.config.fields import Identifier, Name
from sluice.config.mapper import Mapper
from sluice.config.models import IncomingFiles, Program, Section, Stylesheets, WipeOut, maybe_empty
from sluice.config.slave_table import HASH, SlaveTableSettings
from sluice.model.action import FilledRows
from sluice.model.watched import distinct, split_pattern, split_table


class Slave(Section):
    """A slave database, what it sees of its masters, and how it is filled."""

    connection: Annotated[
        str,
        Field(
            description="connection of the slave database. `{name}` becomes the slave's name if the entry has `names`"
        ),
    ]
    reading_connection: Annotated[
        str | None,
        Field(
            description="connection to the same database for [comparisons](verify.md#roles-that-may-only-read) by a "
            "role that may only read. None: they use `connection`"
        ),
    ] = None
    vendor: Annotated[
        Literal["postgresql", "mariadb", "oracle", "parquet", "iceberg"],
        Field(
            description="the kind of database. [`mariadb`](mariadb.md), also for MySQL; "
            "[`oracle`](oracle.md#a-slave-on-oracle) was not run on a server yet; `parquet` is [a directory of "
            "files](lake.md), `iceberg` the same with [Iceberg](lake.md#iceberg) tables"
        ),
    ] = "postgresql"
    keeps: Annotated[
        Literal["rows", "history"],
        Field(
            description="`history`: every change instead of the current rows; for directories of files alone (SLC-438)"
        ),
    ] = "rows"
    schema_: Annotated[
        Identifier,
        Field(
            alias="schema",
            description="the schema of `sluice_position`, `sluice_loaded`, `sluice_ranges`, `sluice_indexes` and "
            "`sluice_references`; it must exist",
        ),
    ] = "public"
    schemas: dict[str, str] = Field(
        {}, description="the master's schema: the slave's schema. A schema that is not listed keeps its name"
    )
    tables: dict[str, Annotated[SlaveTableSettings, maybe_empty(SlaveTableSettings | None)]] = Field(
        {},
        description="what this slave sees of the master's tables, each as `schema.table` or as a "
        "[wildcard](tables.md#wildcards), by the master's names. The slave gets a table without an entry "
        "unchanged",
    )
    stylesheets: Annotated[
        Stylesheets | None, Field(description="an XSLT [stylesheet](stylesheets.md) that its messages pass")
    ] = None
    salt: Annotated[str | None, Field(description="connection whose password the mask `hash` uses")] = None
    max_batch: Annotated[
        int,
        Field(
            ge=1,
            description="about how many changes one transaction of the slave holds. A larger transaction of the "
            "master is one transaction of the slave, too; in mode `batch` about so many of its changes are in memory "
            "at once. After a drain that died, the next one begins with 1,000 and doubles",
        ),
    ] = 50_000
    initial_files: IncomingFiles = IncomingFiles.by_default()
    when_unreachable: Annotated[
        Literal["wait", "store"],
        Field(
            description="what happens if the slave cannot be reached when an initial update begins; the other slaves "
            "of the update are not affected. `wait`: the slave is filled when it is back, from the master as it is "
            "then, by the same update: its mode, its `tables` or `key_ranges`. An update of `tables` or `key_ranges` "
            "keeps the other rows, so the change log keeps everything for the slave meanwhile; otherwise it keeps "
            "nothing. `store`: the slave's rows are stored in the change log now, and loaded when the slave is back. "
            "The change log must be a path or a URL that pyarrow opens. In other modes than `snapshot` the slave "
            "waits instead"
        ),
    ] = "wait"
    initial_program: Program = Program.by_default()
    on_existing_rows: Annotated[
        FilledRows,
        Field(
            description="what an initial update does about [rows that a table has "
            "already](tables.md#tables-that-have-rows-already)"
        ),
    ] = FilledRows.TRUNCATE
    trusts: list[str] = Field(
        [],
        description="functions of the slave, as `schema.function` (a part with a dot in double quotes), that "
        "[definitions of the master](security.md#definitions-that-travel) may call there without a question, for "
        "example `public.uuid_generate_v4`",
    )
    adopt: list[str] = Field(
        [],
        description="tables, views and types of the slave that may [belong to "
        "others](security.md#whose-tables-count), by the slave's names: `schema.name`, `schema.*` or "
        "`schema.prefix*`. Their owners may do there all that the slave's role may do",
    )
    wipe_out: Annotated[WipeOut | None, Field(description="a schema that an initial update wipes out first")] = None
    names: Annotated[
        list[Name] | None,
        Field(
            min_length=1,
            description="the slaves that this entry defines, see [many slaves of one "
            "kind](configuration.md#many-slaves-of-one-kind). None: one slave, with the name of the entry",
        ),
    ] = None

    @property
    def connections(self) -> list[str]:
        """The ids of its connections, which every job that works with it is given."""
        return [self.connection] if self.salt is None else [self.connection, self.salt]

    def for_reading(self) -> Slave:
        """The same by the connection of a role that may only read, if there is one."""
        return self.model_copy(update={"connection": self.reading_connection or self.connection})

    @cached_property
    def mapper(self) -> Mapper:
        """The slave's mapping of names, and its exclusions."""
        entries = {split_pattern(name): entry for name, entry in self.tables.items()}
        return Mapper(
            self.schemas,
            entries,
            on_existing_rows=self.on_existing_rows,
            trusted=frozenset(map(split_table, self.trusts)),
            adopted=frozenset(map(split_pattern, self.adopt)),
        )

    @model_validator(mode="after")
    def _entries_make_sense(self) -> Slave:
        for function in self.trusts:
            try:
                split_table(function)
            except ValueError:
                raise ValueError(
                    f"{function!r} is no function: write schema.function, with double quotes "
                    "around a part that has a dot"
                ) from None
        distinct(self.adopt)
        for name, pattern in distinct(self.tables).items():
            if pattern.wildcard and self.tables[name].as_:
                raise ValueError(f"{name} is a wildcard: its tables cannot all be {self.tables[name].as_}")
            if HASH in self.tables[name].mask.values() and not self.salt:
                raise ValueError(f"{name} has a mask `{HASH}`, and the slave has no `salt`")
        return self
