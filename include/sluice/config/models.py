"""The parts of the configuration that stand for themselves: schedules, tables, segments, messages, replications."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sluice.config.cron import Cron
from sluice.config.fields import Actions, Identifier, Label, Location, TableAlias
from sluice.model.action import Existing, Filled, Policies, Policy
from sluice.model.limits import MOST_SIGNS
from sluice.model.row_conflict import ConflictAction
from sluice.model.sample_bound import CONFIDENCE, LEAST_CONFIDENCE, MOST_CONFIDENCE, SHARE

# Masks that are no constant.
HASH, REDACT = "hash", "redact"


class Part(BaseModel):
    # A process that reads no configuration needs no validator, and one that does needs the whole file's alone.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def by_default(cls) -> Self:
        """The part in which nothing is set. Its defaults are not validated, which would take a validator of its own."""
        return cls.model_construct()


def maybe_empty(given: Any) -> BeforeValidator:
    """An empty section is one without settings; `given` is the type in the JSON schema."""
    return BeforeValidator(lambda value: {} if value is None else value, json_schema_input_type=given)


class PublishSchedule(Part):
    """When a source is published: a run stays up and looks, until the next one takes over."""

    every_s: Annotated[int, Field(ge=1, le=86_400, description="seconds between the starts of two runs")] = 300
    run_for_s: Annotated[float, Field(ge=0, le=86_400, description="seconds a run stays up and polls")] = 295
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks while it is up")] = 0.5


class DrainSchedule(Part):
    """When a slave is drained: a run starts when there is something for it, and ends when nothing more comes."""

    every_s: Annotated[
        int, Field(ge=1, le=86_400, description="seconds between two runs if nobody starts one; none is much longer")
    ] = 600
    run_for_s: Annotated[
        float, Field(ge=0, le=86_400, description="seconds without anything to deliver until a run ends")
    ] = 30
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks while it is up")] = 0.5


class WatchedTable(Part):
    """One entry of Table 2.5 of the guide: what to capture of a table, and how its trigger is called."""

    exclude: Annotated[bool, Field(description="not watched, although a wildcard says so")] = False
    actions: Annotated[Actions, Field(description="any of I, U, D; `none`: initial copy only")] = "IUD"
    trigger: Annotated[str | None, Field(max_length=63, description="the trigger's name; made if not given")] = None
    sequence: Annotated[int, Field(description="order of loading; negative: before all others")] = -1
    debug: Annotated[Literal[0, 1], Field(description="1: each change leaves a line in DEBUG_TABLE")] = 0
    old_images: Annotated[
        Literal["full", "key"], Field(description="key: an update keeps its old row only if it changed the primary key")
    ] = "full"
    load_in_blocks: Annotated[bool, Field(description="`online` loads it in blocks; false: out of a snapshot")] = True

    @model_validator(mode="after")
    def _what_is_excluded_has_no_settings(self) -> WatchedTable:
        if self.exclude and self.model_fields_set != {"exclude"}:
            raise ValueError("a table that is excluded has no other settings")
        return self


Action = Annotated[str, Field(pattern="^[IUD]$")]
# One that cannot end the transaction that it stands in.
Statement = Annotated[str, Field(pattern=r"^\s*(?i:call|select|insert|update|delete|merge|with)\s")]


Expression = Annotated[str, Field(max_length=MOST_SIGNS)]


class SlaveTable(Part):
    """The settings of a slave for the tables that an entry selects. Keys are names of the master."""

    exclude: Annotated[bool, Field(description="the slave does not get it, although the source watches it")] = False
    as_: Annotated[TableAlias | None, Field(alias="as", description="schema.table, or table, on the slave")] = None
    columns: Annotated[dict[Identifier, Identifier], Field(description="master's column: slave's column")] = {}
    exclude_columns: Annotated[frozenset[Identifier], Field(description="columns that the slave does not get")] = (
        frozenset()
    )
    searchable: Annotated[frozenset[Identifier], Field(description="columns that rows are looked up by")] = frozenset()
    where: Annotated[
        Expression | None, Field(description="condition on the master's columns: rows that the slave gets")
    ] = None
    compute: Annotated[
        dict[Identifier, Expression], Field(description="slave's column: expression, by master's columns")
    ] = {}
    mask: Annotated[
        dict[Identifier, str | None], Field(description="master's column: hash, redact, or what stands there instead")
    ] = {}
    stylesheet: Annotated[bool, Field(description="whether its messages pass the slave's stylesheet")] = True
    plugin: Annotated[str | None, Field(description="entry point of sluice.plugins, or module:attribute")] = None
    actions: Annotated[Actions, Field(description="any of I, U, D; `none`: initial copy only")] = "IUD"
    when: Annotated[
        Expression | None, Field(description="condition on old and new columns: changes that are carried out")
    ] = None
    veto: Annotated[str | None, Field(description="entry point of sluice.vetoes, or module:attribute")] = None
    repair_rule: Annotated[
        str | None, Field(description="entry point of sluice.repair_rules, or module:attribute: whose row wins")
    ] = None
    on_missing: Annotated[ConflictAction, Field(description="when a row that changes or goes is not there")] = (
        ConflictAction.WARN
    )
    on_duplicate: Annotated[ConflictAction, Field(description="when a row that comes is there already")] = (
        ConflictAction.WARN
    )
    on_existing_rows: Annotated[Filled | None, Field(description="when it has rows before an initial update")] = None
    before: Annotated[
        dict[Action, Statement], Field(description="I, U, D: what is executed before each such change, beside it")
    ] = {}
    after: Annotated[dict[Action, Statement], Field(description="the same, after it")] = {}

    @property
    def shapes(self) -> bool:
        """Whether the slave gets other rows, or other values, than the master has."""
        return bool(self.where is not None or self.compute or self.mask or self.plugin)

    @property
    def looking_back(self) -> list[str]:
        """The settings that need old images of updates, by name."""
        return [name for name in ("where", "when", "veto", "plugin", "searchable") if getattr(self, name)]

    @property
    def chooses(self) -> bool:
        """Whether the slave leaves out some of the changes that it sees."""
        return self.actions != "IUD" or self.when is not None or self.veto is not None

    @model_validator(mode="after")
    def _what_is_excluded_has_no_settings(self) -> SlaveTable:
        if self.exclude and self.model_fields_set != {"exclude"}:
            raise ValueError("a table that is excluded has no other settings")
        return self

    @model_validator(mode="after")
    def _columns_stay_apart(self) -> SlaveTable:
        if both := self.exclude_columns & self.columns.keys():
            raise ValueError(f"a column that is left out has no name on the slave: {', '.join(sorted(both))}")
        if both := self.exclude_columns & self.mask.keys():
            raise ValueError(f"a column that is left out needs no mask: {', '.join(sorted(both))}")
        if both := self.exclude_columns & self.searchable:
            raise ValueError(f"no row can be looked up by a column that is left out: {', '.join(sorted(both))}")
        called = list(self.columns.values())
        if twice := {name for name in called if called.count(name) > 1}:
            raise ValueError(f"two columns cannot become one: {', '.join(sorted(twice))}")
        return self


class Stylesheets(Part):
    """The directory and the name of the stylesheet that a slave's messages pass."""

    directory: Annotated[str, Field(description="where the files are, on the machines that run jobs", pattern="^/")]
    name: Annotated[str | None, Field(description="this file; it is not looked for", pattern="^[^/]+$")] = None
    version: Annotated[
        str | None, Field(description="of the tables that the slave wants; the source's if not given")
    ] = None
    session: Annotated[str | None, Field(description="what it is looked for by, in parts; the slave's name")] = None

    @model_validator(mode="after")
    def _what_is_named_is_not_looked_for(self) -> Stylesheets:
        if self.name and (self.version or self.session):
            raise ValueError("a stylesheet that is named is not looked for by a version or a session")
        return self


