"""The configuration file: sources, watched tables, slaves, replications, schedules.

Read once per process, validated by pydantic; an unknown or misspelt key is an error that names its place. Passwords
are not here: `connection` is the id of an Airflow connection.
"""

from __future__ import annotations

import difflib
import os
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from sluice.errors import ConfigError

PROJECT = Path(__file__).resolve().parents[2]
CONFIG_ENV = "SLUICE_CONFIG"
HOME_ENV = "SLUICE_HOME"

_T = TypeVar("_T")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")


def home() -> Path:
    """Where everything that exists only at run time lives."""
    return Path(os.environ.get(HOME_ENV) or PROJECT / ".sluice")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} is no name: lower-case letters, digits and _, starting with a letter, at most 40 long "
            "(it becomes part of DAG ids)"
        )
    return value


def _prefix(value: str) -> str:
    if not _PREFIX.fullmatch(value):
        raise ValueError(
            f"{value!r} is no prefix: letters, digits and _, starting with a letter, at most 30 long "
            "(so that PREFIX_ITEMS is an ordinary table name that folds as the database folds)"
        )
    return value


def _actions(value: str) -> str:
    if value == "none":
        return value
    letters = value.upper()
    if not letters or set(letters) - set("IUD") or len(set(letters)) != len(letters):
        raise ValueError(f"{value!r} is no set of actions: any of the letters I, U and D, each once, or none")
    return "".join(letter for letter in "IUD" if letter in letters)


