"""How a source is published, filled from and compared, in the configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sluice.config.cron import Cron
from sluice.config.fields import Label
from sluice.config.models import Section
from sluice.model.sample_bound import CONFIDENCE, LEAST_CONFIDENCE, MOST_CONFIDENCE, SHARE


class PublishSchedule(Section):
    """When a source is published. Set `run_for_s` a little below `every_s`, and a publisher is always looking. A run
    that is still at work at the end of its time finishes that work. With the defaults a source has 288 runs a day.
    """

    every_s: Annotated[int, Field(ge=1, le=86_400, description="seconds between the starts of two runs")] = 300
    run_for_s: Annotated[
        float,
        Field(ge=0, le=86_400, description="seconds for which a run stays up and polls. 0: one pass, then it ends"),
    ] = 295
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks while it is up")] = 0.5


class Segments(Section):
    """The size of a published segment, and its retention after every slave has it."""

    max_changes: Annotated[
        int,
        Field(
            ge=1,
            description="about how many changes one sweep takes, and purges together. A segment has about an eighth "
            "of that, so slaves can begin while the publisher goes on. A larger transaction is not split",
        ),
    ] = 200_000
    keep_hours: Annotated[
        float,
        Field(
            ge=0,
            description="minimum hours from the publication of a segment to its removal. A segment that a slave still "
            "lacks is kept in any case",
        ),
    ] = 24
    warn_bytes: Annotated[
        int, Field(ge=1, description="the publisher's log has a warning if the change log has more bytes")
    ] = 10_000_000_000


class Blocks(Section):
    """How tables are loaded in blocks while the stream goes on, in the mode `online` of an initial update. Each block
    has a point of the stream ([R10](loading.md#blocks-at-points)).
    """

    rows: Annotated[
        int,
        Field(
            ge=1,
            description="rows of a block. A slave's stream stands still while a block is inserted. A snapshot of the "
            "master is held while the block is read and the slave is on its way to the point",
        ),
    ] = 20_000
    duty_cycle: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="the share of time that goes into blocks. With 0.25, a block that took one second is followed "
            "by a pause of three. This reduces the load on the master and the slave",
        ),
    ] = 1.0
    max_active: Annotated[
        int | None,
        Field(
            ge=0,
            description="no block begins while more sessions of others are active on the master's server. These are "
            "clients in `pg_stat_activity` that execute something, in all its databases, also sessions that wait for "
            "a lock. The load checks before each round, waits without a limit, and reports it in "
            "[status](commands.md#status) and its log. The role must [see these "
            "sessions](configuration.md#on-a-source); else the update is refused before anything is changed (SLC-236)",
        ),
    ] = None
    max_lag_s: Annotated[
        float,
        Field(
            ge=0,
            description="no block begins for a slave with a larger replication lag: the age, in seconds, of the "
            "oldest transaction that it lacks",
        ),
    ] = 60
    patience_s: Annotated[
        float,
        Field(
            gt=0,
            description="how many seconds a slave may make no progress towards the point of a block, or no publisher "
            "may answer. Then the load asks for another point. A slow slave that makes progress gets its block. The "
            "master's snapshot is held for it meanwhile, so limit the lag at the start with `max_lag_s`",
        ),
    ] = 120


class Verification(Section):
    """How slaves are [compared](verify.md) with their master, and what is kept of rows that differ."""

    max_rows: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="rows that differ and are kept, of each table of a slave. All others are counted",
        ),
    ] = 50_000
    keep_values: Annotated[
        bool,
        Field(
            description="keep the values of both sides of these rows, too. They are then in the control store, "
            "readable for everybody who may read it"
        ),
    ] = False
    checksums: Annotated[
        bool,
        Field(
            description="databases compute [checksums](verify.md#how-it-compares) of ranges of keys, and only ranges "
            "that differ are read. `false`: every row is read"
        ),
    ] = True
    max_active: Annotated[
        int | None,
        Field(
            ge=0,
            description="a [pause](verify.md#a-slower-pace): no range begins while more sessions of others are active "
            "on the master's server, as for [blocks](keys.md#sourcesnameblocks)",
        ),
    ] = None
    rows_per_s: Annotated[
        float | None,
        Field(gt=0, description="how many rows are compared in a second, on average, by all tasks together"),
    ] = None
    whole_at: Annotated[
        Cron | None,
        Field(
            description="when all rows of all slaves are compared, by the DAG `verify__<source>__whole`: five fields "
            "of a cron table, in UTC, as `0 2 * * 0`"
        ),
    ] = None
    sampled_at: Annotated[
        Cron | None,
        Field(description="the same for a sample of the keys, as `0 2 * * 1-6`, by the DAG `verify__<source>__sample`"),
    ] = None
    sample: Annotated[int, Field(ge=1, le=100, description="percent of the keys that this sample has")] = 5
    at_most: Annotated[
        str | None,
        Field(
            pattern=SHARE,
            description="`1/N`, instead of `sample`: as many keys as it takes to [say](verify.md#samples) that fewer "
            "than 1 row in N differs",
        ),
    ] = None
    confidence: Annotated[
        float, Field(ge=LEAST_CONFIDENCE, le=MOST_CONFIDENCE, description="how sure that statement has to be")
    ] = CONFIDENCE


class Messages(Section):
    """Which changes are published, and the content of [messages](messages.md). Changes that are withheld here are
    withheld from every slave.
    """

    send_unchanged_updates: Annotated[
        bool, Field(description="`false`: an UPDATE that left its row as it was is not published")
    ] = True
    transformer: Annotated[
        str | None,
        Field(
            description="code of your own that may withhold changes and give them attributes: an entry point of the "
            "group `sluice.transformers`, or `module:attribute`"
        ),
    ] = None
    max_collected_statements: Annotated[
        int,
        Field(
            ge=0,
            description="transactions share a message until it has this many rows. 0: each has a message of its own. "
            "No transaction is split",
        ),
    ] = 0
    max_rows_on_create: Annotated[
        int,
        Field(
            ge=1,
            description="the most rows in one message that a table had when its CREATE was found. Further messages "
            "with the same `ident` hold the rest. In the change log and on a slave a CREATE and its rows are one "
            "transaction",
        ),
    ] = 250
    db_id: Annotated[
        Label | None,
        Field(
            description="the name of the source in messages and ITEMS: `dbId`, `DBID`. None: the database's name. "
            "ITEMS shows it, and `version`, as they were at the last `bootstrap`"
        ),
    ] = None
    version: Annotated[
        Label,
        Field(description="the version of the source's tables, as your application counts it: `version`, `VERSION`"),
    ] = "0.0"