class Segments(Part):
    """The size of a published segment, and its retention after every slave has it."""

    max_changes: Annotated[int, Field(ge=1, description="bound of one sweep, in changes")] = 200_000
    keep_hours: Annotated[float, Field(ge=0, description="kept this long after every slave received it")] = 24
    warn_bytes: Annotated[int, Field(ge=1, description="warn when the change log is larger")] = 10_000_000_000


class Blocks(Part):
    """Settings of the load in blocks, in the mode `online` of an initial update."""

    rows: Annotated[int, Field(ge=1, description="rows of a block")] = 20_000
    duty_cycle: Annotated[float, Field(gt=0, le=1, description="of the time that blocks take; the rest is paused")] = (
        1.0
    )
    max_active: Annotated[
        int | None, Field(ge=0, description="no block is begun while more sessions of others are active on the master")
    ] = None
    max_lag_s: Annotated[float, Field(ge=0, description="no block is begun while a slave is further behind")] = 60
    patience_s: Annotated[float, Field(gt=0, description="how long a slave may come no nearer to a block's point")] = (
        120
    )


class Verification(Part):
    """How slaves are compared with their master, and what is kept of rows that differ."""

    max_rows: Annotated[int, Field(ge=0, le=1_000_000, description="rows kept of a table of a slave")] = 50_000
    keep_values: Annotated[bool, Field(description="keep the values of these rows, too, and not keys alone")] = False
    checksums: Annotated[
        bool, Field(description="databases compute checksums of ranges of keys, and only ranges that differ are read")
    ] = True
    max_active: Annotated[
        int | None, Field(ge=0, description="no range is begun while more sessions of others are active on the master")
    ] = None
    rows_per_s: Annotated[
        float | None, Field(gt=0, description="rows that are compared in a second, all ranges together")
    ] = None
    whole_at: Annotated[Cron | None, Field(description="when all rows are compared, in UTC, as `0 2 * * 0`")] = None
    sampled_at: Annotated[Cron | None, Field(description="when a sample is compared, in UTC, as `0 2 * * 1-6`")] = None
    sample: Annotated[int, Field(ge=1, le=100, description="percent of the keys that a sample has")] = 5
    at_most: Annotated[
        str | None, Field(pattern=SHARE, description="as many keys as it takes to say that fewer differ, as 1/10000")
    ] = None
    confidence: Annotated[
        float, Field(ge=LEAST_CONFIDENCE, le=MOST_CONFIDENCE, description="of what a sample says of all rows")
    ] = CONFIDENCE


