"""How the log of a source is decoded, where the server itself turns it into messages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from sluice.config.models import Part

# The vendor knows which options there are, and what each of them may be.
OptionValue = StrictBool | StrictInt | StrictStr | list[StrictInt] | list[StrictStr]


class Decoding(Part):
    """Reading a log by the server's own decoding."""

    read_by: Annotated[
        Literal["functions", "protocol"], Field(description="SQL functions, or the replication protocol")
    ] = "functions"
    slot: Annotated[str | None, Field(description="name of the slot; by default one by prefix and database")] = None
    options: dict[str, OptionValue] = Field({}, description="options of the server's decoding, by its names")
