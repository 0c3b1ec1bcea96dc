"""How the log of a source is decoded, where the server itself turns it into messages."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from sluice.config.models import Section
from sluice.model.names import TableName
from sluice.model.watched import split_pattern, split_table

# The vendor knows which options there are, and what each of them may be.
OptionValue = StrictBool | StrictInt | StrictStr | list[StrictInt] | list[StrictStr]


class Decoding(Section):
    """How a [GaussDB](gaussdb.md) decodes its log. For a source with `vendor: gaussdb` alone."""

    read_by: Annotated[
        Literal["functions", "protocol"],
        Field(description="SQL functions, or the [replication protocol](gaussdb.md#over-the-replication-protocol)"),
    ] = "functions"
    slot: Annotated[
        str | None,
        Field(
            description="the name of the replication slot, which is put into lower case. None: one by prefix and "
            "database"
        ),
    ] = None
    options: dict[str, OptionValue] = Field(
        {}, description="[options of the decoding](gaussdb.md#options), by the server's names"
    )
    rounded_floats: dict[str, list[StrictStr]] = Field(
        {},
        description="`schema.table` to a list of its columns that may lose the last digits of [floating-point "
        "numbers](gaussdb.md#floating-point-numbers); without it they are refused (SLC-477)",
    )

    @cached_property
    def rounded_columns(self) -> dict[TableName, list[str]]:
        """The columns of `rounded_floats`, by their tables."""
        return {TableName(*split_table(name)): columns for name, columns in self.rounded_floats.items()}

    @model_validator(mode="after")
    def _tables_are_named(self) -> Decoding:
        if any(split_pattern(name).wildcard for name in self.rounded_floats):
            raise ValueError("`rounded_floats` takes no wildcard: name each table, and its columns")
        return self