class Messages(Part):
    """Settings of publishing: which changes, and the attributes of messages."""

    send_unchanged_updates: Annotated[bool, Field(description="publish updates that left their row as it was")] = True
    transformer: Annotated[str | None, Field(description="entry point of sluice.transformers, or module:attribute")] = (
        None
    )
    max_collected_statements: Annotated[
        int, Field(ge=0, description="transactions share a message until it has so many rows; 0: none does")
    ] = 0
    max_rows_on_create: Annotated[
        int, Field(ge=1, description="rows of a new table's initial content that one message holds at most")
    ] = 250
    db_id: Annotated[Label | None, Field(description="DBID; the database's name if not given")] = None
    version: Annotated[Label, Field(description="VERSION: which version of the source this is")] = "0.0"


# On every machine that stores or loads, Spark's among them, whose home is nobody's.
KeyFile = Annotated[str | None, Field(pattern="^/", description="the key that files are encrypted with, if they are")]
PrivateKey = Annotated[str | None, Field(pattern="^/", description="the private key that they are signed with, if so")]
PublicKey = Annotated[
    str | None, Field(pattern="^/", description="the public key of whom they have to be signed by, if so")
]


class OutgoingFiles(Part):
    """Settings of initial data that is stored in files, to be carried to slaves by hand."""

    location: Annotated[Location, Field(description="directory or URL; relative to SLUICE_HOME")] = "initial_files"
    max_bytes: Annotated[
        int, Field(ge=1, le=2**30, description="most bytes of a file, before it is compressed; larger: fewer files")
    ] = 1_048_576
    versions: Annotated[
        frozenset[Annotated[str, Field(pattern=r"^[0-9A-Za-z._-]+$")]],
        Field(description="versions of the source of which initial data is kept in the change log"),
    ] = frozenset()
    as_xml: Annotated[bool, Field(description="files are messages of XML, with their content in base64")] = False
    key_file: KeyFile = None
    sign_with: PrivateKey = None


