"""The configuration file: sources, watched tables, slaves, replications, schedules.

Read once per process, validated by pydantic; an unknown or misspelt key is an error that names its place. Passwords
are not here: `connection` is the id of an Airflow connection.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import unquote, urlsplit

import yaml
from pydantic import Field, ValidationError, model_validator

from sluice import shell
from sluice.config import consistency, strict_yaml, templates
from sluice.config.alerts import Alerts
from sluice.config.configuration_text import CONFIG_ENV, place, read
from sluice.config.fields import DagPrefix, Location, Name, RoleName, name_hint
from sluice.config.models import Section, maybe_empty
from sluice.config.pages import Pages
from sluice.config.relay import Relay
from sluice.config.replication import Replication
from sluice.config.slave import Slave
from sluice.config.source import SourceSettings
from sluice.errors import ConfigError, UnknownName
from sluice.model.access import BY_AIRFLOW
from sluice.model.names import ALERTS, COMMON_DAGS, Pair, TableName, dag_id, drain_dag
from sluice.model.replication_cycles import Link, unblocked_loops
from sluice.model.watched import distinct, find_entry
from sluice.paths import at_home
from sluice.storage.place import StoragePlace

# The number of faults that are reported at a time.
_TOLD = 50
# Characters of a hash that a person compares.
_FINGERPRINT = 8

_T = TypeVar("_T")


class Config(Section):
    """What is replicated from where to where."""

    change_log: Annotated[
        Location,
        Field(
            description="where segments are kept: a directory, relative to `SLUICE_HOME`, or a [URL](stores.md) such "
            "as `s3://...` or `hdfs://...`, without a password. All machines that run jobs or executors must see the "
            "same change log"
        ),
    ] = "changelog"
    control: Annotated[str, Field(description="connection of the control store")] = "sluice_control"
    spark: Annotated[
        str, Field(description="connection that says how jobs run, of type `spark_connect` or `spark`")
    ] = "sluice_spark"
    airflow_api: Annotated[
        str,
        Field(
            description="connection of Airflow's REST API. Drains, and the end of an initial update, read and set the "
            "pause switch of a drain's DAG through it"
        ),
    ] = "sluice_airflow_api"
    keep_runs_days: Annotated[
        float | None,
        Field(
            gt=0,
            description="days for which runs of Sluice's DAGs, and the logs of their tasks, are "
            "[kept](configuration.md#housekeeping). None: for ever",
        ),
    ] = 14
    keep_records_days: Annotated[
        float | None,
        Field(
            gt=0,
            description="days for which reports of comparisons, statements with their answers, and ended initial "
            "updates are [kept](configuration.md#housekeeping). None: for ever",
        ),
    ] = 400
    keep_audit_days: Annotated[
        float | None,
        Field(
            gt=0, description="days for which the audit trail is [kept](configuration.md#housekeeping). None: for ever"
        ),
    ] = None
    command_roles: Annotated[
        tuple[RoleName, ...] | Literal["airflow"],
        Field(
            description="a person needs one of these [roles in Airflow](configuration.md#roles-in-airflow) to trigger "
            "a DAG that fills, repairs or decides, or to answer a question of a run. `airflow`: in place of roles, "
            "[Airflow's auth manager](security.md#rights-in-airflow) has to let the person do that. `[]`: Sluice asks "
            "nobody"
        ),
    ] = ("op", "admin")
    pages: Annotated[Pages, maybe_empty(Pages)] = Pages.by_default()
    alerts: Annotated[
        Alerts | None, Field(description="[alerts](monitoring.md#alerts). None: nobody is told of anything")
    ] = None
    relay: Annotated[
        Relay | None,
        maybe_empty(Relay | None),
        Field(description="the [relay](relay.md), which serves events of tables to clients. None: there is no relay"),
    ] = None
    dag_prefix: Annotated[
        DagPrefix,
        Field(
            description="the beginning of all DAG ids, so that they do not collide with other DAGs of the same "
            "Airflow: letters, digits and `_`, at most 60. With `acme_` a DAG is `acme_verify`. Commands of "
            "`./sluice` name DAGs without the prefix. Choose it before the first start: for Airflow, a DAG with "
            "another id is another DAG, which is not paused and has no history"
        ),
    ] = ""
    bulk_tasks: Annotated[
        int,
        Field(
            ge=1,
            description="number of Spark tasks that copy at the same time. It also decides how finely a middle-sized "
            "table is cut",
        ),
    ] = 2
    sources: Annotated[
        dict[Name, SourceSettings],
        Field(min_length=1),
        Field(
            description="the masters. The name of a source or slave has lower-case letters, digits and `_`, begins "
            "with a letter, and has at most 40 characters, because it becomes a part of DAG ids"
        ),
    ]
    slaves: Annotated[dict[Name, Slave], Field(description="the slaves")]
    replications: Annotated[list[Replication], Field(description="which source feeds which slave")]

    @model_validator(mode="before")
    @classmethod
    def _kinds_are_many(cls, raw: object) -> object:
        return templates.each_by_itself(raw)

    @model_validator(mode="after")
    def _pairs_exist_once(self) -> Config:
        seen = set()
        for pair in self.replications:
            _expect_known(pair.source, self.sources, "source")
            _expect_known(pair.slave, self.slaves, "slave")
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
                if not (pattern.wildcard or any(find_entry(source.patterns, table) for source in fed)):
                    raise ValueError(f"slave {name}: no source that feeds it watches {entry}")
            how = {"styled": slave.stylesheets is not None, "lasting": slave.keeps == "history"}
            for fault in (
                fault for source in fed for fault in consistency.faults(source.patterns, slave.mapper, **how)
            ):
                raise ValueError(f"slave {name}: {fault}")
        return self

    @model_validator(mode="after")
    def _pages_name_what_there_is(self) -> Config:
        for name in self.pages.names:
            if name not in self.sources and name not in self.slaves:
                raise ValueError(f"pages.names: no source and no slave is called {name}")
        return self

    @model_validator(mode="after")
    def _nothing_comes_back(self) -> Config:
        for arrow in unblocked_loops(self.arrows()):
            raise ValueError(arrow.fault)
        return self

    def arrows(self, database_id: Callable[[str], str] = str) -> list[Link]:
        """The replications as edges between databases; `database_id` gives the id for a connection."""
        links = []
        for replication in self.replications:
            source, slave = self.sources[replication.source], self.slaves[replication.slave]
            ends = database_id(source.connection), database_id(slave.connection)
            taken = tuple(consistency.replicated_patterns(source.patterns, slave.mapper))
            links.append(
                Link(
                    replication.source,
                    replication.slave,
                    *ends,
                    taken,
                    slave.schemas,
                    slave.mapper.renamed_tables,
                    replication.block_loop,
                )
            )
        return links

    @property
    def airflow_decides(self) -> bool:
        """Whether commands are for people whom Airflow's auth manager lets trigger them, whatever their roles are."""
        return self.command_roles == BY_AIRFLOW

    def source(self, name: str) -> SourceSettings:
        """The source of that name. Raises ConfigError if there is none."""
        return _get(name, self.sources, "source")

    def slave(self, name: str) -> Slave:
        """The slave of that name. Raises ConfigError if there is none."""
        return _get(name, self.slaves, "slave")

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
            name_hint(slave, slaves, "add it under `replications`"),
        )

    def perhaps_opposite(self, source: str, slave: str) -> list[Replication]:
        """The replications with `block_loop` that may bring rows of the source's database, or of another one that
        feeds the slave, to one of the two. Which of them do, only the connections tell: ids may differ.
        """
        loops = [replication for replication in self.replications if replication.block_loop]
        if self.replication(source, slave).block_loop:
            return loops
        ends = self.slave(slave).connection
        beside = {
            replication.source for replication in self.replications if self.slave(replication.slave).connection == ends
        } - {source}
        return [replication for replication in loops if replication.source in beside and replication.slave != slave]

    def parse_pair(self, text: str) -> Pair | None:
        """A replication that is named as `source/slave`; none for a blank.

        Raises:
            ConfigError: SLC-003 or SLC-914, there is no such one.
        """
        text = text.strip()
        if not text:
            return None
        source, slash, slave = text.partition("/")
        if not slash:
            raise ConfigError(914, f"{text!r} names no replication", "write `source/slave`; nothing was changed")
        self.replication(source, slave)
        return Pair(source, slave)

    @property
    def initial_data_url(self) -> str:
        """The directory of initial data in the change log."""
        return StoragePlace(self.change_log_url).within("initial_files").url

    def receives_in(self, url: str) -> bool:
        """Whether a directory is one in those where carried files arrive, or initial data is kept."""
        name = url.partition("?")[0].rpartition("/")[2]
        # No name of ours has a percent sign: the library that opens a URL decodes it, and it might lead elsewhere then.
        if name in ("", ".", "..") or "%" in name:
            return False
        places = {self.initial_data_url, *(slave.initial_files.location for slave in self.slaves.values())}
        return url in {StoragePlace(at_home(place)).within(name).url for place in places}

    def slaves_of(self, source: str) -> list[str]:
        """The slaves that this source feeds, in the file's order."""
        return [pair.slave for pair in self.replications if pair.source == source]

    @property
    def keeps_house(self) -> bool:
        """Whether anything goes after its days."""
        return any((self.keep_runs_days, self.keep_records_days, self.keep_audit_days))

    @property
    def dags(self) -> list[str]:
        """The names of all our DAGs: their ids without the prefix."""
        drains = [drain_dag(Pair(replication.source, replication.slave)) for replication in self.replications]
        common = [name for name in COMMON_DAGS if name != "housekeeping" or self.keeps_house]
        common += [ALERTS] if self.alerts else []
        publishers = [dag_id("", "publish", name) for name in self.sources]
        comparisons = [dag_id("", *names) for source in self.sources for names in self.comparisons(source)]
        return [*common, *publishers, *drains, *comparisons]

    def dags_of(self, source: str) -> list[str]:
        """The names of the DAGs of one source and its replications."""
        drains = [drain_dag(Pair(source, slave)) for slave in self.slaves_of(source)]
        return [dag_id("", "publish", source), *drains, *(dag_id("", *names) for names in self.comparisons(source))]

    def needed_dags(self, source: str, slaves: Collection[str]) -> list[str]:
        """The names of the DAGs that have to run if these slaves of a source are to be filled, and to follow."""
        others = {name for other in self.sources if other != source for name in self.dags_of(other)}
        others |= {drain_dag(Pair(source, slave)) for slave in self.slaves_of(source) if slave not in slaves}
        return [name for name in self.dags if name not in others]

    def comparisons(self, source: str) -> dict[tuple[str, ...], tuple[str, dict[str, object]]]:
        """The DAGs that compare the slaves of a source at set times: when, and what they ask for, by their names."""
        if not self.slaves_of(source):
            return {}
        wanted = self.source(source).verification
        sample: dict[str, object] = {"confidence": wanted.confidence}
        sample |= {"at_most": wanted.at_most} if wanted.at_most else {"sample": wanted.sample}
        comparisons = {"whole": (wanted.whole_at, {}), "sample": (wanted.sampled_at, sample)}
        return {("verify", source, name): (when, asked) for name, (when, asked) in comparisons.items() if when}

    def dag_id(self, *names: str) -> str:
        """The id of a DAG, such as `verify`, or `drain`, source and slave."""
        return dag_id(self.dag_prefix, *names)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all that a run reads: of other contents it is another one. `pages` is in force at once, and
        no run of a replication reads `alerts`.
        """
        content = json.dumps(self.model_dump(exclude={"alerts", "pages"}), default=_plain, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:_FINGERPRINT]

    @property
    def change_log_url(self) -> str:
        """The change log's place: an absolute path, or a URL as pyarrow has it (`s3`, not Hadoop's `s3a`)."""
        scheme, _, rest = self.change_log.partition("://")
        if scheme == "file":
            # pyarrow would not wait until a file is on the disk.
            return unquote(urlsplit(self.change_log).path)
        return at_home(f"s3://{rest}" if scheme == "s3a" else self.change_log)


def load(file: Path | None = None) -> Config:
    """Read and validate the configuration.

    Raises:
        ConfigError: SLC-002 if it cannot be read, with every place that is wrong.
    """
    where = str(file or place())
    try:
        raw = strict_yaml.parse(read(where))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(2, f"{where} cannot be read: {error}", f"set {CONFIG_ENV}, or fix the file") from None
    return valid(raw, where)


def valid(raw: object, where: str | Path) -> Config:
    """Validate the content of a configuration. Raises ConfigError SLC-002 with all faults and their keys."""
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        keys = _all_keys()
        errors = error.errors(include_url=False, include_input=False)
        invalid = (
            f"  {strict_yaml.dotted_path(templates.written_at(raw, fault['loc']))}: {strict_yaml.reason(fault, keys)}"
            for fault in errors[:_TOLD]
        )
        more = [f"  and {len(errors) - _TOLD} more"] if len(errors) > _TOLD else []
        faults = "\n".join([*dict.fromkeys(invalid), *more])
        raise ConfigError(2, f"{where} is not valid:\n{faults}", f"fix these and run `{shell.check()}`") from None


def schema() -> dict[str, object]:
    """The JSON schema of the file, for editors."""
    return Config.model_json_schema()


def _expect_known(name: str, known: dict[str, SourceSettings] | dict[str, Slave], kind: str) -> None:
    if name not in known:
        raise ValueError(f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}")


def _get(name: str, known: dict[str, _T], kind: str) -> _T:
    try:
        return known[name]
    except KeyError:
        raise UnknownName(
            3,
            f"no {kind} is called {name!r}; there is {', '.join(known) or 'none'}",
            name_hint(name, known, "fix the name"),
        ) from None


def _plain(value: object) -> object:
    """A value as JSON has it: a set has no order, and another one in each process."""
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _all_keys() -> list[str]:
    return [field.alias or name for model in Section.__subclasses__() for name, field in model.model_fields.items()]
