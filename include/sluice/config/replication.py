"""A replication in the configuration: one source feeds one slave."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sluice.config.models import Section
from sluice.model.action import Existing, Policies, Policy


class DrainSchedule(Section):
    """When a slave is drained. If a slave lacks changes and has no drain run, the publisher asks Airflow for a run at
    once ([ADR 3](adr/0003-stay-up-and-poll.md)). So an idle slave has no run at work. The first change after a pause
    takes about 4 s longer, for the start of a task; 13 to 20 s on a busy machine of two cores. A slave that does not
    answer gets another run after 15 s, 30 s and so on, up to 300 s. With the defaults an idle slave has 144 runs a day,
    of seconds each.
    """

    every_s: Annotated[
        int,
        Field(
            ge=1,
            le=86_400,
            description="seconds between two scheduled runs. A longer run ends at its next batch, so that the next "
            "run reads the configuration",
        ),
    ] = 600
    run_for_s: Annotated[
        float,
        Field(
            ge=0,
            le=86_400,
            description="seconds without anything to deliver until a run ends. 0: one pass, at each `every_s` and at "
            "the end of each publish run that published something",
        ),
    ] = 30
    poll_s: Annotated[
        float,
        Field(
            gt=0,
            le=3_600,
            description="seconds between two looks at the gate, and at the control store. The control store notifies "
            "a drain of a new segment, and the drain looks at once, unless a pooler in front of it drops "
            "notifications",
        ),
    ] = 0.5


class Replication(Section):
    """One pair of a source and a slave."""

    source: Annotated[str, Field(description="one of `sources`")]
    slave: Annotated[str, Field(description="one of `slaves`")]
    schedule: DrainSchedule = DrainSchedule.by_default()
    statements: Annotated[
        bool,
        Field(
            description="the slave executes [statements](statements.md) that are issued. `false`: it passes over "
            "them, and does not get the changes that they make"
        ),
    ] = True
    creates: Annotated[
        Policy,
        Field(
            description="what the slave does at a CREATE of the master. `apply`: it executes it; it asks about some "
            "[definitions](security.md#definitions-that-travel). `ignore`: it does nothing, and stops at rows for "
            "which it has no table (SLC-070; a history in files takes them). `stop`: it stops in front of "
            "it until you decide (SLC-143). `ask`: it waits in front of it, and [people are asked in "
            "Airflow](runbook.md#a-slave-that-asks). See [DDL](ddl.md)"
        ),
    ] = Policy.APPLY
    drops: Annotated[Policy, Field(description="the same for a DROP")] = Policy.APPLY
    alters: Annotated[Policy, Field(description="the same for an ALTER, a rename among them")] = Policy.APPLY
    overwrite_tables: Annotated[
        bool,
        Field(
            description="a CREATE deletes the rows of a table that exists already, if that table can hold every row "
            "of the master's; else it stops (SLC-141). An empty table is used in any case"
        ),
    ] = False
    recreate_tables: Annotated[
        bool, Field(description="a CREATE drops a table that exists already, with all its rows, and makes it anew")
    ] = False
    block_loop: Annotated[
        bool,
        Field(
            description="for a slave that is a master itself. `true`: its changes that this replication writes are "
            "not published again. `false`: they are, as a cascade needs it. A circle without it is refused: see "
            "[both directions](both_directions.md)"
        ),
    ] = False
    mode: Annotated[
        Literal["batch", "one_to_one"],
        Field(
            description="`batch`: many transactions of the master are one transaction of the slave, by their net "
            "effect. `one_to_one`: each is one of the slave's, with the same changes in the same order, at about a "
            "seventh of the rate. Readers of the slave then see each state between two transactions, and its "
            "triggers (`ENABLE ALWAYS` or `REPLICA`) see each change"
        ),
    ] = "batch"
    max_collected_statements: Annotated[
        int,
        Field(
            ge=0,
            description="with `one_to_one`: transactions share one of the slave's until it has this many changes, in "
            "their order. 0: none does",
        ),
    ] = 0

    @property
    def collect_limit(self) -> int | None:
        """The number of changes up to which transactions share one on the slave; None if they are netted."""
        return self.max_collected_statements if self.mode == "one_to_one" else None

    @model_validator(mode="after")
    def _what_is_collected_is_not_a_batch(self) -> Replication:
        if self.mode == "batch" and self.max_collected_statements:
            raise ValueError("max_collected_statements is for mode one_to_one; max_batch of the slave bounds a batch")
        return self

    @property
    def policies(self) -> Policies:
        """The slave's policies for commands of the master."""
        existing = Existing.OVERWRITE if self.overwrite_tables else Existing.STOP
        existing = Existing.RECREATE if self.recreate_tables else existing
        return Policies(self.creates, self.drops, self.alters, existing)