Name = Annotated[str, AfterValidator(_name)]
Prefix = Annotated[str, AfterValidator(_prefix)]
Actions = Annotated[str, AfterValidator(_actions)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Schedule(_Part):
    """When runs start, and how long one stays up and polls before the next takes over."""

    every_s: Annotated[int, Field(ge=1, le=86_400, description="seconds between the starts of two runs")] = 60
    linger_s: Annotated[float, Field(ge=0, le=86_400, description="seconds a run stays up and polls")] = 55
    poll_s: Annotated[float, Field(gt=0, le=3_600, description="seconds between two looks while it is up")] = 0.5


class WatchedTable(_Part):
    """One entry of Table 2.5 of the guide: what to capture of a table, and how its trigger is called."""

    actions: Annotated[Actions, Field(description="any of I, U, D; `none`: initial copy only")] = "IUD"
    trigger: Annotated[str | None, Field(max_length=63, description="the trigger's name; made if not given")] = None
    sequence: Annotated[int, Field(description="order of loading; negative: before all others")] = -1


class Segments(_Part):
    """How much goes into one published segment, and how long it is kept after every slave has it."""

    max_changes: Annotated[int, Field(ge=1, description="bound of one sweep, in changes")] = 200_000
    keep_hours: Annotated[float, Field(ge=0, description="kept this long after every slave received it")] = 24
    warn_bytes: Annotated[int, Field(ge=1, description="warn when the change log is larger")] = 10_000_000_000


class Source(_Part):
    """A master database, identified by the prefix of its DbResources."""

    connection: str
    vendor: Literal["postgresql"] = "postgresql"
    prefix: Prefix = "REPL_"
    schema_: Annotated[str, Field(alias="schema", description="schema that holds the DbResources")] = "public"
    tables: Annotated[dict[str, WatchedTable], Field(min_length=1, description="schema.table: how it is watched")]
    schedule: Schedule = Schedule()
    segments: Segments = Segments()

    @cached_property
    def watched(self) -> dict[tuple[str, str], WatchedTable]:
        """The watched tables by (schema, table)."""
        return {split_table(name): entry for name, entry in self.tables.items()}

    @model_validator(mode="after")
    def _tables_are_named_once(self) -> Source:
        seen: dict[tuple[str, str], str] = {}
        for name in self.tables:
            key = split_table(name)
            if key in seen:
                raise ValueError(f"{seen[key]} and {name} are the same table")
            seen[key] = name
        return self


class Slave(_Part):
    """A slave database, and how it names what the master calls otherwise."""

    connection: str
    vendor: Literal["postgresql"] = "postgresql"
    schema_: Annotated[str, Field(alias="schema", description="schema that holds the position tables")] = "public"
    schemas: Annotated[dict[str, str], Field(description="master's schema: slave's schema")] = {}
    max_batch: Annotated[int, Field(ge=1, description="changes applied in one transaction, about")] = 50_000


class Replication(_Part):
    """One (source, slave) pair."""

    source: str
    slave: str
    schedule: Schedule = Schedule()


class Config(_Part):
    """The whole file."""

    change_log: Annotated[str, Field(description="directory or Hadoop URL; relative to SLUICE_HOME")] = "changelog"
    control: Annotated[str, Field(description="connection of the control store")] = "sluice_control"
    spark: Annotated[str, Field(description="connection of type spark_connect or spark")] = "sluice_spark"
    airflow_api: Annotated[str, Field(description="connection of Airflow's REST API")] = "sluice_airflow_api"
    bulk_tasks: Annotated[int, Field(ge=1, description="Spark tasks that copy at the same time")] = 2
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    slaves: dict[Name, Slave]
    replications: list[Replication]

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
    def _prefixes_do_not_meet(self) -> Config:
        seen: dict[tuple[str, str, str], str] = {}
        for name, source in self.sources.items():
            key = (source.connection, source.schema_, source.prefix.lower())
            if key in seen:
                raise ValueError(f"sources {seen[key]} and {name} have the same prefix in the same schema")
            seen[key] = name
        return self

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
        raise ConfigError(
            3, f"no replication of source {source} to slave {slave} is configured", "add it under `replications`"
        )

    def slaves_of(self, source: str) -> list[str]:
        """The slaves that this source feeds, in the file's order."""
        return [pair.slave for pair in self.replications if pair.source == source]

    @property
    def change_log_url(self) -> str:
        """The change log's place: a Hadoop URL as written, or an absolute path."""
        return self.change_log if "://" in self.change_log else str(home() / self.change_log)


def split_table(name: str) -> tuple[str, str]:
    """`schema.table` as its two parts; a part with a dot is written in double quotes."""
    match = re.fullmatch(r'("(?:[^"]|"")+"|[^".]+)\.("(?:[^"]|"")+"|[^".]+)', name.strip())
    if not match:
        raise ValueError(f"{name!r} is no table: write schema.table, with double quotes around a part that has a dot")
    schema, table = (part[1:-1].replace('""', '"') if part.startswith('"') else part for part in match.groups())
    return schema, table


def path() -> Path:
    """The configuration file in force."""
    return Path(os.environ.get(CONFIG_ENV) or PROJECT / "include" / "config" / "replication.yaml")


def load(file: Path | None = None) -> Config:
    """Read and validate the configuration.

    Raises:
        ConfigError: SLC-001 if it cannot be read, SLC-002 with every place that is wrong.
    """
    file = file or path()
    try:
        text = file.read_text(encoding="utf-8")
        raw = yaml.load(text, Loader=_UniqueKeys)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(1, f"{file} cannot be read: {error}", f"set {CONFIG_ENV}, or mend the file") from None
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        faults = "\n".join(f"  {_place(fault['loc'])}: {_reason(fault)}" for fault in error.errors())
        raise ConfigError(2, f"{file} is not valid:\n{faults}", "mend these and run `./sluice check`") from None


def schema() -> dict[str, object]:
    """The JSON schema of the file, for editors."""
    return Config.model_json_schema()


class _UniqueKeys(yaml.SafeLoader):
    """YAML takes the last of two equal keys without a word; two slaves of one name would become one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"{key!r} stands here twice", problem_mark=key_node.start_mark)
            seen.add(key)
        mapping: dict[object, object] = super().construct_mapping(node, deep=deep)
        return mapping


def _known(name: str, known: dict[str, Source] | dict[str, Slave], kind: str) -> None:
    if name not in known:
        raise ValueError(f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}")


def _found(name: str, known: dict[str, _T], kind: str) -> _T:
    try:
        return known[name]
    except KeyError:
        raise ConfigError(
            3, f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}", "mend the name"
        ) from None


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "(the file)"


def _reason(fault: object) -> str:
    details: dict[str, object] = dict(fault)  # type: ignore[call-overload]
    if details["type"] == "extra_forbidden":
        wrong = str(details["loc"][-1])  # type: ignore[index]
        near = difflib.get_close_matches(wrong, _all_keys(), n=1)
        return f"unknown key{f'; did you mean {near[0]}?' if near else ''}"
    return str(details["msg"]).removeprefix("Value error, ")


def _all_keys() -> list[str]:
    models = (Config, Source, Slave, Replication, Schedule, WatchedTable, Segments)
    return [field.alias or name for model in models for name, field in model.model_fields.items()]
