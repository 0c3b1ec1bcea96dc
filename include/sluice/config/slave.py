"""A slave in the configuration: its connection, its view of a master, and how it is filled."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.config.fields import Identifier, Name
from sluice.config.mapper import Mapper
from sluice.config.models import HASH, IncomingFiles, Part, Program, SlaveTable, Stylesheets, WipeOut, maybe_empty
from sluice.model.action import Filled
from sluice.model.watched import distinct, split_pattern, split_table


class Slave(Part):
    """A slave database, and how it names what the master calls otherwise."""

    connection: str
    reading_connection: Annotated[
        str | None, Field(description="connection of a role that may only read, which comparisons use")
    ] = None
    vendor: Literal["postgresql", "mariadb", "oracle", "parquet", "iceberg"] = "postgresql"
    keeps: Annotated[Literal["rows", "history"], Field(description="rows, or every change of them")] = "rows"
    schema_: Annotated[Identifier, Field(alias="schema", description="schema of the position tables")] = "public"
    schemas: dict[str, str] = Field({}, description="master's schema: slave's schema")
    tables: dict[str, Annotated[SlaveTable, maybe_empty(SlaveTable | None)]] = Field(
        {}, description="master's schema.table, or schema.* or schema.prefix*: what the slave sees of it"
    )
    stylesheets: Annotated[Stylesheets | None, Field(description="a stylesheet that its messages pass")] = None
    salt: Annotated[str | None, Field(description="connection whose password hashes are made with")] = None
    max_batch: Annotated[int, Field(ge=1, description="changes applied in one transaction, about")] = 50_000
    initial_files: IncomingFiles = IncomingFiles.by_default()
    when_unreachable: Annotated[
        Literal["wait", "store"],
        Field(description="when it cannot be reached: its initial update waits, or is stored in the change log"),
    ] = "wait"
    initial_program: Program = Program.by_default()
    on_existing_rows: Annotated[
        Filled, Field(description="what an initial update does about a table that has rows")
    ] = Filled.TRUNCATE
    trusts: list[str] = Field(
        [], description="functions of the slave, schema.function, that definitions of the master may call there"
    )
    adopt: list[str] = Field(
        [],
        description="tables and types of the slave that may belong to others: schema.name, or schema.* or "
        "schema.prefix*",
    )
    wipe_out: Annotated[WipeOut | None, Field(description="a schema that an initial update empties first")] = None
    names: Annotated[
        list[Name] | None,
        Field(min_length=1, description="the slaves that this entry is for; {name} stands for each of them"),
    ] = None

    @property
    def connections(self) -> list[str]:
        """The ids of its connections, which every job that works with it is given."""
        return [self.connection] if self.salt is None else [self.connection, self.salt]

    def reading(self) -> Slave:
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
