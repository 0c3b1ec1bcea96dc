"""The configuration file: sources, watched tables, slaves, replications, schedules.

Read once per process, validated by pydantic; an unknown or misspelt key is an error that names its place. Passwords
are not here: `connection` is the id of an Airflow connection.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import unquote, urlsplit

import yaml
from pydantic import Field, ValidationError, model_validator

from sluice import shell
from sluice.config import consistency, strict_yaml, templates
from sluice.config.fields import DagPrefix, Identifier, Location, Name, Prefix, RoleName, meant
from sluice.config.mapper import Mapper
from sluice.config.models import (
    HASH,
    Blocks,
    IncomingFiles,
    Messages,
    OutgoingFiles,
    Pages,
    Part,
    Program,
    PublishSchedule,
    Replication,
    Segments,
    SlaveTable,
    Stylesheets,
    Verification,
    WatchedTable,
    WipeOut,
    maybe_empty,
)
from sluice.config.relay import Relay
from sluice.errors import ConfigError, UnknownName
from sluice.model.action import Filled
from sluice.model.names import COMMON_DAGS, Pair, TableName, dag_id, drain_dag
from sluice.model.replication_cycles import Link, unblocked_loops
from sluice.model.watched import Pattern, chosen, distinct, split_pattern, split_table
from sluice.paths import INSTALLED, PROJECT, at_home, home
from sluice.storage.directory import Directory

CONFIG_ENV = "SLUICE_CONFIG"

# The number of faults that are reported at a time.
_TOLD = 50

_T = TypeVar("_T")


class Source(Part):
    """A master database, identified by the prefix of its DbResources."""

    connection: str
    vendor: Literal["postgresql"] = "postgresql"
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
        Literal["triggers", "log"], Field(description="what tells of changes: triggers, or the server's log by a slot")
    ] = "triggers"
    slot_retains_mb: Annotated[int, Field(ge=64, description="warn when the slot of `capture: log` keeps more")] = 1_000
    group: Annotated[Name | None, Field(description="sources that belong together; a tag of their DAGs")] = None
    bootstrap_warnings: Annotated[bool, Field(description="bootstrap repeats what the server has to say")] = False
    detect_ddl: Annotated[bool, Field(description="CREATE, ALTER and DROP go into the stream")] = True
    initial_content: Annotated[bool, Field(description="a CREATE brings the rows the table has already")] = True
    char_width: Annotated[int, Field(ge=1, le=10_000, description="least width of columns that hold names")] = 50
    char_width_small: Annotated[int, Field(ge=1, le=10_000, description="least width of columns of short texts")] = 10
    schedule: PublishSchedule = PublishSchedule()
    yields_after_s: Annotated[
        float | None,
        Field(ge=0, description="seconds that an ALTER TABLE waits for a dump or a comparison at most; 0: no limit"),
    ] = 30
    trusted_code: list[Identifier] = Field(
        [], description="roles whose functions may run with the rights of the source's role when tables are read"
    )
    statement_max_rows: Annotated[int, Field(ge=0, le=1_000, description="rows kept of a statement's answer")] = 10
    segments: Segments = Segments()
    messages: Messages = Messages()
    initial_files: OutgoingFiles = OutgoingFiles()
    initial_program: Program = Program()
    blocks: Blocks = Blocks()
    verification: Verification = Verification()

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


class Slave(Part):
    """A slave database, and how it names what the master calls otherwise."""

    connection: str
    vendor: Literal["postgresql", "mariadb", "parquet", "iceberg"] = "postgresql"
    keeps: Annotated[Literal["rows", "history"], Field(description="rows, or every change of them")] = "rows"
    schema_: Annotated[Identifier, Field(alias="schema", description="schema of the position tables")] = "public"
    schemas: dict[str, str] = Field({}, description="master's schema: slave's schema")
    tables: dict[str, Annotated[SlaveTable, maybe_empty(SlaveTable | None)]] = Field(
        {}, description="master's schema.table, or schema.* or schema.prefix*: what the slave sees of it"
    )
    stylesheets: Annotated[Stylesheets | None, Field(description="a stylesheet that its messages pass")] = None
    salt: Annotated[str | None, Field(description="connection whose password hashes are made with")] = None
    max_batch: Annotated[int, Field(ge=1, description="changes applied in one transaction, about")] = 50_000
    initial_files: IncomingFiles = IncomingFiles()
    when_unreachable: Annotated[
        Literal["wait", "store"],
        Field(description="when it cannot be reached: its initial update waits, or is stored in the change log"),
    ] = "wait"
    initial_program: Program = Program()
    on_existing_rows: Annotated[
        Filled, Field(description="what an initial update does about a table that has rows")
    ] = Filled.TRUNCATE
    trusts: list[str] = Field(
        [], description="functions of the slave, schema.function, that definitions of the master may call there"
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

    @cached_property
    def mapper(self) -> Mapper:
        """The slave's mapping of names, and its exclusions."""
        entries = {split_pattern(name): entry for name, entry in self.tables.items()}
        return Mapper(
            self.schemas,
            entries,
            on_existing_rows=self.on_existing_rows,
            trusted=frozenset(map(split_table, self.trusts)),
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
        for name, pattern in distinct(self.tables).items():
            if pattern.wildcard and self.tables[name].as_:
                raise ValueError(f"{name} is a wildcard: its tables cannot all be {self.tables[name].as_}")
            if HASH in self.tables[name].mask.values() and not self.salt:
                raise ValueError(f"{name} has a mask `{HASH}`, and the slave has no `salt`")
        return self


class Config(Part):
    """The whole file."""

    change_log: Annotated[Location, Field(description="directory or URL; relative to SLUICE_HOME")] = "changelog"
    control: Annotated[str, Field(description="connection of the control store")] = "sluice_control"
    spark: Annotated[str, Field(description="connection of type spark_connect or spark")] = "sluice_spark"
    airflow_api: Annotated[str, Field(description="connection of Airflow's REST API")] = "sluice_airflow_api"
    keep_runs_days: Annotated[
        float | None, Field(gt=0, description="days that runs of our DAGs and their logs are kept; null: for ever")
    ] = 14
    command_roles: Annotated[
        tuple[RoleName, ...],
        Field(description="roles in Airflow that may fill, bootstrap, administer and cancel; []: any"),
    ] = ("op", "admin")
    pages: Annotated[Pages, maybe_empty(Pages)] = Pages()
    relay: Annotated[Relay | None, maybe_empty(Relay | None), Field(description="serves events to clients")] = None
    dag_prefix: Annotated[DagPrefix, Field(description="what the id of every DAG begins with")] = ""
    bulk_tasks: Annotated[int, Field(ge=1, description="Spark tasks that copy at the same time")] = 2
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    slaves: dict[Name, Slave]
    replications: list[Replication]

    @model_validator(mode="before")
    @classmethod
    def _kinds_are_many(cls, raw: object) -> object:
        return templates.each_by_itself(raw)

    @model_validator(mode="after")
    def _pairs_exist_once(self) -> Config:
        seen = set()
        for pair in self.replications:
            _known(pair.source, self.sources, "source")
            _known(pair.slave, self.slaves, "slave")
            if (pair.source, pair.slave) in seen:
                raise ValueError(f"the replication of {pair.source} to {pair.slave} is listed twice")
            seen.add((pair.source, pair.slave))
        return self

    @model_validator(mode="after")
    def _slaves_see_their_tables(self) -> Config:
        for name, slave in self.slaves.items():
            fed = [self.sources[pair.source] for pair in self.replications if pair.slave == name]
            for entry, pattern in distinct(slave.tables).items() if fed else ():
                table = TableName(pattern.schema, pattern.table)
                if not (pattern.wildcard or any(chosen(source.patterns, table) for source in fed)):
                    raise ValueError(f"slave {name}: no source that feeds it watches {entry}")
            how = {"styled": slave.stylesheets is not None, "lasting": slave.keeps == "history"}
            for fault in (
                fault for source in fed for fault in consistency.faults(source.patterns, slave.mapper, **how)
            ):
                raise ValueError(f"slave {name}: {fault}")
        return self

    @model_validator(mode="after")
    def _nothing_comes_back(self) -> Config:
        for arrow in unblocked_loops(self.arrows()):
            raise ValueError(arrow.fault)
        return self

    def arrows(self, database_id: Callable[[str], str] = str) -> list[Link]:
        """The replications as edges between databases; `database_id` gives the id for a connection."""
        found = []
        for one in self.replications:
            source, slave = self.sources[one.source], self.slaves[one.slave]
            ends = database_id(source.connection), database_id(slave.connection)
            taken = tuple(consistency.brought(source.patterns, slave.mapper))
            found.append(Link(one.source, one.slave, *ends, taken, slave.schemas, slave.mapper.moved, one.block_loop))
        return found

    def source(self, name: str) -> Source:
        """The source of that name. Raises ConfigError if there is none."""
        return _found(name, self.sources, "source")

    def slave(self, name: str) -> Slave:
        """The slave of that name. Raises ConfigError if there is none."""
        return _found(name, self.slaves, "slave")

    def replication(self, source: str, slave: str) -> Replication:
        """The pair. Raises ConfigError if the two are not connected."""
        for pair in self.replications:
            if (pair.source, pair.slave) == (source, slave):
                return pair
        self.source(source)
        slaves = self.slaves_of(source)
        raise UnknownName(
            3,
            f"no replication of source {source} to slave {slave} is configured; its slaves: "
            f"{', '.join(slaves) or 'none'}",
            meant(slave, slaves, "add it under `replications`"),
        )

    def parsed(self, text: str) -> Pair | None:
        """A replication that is named as `source/slave`; none for a blank.

        Raises:
            ConfigError: SLC-003 or SLC-209, there is no such one.
        """
        text = text.strip()
        if not text:
            return None
        source, slash, slave = text.partition("/")
        if not slash:
            raise ConfigError(209, f"{text!r} names no replication", "write `source/slave`; nothing was changed")
        self.replication(source, slave)
        return Pair(source, slave)

    @property
    def initial_data_url(self) -> str:
        """The directory of initial data in the change log."""
        return Directory(self.change_log_url).within("initial_files").url

    def receives_in(self, url: str) -> bool:
        """Whether a directory is one in those where carried files arrive, or initial data is kept."""
        name = url.partition("?")[0].rpartition("/")[2]
        # No name of ours has a percent sign: the library that opens a URL decodes it, and it might lead elsewhere then.
        if name in ("", ".", "..") or "%" in name:
            return False
        places = {self.initial_data_url, *(one.initial_files.location for one in self.slaves.values())}
        return url in {Directory(at_home(place)).within(name).url for place in places}

    def slaves_of(self, source: str) -> list[str]:
        """The slaves that this source feeds, in the file's order."""
        return [pair.slave for pair in self.replications if pair.source == source]

    @property
    def dags(self) -> list[str]:
        """The names of all our DAGs: their ids without the prefix."""
        drains = [drain_dag(Pair(one.source, one.slave)) for one in self.replications]
        common = [name for name in COMMON_DAGS if name != "housekeeping" or self.keep_runs_days is not None]
        return [*common, *(dag_id("", "publish", name) for name in self.sources), *drains]

    def dag_id(self, *names: str) -> str:
        """The id of a DAG, such as `verify`, or `drain`, source and slave."""
        return dag_id(self.dag_prefix, *names)

    @property
    def change_log_url(self) -> str:
        """The change log's place: an absolute path, or a URL as pyarrow has it (`s3`, not Hadoop's `s3a`)."""
        scheme, _, rest = self.change_log.partition("://")
        if scheme == "file":
            # pyarrow would not wait until a file is on the disk.
            return unquote(urlsplit(self.change_log).path)
        return at_home(f"s3://{rest}" if scheme == "s3a" else self.change_log)


def path() -> Path:
    """The configuration file in force."""
    if named := os.environ.get(CONFIG_ENV):
        return Path(named)
    return (home() if INSTALLED else PROJECT / "include" / "config") / "replication.yaml"


def load(file: Path | None = None) -> Config:
    """Read and validate the configuration.

    Raises:
        ConfigError: SLC-001 if it cannot be read, SLC-002 with every place that is wrong.
    """
    file = file or path()
    try:
        raw = strict_yaml.read(file)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(1, f"{file} cannot be read: {error}", f"set {CONFIG_ENV}, or mend the file") from None
    return valid(raw, file)


def valid(raw: object, file: Path) -> Config:
    """Validate the content of a file. Raises ConfigError SLC-002 with all faults and their keys."""
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        keys = _all_keys()
        found = error.errors(include_url=False, include_input=False)
        invalid = (
            f"  {strict_yaml.dotted(templates.written_at(raw, fault['loc']))}: {strict_yaml.reason(fault, keys)}"
            for fault in found[:_TOLD]
        )
        more = [f"  and {len(found) - _TOLD} more"] if len(found) > _TOLD else []
        faults = "\n".join([*dict.fromkeys(invalid), *more])
        raise ConfigError(2, f"{file} is not valid:\n{faults}", f"mend these and run `{shell.check()}`") from None


def schema() -> dict[str, object]:
    """The JSON schema of the file, for editors."""
    return Config.model_json_schema()


def _known(name: str, known: dict[str, Source] | dict[str, Slave], kind: str) -> None:
    if name not in known:
        raise ValueError(f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}")


def _found(name: str, known: dict[str, _T], kind: str) -> _T:
    try:
        return known[name]
    except KeyError:
        raise UnknownName(
            3,
            f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}",
            meant(name, known, "mend the name"),
        ) from None


def _all_keys() -> list[str]:
    models = [one for one in globals().values() if isinstance(one, type) and issubclass(one, Part)]
    return [field.alias or name for model in models for name, field in model.model_fields.items()]