class IncomingFiles(Part):
    """Settings of a slave's directory for initial data that is carried by hand."""

    location: Annotated[
        Location, Field(description="directory or URL, as jobs for the slave see it; relative to SLUICE_HOME")
    ] = "initial_files"
    keep: Annotated[bool, Field(description="what was loaded is not deleted")] = False
    quiet_s: Annotated[
        float, Field(ge=0, le=86_400, description="seconds without any change until a copy is taken for ended")
    ] = 10
    key_file: KeyFile = None
    signed_by: PublicKey = None
    reactivation: Annotated[
        Literal["automatic", "approval"],
        Field(description="approval: when all is loaded, changes follow as soon as somebody says so in Airflow"),
    ] = "automatic"


class WipeOut(Part):
    """A schema of the slave of which an initial update drops what is there, before it makes its tables."""

    schema_: Annotated[Identifier, Field(alias="schema", description="the slave's schema")]
    tables: Annotated[bool, Field(description="its tables, with their indexes, triggers and sequences")] = True
    views: Annotated[bool, Field(description="its views, materialized ones among them")] = True
    sequences: Annotated[bool, Field(description="its sequences that belong to no column")] = True
    functions: Annotated[bool, Field(description="its functions and aggregates")] = True
    procedures: Annotated[bool, Field(description="its procedures")] = True
    indexes: Annotated[bool, Field(description="indexes that no constraint made")] = True
    triggers: Annotated[bool, Field(description="triggers of its tables and views")] = True
    packages: Annotated[bool, Field(description="its packages, on Oracle")] = True
    synonyms: Annotated[bool, Field(description="its synonyms, on Oracle")] = True
    if_connected: Annotated[
        Literal["warn", "refuse"], Field(description="when others are connected to its database")
    ] = "warn"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Types of the objects to drop."""
        return tuple(name for name, wanted in self if wanted is True)


class Program(Part):
    """A program that takes our place in an initial update with `mode: external`. No shell reads its arguments."""

    command: Annotated[list[str], Field(description="program and arguments; if not given, the database's own")] = []
    before: Annotated[list[str], Field(description="program and arguments that are run first")] = []
    success: Annotated[frozenset[int], Field(min_length=1, description="exit codes that mean success")] = frozenset({0})
    expect: Annotated[str | None, Field(min_length=1, description="text without which it has failed")] = None
    limit_s: Annotated[float, Field(gt=0, le=2_592_000, description="seconds until it is ended")] = 86_400


class Replication(Part):
    """One (source, slave) pair."""

    source: str
    slave: str
    schedule: DrainSchedule = DrainSchedule.by_default()
    statements: Annotated[bool, Field(description="the slave executes statements that are issued")] = True
    creates: Annotated[Policy, Field(description="what the slave does about a CREATE of the master")] = Policy.APPLY
    drops: Annotated[Policy, Field(description="what it does about a DROP")] = Policy.APPLY
    alters: Annotated[Policy, Field(description="what it does about an ALTER, a rename among them")] = Policy.APPLY
    overwrite_tables: Annotated[bool, Field(description="a CREATE empties a table that is there already")] = False
    recreate_tables: Annotated[bool, Field(description="a CREATE drops a table that is there, and makes it")] = False
    block_loop: Annotated[bool, Field(description="what is written is not published again by the slave's database")] = (
        False
    )
    mode: Annotated[
        Literal["batch", "one_to_one"],
        Field(description="batch: many transactions in one, by their net effect; one_to_one: each by itself"),
    ] = "batch"
    max_collected_statements: Annotated[
        int, Field(ge=0, description="one_to_one: transactions share one until it has so many changes; 0: none does")
    ] = 0

    @property
    def collected(self) -> int | None:
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
