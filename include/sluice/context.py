"""The composition root of a job: the configuration, and the ports opened from it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from sluice import shell
from sluice.airflow_api.client import AirflowApi
from sluice.airflow_api.dags import Dags
from sluice.airflow_api.pause import PauseSwitch
from sluice.airflow_api.runs import Runs
from sluice.apply.transform.stylesheet_file import stylesheet
from sluice.changelog.manifest import Manifest
from sluice.config import configuration
from sluice.connections import ConnectionInfo, process_connections
from sluice.errors import ConfigError
from sluice.model.item_labels import ItemLabels
from sluice.model.names import Pair, Resources, TableName, dag_id
from sluice.model.watched import Watch, WatchSettings, find_entry
from sluice.store import allowed_losses, leases
from sluice.store.engine import Store
from sluice.vendors.registry import master, vendor

if TYPE_CHECKING:
    from sluice.changelog.segment_files import SegmentFiles
    from sluice.config.configuration import Config
    from sluice.config.mapper import Mapper
    from sluice.config.models import WipeOut
    from sluice.vendors.protocol.capabilities import CaptureWay
    from sluice.vendors.protocol.master import Source
    from sluice.vendors.protocol.slave import SlaveDatabase
    from sluice.vendors.protocol.visibility import ReadSnapshot


@dataclass(frozen=True)
class Context:
    """Configuration and connections of one process.

    Attributes:
        patience_s: see `sluice.store.engine.Store`.
    """

    config: Config
    connections: Mapping[str, ConnectionInfo]
    patience_s: float | None = field(default=None, kw_only=True)

    @classmethod
    def from_environment(cls) -> Context:
        """The context by the configuration file and the sealed connections of this process."""
        return cls(configuration.load(), process_connections())

    @cached_property
    def store(self) -> Store:
        """The control store."""
        return Store(self.connection(self.config.control), self.patience_s, self.config.control)

    def connection(self, conn_id: str) -> ConnectionInfo:
        """A connection by its Airflow id. Raises ConfigError SLC-014 if it was not handed over."""
        try:
            return self.connections[conn_id]
        except KeyError:
            raise ConfigError(
                14,
                f"there is no Airflow connection {conn_id!r}, or it was not handed to this job",
                f"type: {shell.connect(conn_id)}, or add it in Airflow (Admin, Connections)",
            ) from None

    def source(self, name: str) -> Source:
        """The port of a source.

        Raises:
            ConfigError: SLC-002 if another source of the same database would have a DbResource of the same name.
        """
        source = self.config.source(name)
        resources = self.resources(name)
        for other, settings in self.config.sources.items():
            same_database = other != name and settings.connection == source.connection
            if same_database and (same := resources.shared_name(self.resources(other))):
                raise ConfigError(
                    2,
                    f"sources {name} and {other} would both have a {resources.schema}.{same}",
                    f"choose another `prefix` for the one that is not installed yet; then {shell.check()}",
                )
        connection = self.connection(source.connection)
        standby = self.connection(source.standby_connection) if source.standby_connection else None
        return master(source.vendor).source(
            connection, source.schema_, source.prefix, source.trusted_code, source.capture, source.decoding, standby
        )

    def for_reading(self, source: str, slaves: Iterable[str]) -> Context:
        """The same with the connections of roles that may only read, where the configuration names some."""
        sources, read = dict(self.config.sources), dict(self.config.slaves)
        sources[source] = self.config.source(source).for_reading()
        read |= {name: self.config.slave(name).for_reading() for name in slaves}
        return replace(self, config=self.config.model_copy(update={"sources": sources, "slaves": read}))

    def captured_by(self, source: str, capture: str) -> Context:
        """The same, with a source that is captured in this way, whatever the configuration says."""
        captured = {source: self.config.source(source).model_copy(update={"capture": capture})}
        return replace(self, config=self.config.model_copy(update={"sources": {**self.config.sources, **captured}}))

    def capture_way(self, source: str) -> CaptureWay:
        """The way in which the changes of a source are captured, without asking it."""
        settings = self.config.source(source)
        return master(settings.vendor).capture(settings.capture)

    def read_snapshot(self, source: str) -> ReadSnapshot:
        """The function that reads snapshots of a source."""
        return master(self.config.source(source).vendor).read_snapshot

    def slave(self, pair: Pair, mapper: Mapper | None = None) -> SlaveDatabase:
        """The port of a slave, as this source feeds it; with another mapper, as that sees it."""
        self.config.replication(pair.source, pair.slave)
        slave = self.config.slave(pair.slave)
        kind, info = vendor(slave.vendor), self.connection(slave.connection)
        port = kind.history if slave.keeps == "history" else kind.slave
        if port is None:
            raise ConfigError(438, f"slave {pair.slave} cannot keep a history", "take `keeps` out of the configuration")
        return port(info, pair, slave.schema_, mapper or self.mapper(pair), self.unheard(pair))

    def mapper(self, pair: Pair) -> Mapper:
        """The mapper of a slave, with the column losses that were allowed."""
        return replace(self.configured_mapper(pair), allowed=allowed_losses.allowed_casts(self.store, pair))

    def configured_mapper(self, pair: Pair) -> Mapper:
        """The mapper by the configuration alone. Raises ConfigError SLC-161, its stylesheet cannot be read."""
        source, slave = self.config.source(pair.source), self.config.slave(pair.slave)
        masters = frozenset(map(self.resources, self.config.sources))
        mapper = replace(slave.mapper, ours=partial(vendor(slave.vendor).is_ours, masters))
        if slave.stylesheets is None:
            return mapper
        stylesheet_ = stylesheet(slave.stylesheets, pair, source.prefix, source.messages.version)
        return replace(mapper, stylesheet=stylesheet_)

    def gives(self, pair: Pair, table: TableName) -> bool:
        """Whether a slave is given a table of its master, as it is configured."""
        mapper = self.config.slave(pair.slave).mapper
        return bool(find_entry(self.config.source(pair.source).patterns, table)) and not mapper.excludes(table)

    def unheard(self, pair: Pair) -> tuple[Resources, ...]:
        """The masters that are not to hear of what this replication writes, should they be in the slave's database."""
        if not self.config.replication(pair.source, pair.slave).block_loop:
            return ()
        here = vendor(self.config.slave(pair.slave).vendor).master
        return tuple({self.resources(name) for name in self.config.sources}) if here else ()

    def wipe_out(self, pair: Pair) -> WipeOut | None:
        """The `wipe_out` settings of a slave, if there are any. Raises ConfigError SLC-214 if it is a master, too."""
        slave = self.config.slave(pair.slave)
        here = self.database_id(slave.connection)
        fed = [name for name, source in self.config.sources.items() if self.database_id(source.connection) == here]
        if slave.wipe_out and fed:
            raise ConfigError(
                214,
                f"nothing of slave {pair.slave} can be wiped out: its database is that of source {', '.join(fed)}, "
                "whose slaves would lose what is dropped",
                "nothing was changed; take `wipe_out` out of the configuration",
            )
        return slave.wipe_out

    def resources(self, source: str) -> Resources:
        """The names of a source's DbResources, as its database spells them."""
        settings = self.config.source(source)
        return master(settings.vendor).resources(settings.schema_, settings.prefix)

    def watch_settings(self, source: str) -> WatchSettings:
        """The part of the configuration that is stored in the source."""
        settings = self.config.source(source)
        entries = {
            pattern: Watch(entry.actions, entry.trigger, entry.sequence, entry.debug, entry.old_images)
            for pattern, entry in settings.patterns.items()
        }
        messages = settings.messages
        appearance = ItemLabels(messages.db_id, messages.version, settings.char_width, settings.char_width_small)
        here = self.database_id(settings.connection)
        drained_into = any(arrow.blocked and arrow.ends == here for arrow in self.config.arrows(self.database_id))
        return WatchSettings(
            entries,
            settings.detect_ddl,
            settings.initial_content,
            appearance,
            drained_into,
            tuple(settings.trusted_code),
            self.capture_way(source).from_log,
            settings.max_row_bytes,
        )

    def database_id(self, connection: str) -> str:
        """A text that is the same for connections to one database; an id of one if it is unknown, or no server's."""
        info = self.connections.get(connection)
        used: list[str] = [
            settings.vendor for settings in self.config.sources.values() if settings.connection == connection
        ]
        used += [settings.vendor for settings in self.config.slaves.values() if settings.connection == connection]
        for name in used:
            if info and (identified := vendor(name).database_id):
                return identified(info)
        return connection

    def watched_tables(self, source: str, database: Source | None = None) -> dict[TableName, Watch]:
        """The watched tables of a source: by name, and by its wildcards as they match today.

        Args:
            database: its port, if it is open already.
        """
        entries = self.watch_settings(source).entries
        names = [TableName(*name) for name in self.config.source(source).watched_tables]
        if schemas := {pattern.schema for pattern in entries if pattern.wildcard}:
            with nullcontext(database) if database else closing(self.source(source)) as opened:
                names += [name for name in opened.master.eligible(schemas) if name not in names]
        return {name: entries[pattern] for name in names if (pattern := find_entry(entries, name))}

    def present(self, source: str) -> dict[TableName, TableName]:
        """The watched tables that exist, by what they are called today, each with the name that it is watched by."""
        with closing(self.source(source)) as database:
            return database.capture.present(list(self.watched_tables(source, database)))

    def manifest(self, source: str) -> Manifest:
        """The manifest of a source's change log."""
        return Manifest(self.store, source)

    def files(self) -> SegmentFiles:
        """The files of segments: in a plain directory, or in an object store."""
        # They bring Arrow along, and most jobs begin without it.
        from sluice.changelog.object_store import ObjectStore
        from sluice.changelog.segment_files import PlainDirectory

        url = self.config.change_log_url
        return ObjectStore(url) if "://" in url else PlainDirectory(url)

    def switch(self, pair: Pair) -> PauseSwitch:
        """The pause switch of a slave's drain DAG."""
        return self._switch(shell.unpause(pair), "drain", pair.source, pair.slave)

    def publish_switch(self, source: str) -> PauseSwitch:
        """The pause switch of the DAG that publishes a source."""
        return self._switch(shell.unpause_publish(source), "publish", source)

    def airflow_api(self) -> AirflowApi | None:
        """Airflow's REST API, if its connection was handed over."""
        info = self.connections.get(self.config.airflow_api)
        return AirflowApi(info) if info else None

    def ask_publisher(self, source: str) -> None:
        """Ask Airflow for a run of a source's publisher, unless one is running or its DAG is paused.

        By its schedule it may take minutes to come.
        """
        if leases.is_held(self.store, f"publish {source}") or not self.publish_switch(source).is_unpaused():
            return
        self.runs().ask_for(dag_id("", "publish", source), f"asked__{int(time.time())}", {})

    def dags(self, token: str = "") -> Dags:
        """Our DAGs, for a person who switches and triggers them; by this token of theirs, if there is one."""
        return Dags(self.config, self.connection(self.config.airflow_api), token)

    def runs(self) -> Runs:
        """The runs of our DAGs."""
        return Runs(self.airflow_api(), self.config.dag_id)

    def _switch(self, unpause: str, *names: str) -> PauseSwitch:
        return PauseSwitch(self.airflow_api(), self.config.dag_id(*names), unpause)
