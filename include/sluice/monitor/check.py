"""`./sluice check`: is everything there that the configuration names, and may we do what we need to do?"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sluice import shell
from sluice.airflow_api.client import AirflowApi, Redirected
from sluice.airflow_api.dags import elsewhere
from sluice.capture import unwatched
from sluice.changelog.object_store import ObjectStore
from sluice.changelog.segment_files import expect_directory
from sluice.config import pools
from sluice.config.models import OutgoingFiles
from sluice.config.relay import Relay
from sluice.context import Context
from sluice.errors import ConfigError, SluiceError, Unwatchable
from sluice.initial_update.files.encoding import encryption_key
from sluice.initial_update.files.signature import private_key, public_key
from sluice.initial_update.preflight import MasterTables, look
from sluice.library_errors import unforeseen
from sluice.model.names import Pair
from sluice.model.replication_cycles import unblocked_loops
from sluice.monitor import advice
from sluice.monitor.spark_address import is_on_another_machine, look_at_spark, peer_address
from sluice.paths import at_home
from sluice.publish.transformer import load
from sluice.relay.readers import read_secrets
from sluice.storage.directory import Directory
from sluice.throttle import active
from sluice.tls import is_far
from sluice.vendors.protocol.capture import Capture
from sluice.vendors.protocol.slave import SlaveDatabase
from sluice.vendors.registry import vendor

_UNKNOWN = "how much that is cannot be asked here: watch the master's disk"
# These have a slot for each source, and for each replication.
_EACH = (pools.PUBLISH, pools.DRAIN)
_NO_EVENTS = (
    "`event_triggers` is off: a watched table whose columns change is left out until it is filled again; set it on"
)
_HTTPS = '`{"schema": "https"}` in the extra of its Airflow connection'


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine, worth knowing, or wrong."""

    subject: str
    good: bool
    text: str


@dataclass(frozen=True)
class Look:
    """One thing to look at; `find` says how it is, or what is wrong with it, or raises that."""

    subject: str
    find: Callable[[], str | Finding]

    def look(self) -> Finding:
        """Look at it, whatever happens then."""
        try:
            result = self.find()
            return result if isinstance(result, Finding) else Finding(self.subject, True, result)
        except SluiceError as error:
            return Finding(self.subject, False, str(error))
        except Exception as error:
            return Finding(self.subject, False, str(unforeseen(error)))


def findings(context: Context) -> Iterator[Finding]:
    """Look at all that is configured: what jobs run on, each source with its tables, each slave with its own."""
    return (look.look() for look in looks(context))


def looks(context: Context) -> Iterator[Look]:
    """All that there is to look at. They may be done in any order, and side by side."""
    yield Look("control store", lambda: _store(context))
    yield Look("Airflow's REST API", lambda: _api(context))
    if context.config.airflow_api in context.connections:
        yield Look("pools and DAGs", lambda: _airflow(context))
    yield Look("Spark", lambda: look_at_spark(context.connection(context.config.spark)))
    yield Look("change log", lambda: _change_log(context))
    masters: dict[str, MasterTables] = {}
    for name in context.config.sources:
        yield Look(f"source {name}", partial(_source, context, name, masters))
        if context.capture_way(name).says_kept is not None:
            yield Look(f"log of {name}", partial(_kept_log, context, name))
        yield from _activity(context, name)
        out = context.config.source(name).initial_files
        yield from _keys(f"keys of {name}", {encryption_key: out.key_file, private_key: out.sign_with})
        if "location" in out.model_fields_set:
            yield Look(f"initial files of {name}", partial(_place, out))
        if transformer := context.config.source(name).messages.transformer:
            yield Look(f"transformer of {name}", partial(_transformer, transformer, name))
    yield Look("replications", lambda: _circles(context))
    fed = [Pair(replication.source, replication.slave) for replication in context.config.replications]
    for pair in fed:
        yield Look(f"slave {pair.slave}", partial(_slave, context, pair, masters))
        into = context.config.slave(pair.slave).initial_files
        yield from _keys(f"keys of {pair.slave}", {encryption_key: into.key_file, public_key: into.signed_by})
    yield from (look for _, look in _readers(context))
    if relay := context.config.relay:
        yield Look("relay", lambda: _relay(context, relay))
    for slave in context.config.slaves.keys() - {pair.slave for pair in fed}:
        yield Look(f"slave {slave}", lambda: "is in no replication, and was not looked at")


def check_connection(context: Context, conn_id: str) -> Iterator[Finding]:
    """Whether what a connection leads to answers, for everything that the configuration uses it for."""
    settings = context.config
    if conn_id == settings.control:
        yield Look("control store", lambda: _store(context)).look()
    if conn_id == settings.airflow_api:
        yield Look("Airflow's REST API", lambda: _api(context)).look()
    if conn_id == settings.spark:
        yield Look("Spark", lambda: look_at_spark(context.connection(conn_id))).look()
    if (relay := settings.relay) and conn_id in relay.secret_ids:
        yield _with_others(context, relay.secret_ids, Look("relay", lambda: _relay(context, relay)))
    for name, source in settings.sources.items():
        if conn_id in source.connections:
            answers = Look(f"source {name}", partial(_source_answers, context, name))
            yield _with_others(context, source.connections, answers)
    for pair in (Pair(replication.source, replication.slave) for replication in settings.replications):
        if settings.slave(pair.slave).connection == conn_id:
            yield Look(f"slave {pair.slave}", partial(_slave_answers, context, pair)).look()
    yield from (look.look() for used, look in _readers(context) if used == conn_id)


def _with_others(context: Context, ids: Collection[str], look: Look) -> Finding:
    """A look that needs several connections, once all of them are there."""
    if missing := [conn_id for conn_id in ids if conn_id not in context.connections]:
        return Finding(look.subject, True, f"tried when {' and '.join(missing)} is there, too")
    return look.look()


def line(finding: Finding) -> str:
    """A finding as people read it."""
    return f"{'ok  ' if finding.good else 'FAIL'} {finding.subject}: {finding.text}".replace("\n", "\n     ")


def _readers(context: Context) -> Iterator[tuple[str, Look]]:
    """The connections with which comparisons read, each with a look whether it leads to a database."""
    used: list[tuple[str, str, str | None]] = []
    for sides in (context.config.sources, context.config.slaves):
        used += [(name, side.vendor, side.reading_connection) for name, side in sides.items()]
    for name, kind, conn_id in used:
        if conn_id:
            yield conn_id, Look(f"comparisons of {name}", partial(_reads, context, kind, conn_id))


def _reads(context: Context, kind: str, conn_id: str) -> str:
    known = vendor(kind).transport is not None
    return "; ".join(["answers" if known else "was not looked at", *_unsafe_ways(context, kind, conn_id)])


def _unsafe_ways(context: Context, kind: str, *ids: str) -> list[str]:
    """The remarks on connections that others can read, or whose server is not verified."""
    if (transport := vendor(kind).transport) is None:
        return []
    return [remark for conn_id in ids if (remark := transport(context.connection(conn_id)).remark)]


def _source_answers(context: Context, name: str) -> str:
    return _answers(context.source(name).capture)


def _slave_answers(context: Context, pair: Pair) -> str:
    # The mapper of the configuration alone: the control store may have no connection yet.
    return _answers(context.slave(pair, context.configured_mapper(pair)))


def _answers(database: Capture | SlaveDatabase) -> str:
    with closing(database):
        database.capabilities()
    return "answers"


def _store(context: Context) -> str:
    with context.store.begin():
        to_come = [] if context.store.has_tables else ["its tables are made by the first initial_update or bootstrap"]
        return "; ".join(["answers", *to_come, *context.store.remarks()])


def _relay(context: Context, relay: Relay) -> str:
    read_secrets(context, relay)
    sources = [name for name in relay.sources or context.config.sources if context.config.source(name)]
    return f"serves {', '.join(sources)} to {len(relay.clients)} clients on {relay.address}, port {relay.port}"


def _api(context: Context) -> str:
    info = context.connection(context.config.airflow_api)
    hint = f"start Airflow, or fix the connection {context.config.airflow_api}; until then pausing is not noticed"
    api = AirflowApi(info)
    try:
        api.ask("/api/v2/dags?limit=1")
    except Redirected as error:
        raise elsewhere(error, context.config.airflow_api) from None
    except (OSError, ValueError, KeyError) as error:
        raise SluiceError(915, f"no good answer to {info.login} at {info.host}:{info.port}: {error}", hint) from None
    parts = urlsplit(api.base)
    if parts.scheme == "http" and is_far(peer_address(parts.hostname or "", parts.port or 80)):
        return f"answers; its password travels to {api.base} without encryption: set {_HTTPS}"
    return "answers"


def _airflow(context: Context) -> str:
    """Whether it has what `init` makes there. Raises SluiceError: SLC-398, what is missing; too few slots."""
    api, settings = AirflowApi(context.connection(context.config.airflow_api)), context.config
    try:
        slots = {pool["name"]: pool["slots"] for pool in api.every("/api/v2/pools", "pools")}
        known = {dag["dag_id"]: dag for dag in api.every("/api/v2/dags?tags=sluice", "dags")}
    except (OSError, ValueError, KeyError) as error:
        return f"not looked at: {error}"
    wanted, dags = pools.slots(settings), [settings.dag_id(name) for name in settings.dags]
    lacking = [f"pool {name} of {number} slots" for name, number in wanted.items() if name not in slots]
    if lacking := [*lacking, *(f"DAG {name}" for name in dags if name not in known)]:
        raise SluiceError(398, f"Airflow lacks {', '.join(lacking)}", f"type: {shell.sluice('init')}; DAGs show soon")
    short = {name: number for name, number in wanted.items() if slots[name] < number}
    few = [f"{name} has {slots[name]} slots, and {number} tasks may want one" for name, number in short.items()]
    if more := [shell.airflow("pools", "set", name, short[name], "Sluice") for name in _EACH if name in short]:
        hint = f"nothing is lost, and slaves are behind for longer; type: {'; '.join(more)}"
        raise SluiceError(398, f"tasks wait for each other: {'; '.join(few)}", hint)
    told = [f"Airflow has all {len(wanted)} pools and {len(dags)} DAGs", *few]
    if paused := _find_paused(context, known):
        told.append(f"paused: {', '.join(paused)}; to let all of them run, type: {shell.unpause_dags(paused)}")
    return "; ".join(told)


def _find_paused(context: Context, known: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The ids of our DAGs that are paused, without those of sources that somebody removed."""
    settings = context.config
    removed = (name for name in settings.sources if advice.for_removed(context, name))
    gone = {settings.dag_id(dag) for name in removed for dag in settings.dags_of(name)}
    dags = map(settings.dag_id, settings.dags)
    return [name for name in dags if name in known and known[name]["is_paused"] and name not in gone]


def first_steps(context: Context) -> Iterator[str]:
    """The commands, in that order, after which all slaves are filled, and follow."""
    with suppress(OSError, KeyError, ValueError):
        api = AirflowApi(context.connection(context.config.airflow_api))
        if paused := _find_paused(
            context, {dag["dag_id"]: dag for dag in api.every("/api/v2/dags?tags=sluice", "dags")}
        ):
            yield shell.unpause_dags(paused)
    for source in filter(context.config.slaves_of, context.config.sources):
        yield shell.update(source, context.config.slaves_of(source))


def _change_log(context: Context) -> str:
    url = context.config.change_log_url
    if "://" in url:
        return f"{url} answers, {len(ObjectStore(url).names()):,} segments are there"
    directory, existing = Path(url), expect_directory(url)
    free = shutil.disk_usage(existing).free / 1e9
    text = f"{directory} {'is there' if existing == directory else 'will be made'}, {free:.1f} GB free"
    spark = context.connections.get(context.config.spark)
    if spark and is_on_another_machine(spark):
        text += (
            "; Spark is on another machine: mount this directory there by the same path, or let `change_log` of the "
            "configuration be a store, such as s3://BUCKET/changelog"
        )
    return text


def _source(context: Context, name: str, masters: dict[str, MasterTables]) -> str | Finding:
    if gone := advice.for_removed(context, name):
        return Finding(f"source {name}", False, gone)
    source = context.source(name)
    try:
        can = source.capture.capabilities()
        installed, outdated = source.capture.is_installed(), source.capture.has_outdated_events()
        left = source.capture.unwatched(list(context.watched_tables(name, source)))
    except ConfigError as error:
        # Its tables, too: a server is not restarted for a capture that one of them would stand in the way of then.
        try:
            MasterTables.for_source(context, name)
        except (ConfigError, Unwatchable) as also:
            raise ConfigError(error.code, f"{error.fact}; {also.message}", f"{error.hint}; {also.hint}") from None
        raise
    finally:
        source.close()
    master = masters[name] = MasterTables.for_source(context, name)
    if not can.sends_ddl:
        ddl = "DDL is not carried out on slaves: make and alter their tables by hand, or by initial_update"
    elif can.event_triggers:
        ddl = "DDL is seen as it happens" if can.events_fire else _NO_EVENTS
    elif outdated:
        ddl = advice.outdated_events(name).replace("\nHINT: ", "; ")
    else:
        without = "nothing is published" if context.capture_way(name).from_log else "DDL is found by polling"
        ddl = (
            f"{without}, since the role may not create event triggers; let who may, on plain PostgreSQL a superuser, "
            f"run the script of {shell.sluice('grants', name)}, again after bootstrap"
        )
    settings = context.config.source(name)
    ways = _unsafe_ways(context, settings.vendor, *settings.connections)
    made = "installed" if installed else "not installed yet (bootstrap installs them)"
    text = "; ".join(["answers", f"DbResources {made}", ddl, *map(unwatched.fact, left), *master.remarks, *ways])
    if installed and (lost := [table for table in left if table.reason.loses]):
        hints = "; ".join(dict.fromkeys(unwatched.note(context, name, it).partition("\nHINT: ")[2] for it in lost))
        return Finding(f"source {name}", False, f"{text}\nHINT: {hints}")
    return text


def _kept_log(context: Context, name: str) -> str | Finding:
    """The part of its own log that the server keeps for the capture."""
    with closing(context.source(name)) as source:
        installed = source.capture.is_installed()
        kept = source.capture.kept_log() if installed else None
    if kept is None:
        unknown = installed and not context.capture_way(name).says_kept
        return f"it is kept until it is published; {_UNKNOWN}" if unknown else "nothing is kept of it yet"
    growing = advice.for_kept_log(context, name, kept).replace("\nHINT: ", "; ")
    return Finding(f"log of {name}", False, growing) if growing else kept.summary


def _activity(context: Context, name: str) -> Iterator[Look]:
    settings = context.config.source(name)
    text = "active sessions of others: {}; {} while there are more than {}"
    if (most := settings.blocks.max_active) is not None:
        waits = "an initial update begins no block"
        yield Look(f"blocks of {name}", lambda: text.format(active(context, name), waits, most))
    if (limit := settings.verification.max_active) is not None:
        # The one ends initial updates and repairs, the other compares at any time.
        both = context, context.for_reading(name, ())
        rests = "a comparison begins no range"
        pace = f"pace of comparisons of {name}"
        yield Look(pace, lambda: text.format(max(active(reader, name) for reader in both), rests, limit))


def _keys(subject: str, files: Mapping[Callable[[str], object], str | None]) -> Iterator[Look]:
    """Whether the key files of initial data can be used on this machine, for who has any."""
    named = [(read, file) for read, file in files.items() if file]
    if named:
        text = f"can be read on this machine: {', '.join(file for _, file in named)}"
        yield Look(subject, lambda: text if all(read(file) for read, file in named) else "")


def _place(settings: OutgoingFiles) -> str:
    location = at_home(settings.location)
    Directory(location).expect_writable(settings.max_bytes)
    return f"can be written to {location} on this machine"


def _circles(context: Context) -> str:
    if back := unblocked_loops(context.config.arrows(context.database_id)):
        raise SluiceError(2, "; ".join(arrow.fault for arrow in back), "fix it, see include/docs/both_directions.md")
    return "none brings a change back to where it was taken from"


def _transformer(named: str, source: str) -> str:
    load(named, source)
    return f"{named} can be loaded on this machine"


def _slave(context: Context, pair: Pair, masters: Mapping[str, MasterTables]) -> str:
    slave, settings = context.slave(pair), context.config.slave(pair.slave)
    try:
        can = slave.capabilities()
        ways = _unsafe_ways(context, settings.vendor, settings.connection)
        quiet = (
            "its own triggers and cascades stay silent"
            if can.silent_triggers
            else "its tables may have no triggers and cascades of their own, which the role cannot silence"
        )
        try:
            master = masters.get(pair.source) or MasterTables.for_source(context, pair.source)
        except SluiceError:
            # What is wrong there is told beside the source, and is not this slave's fault.
            return f"answers; its tables were not looked at, since the source {pair.source} cannot be read"
        columns = {name: known for name, known in master.columns.items() if not slave.mapper.excludes(name)}
        excluded = sorted(filter(slave.mapper.excludes, master.columns))
        warnings = [f"does not get {', '.join(map(str, excluded))}"] if excluded else []
        for name, known in columns.items():
            # No error of an update: the column may be still to come.
            slave.mapper.refuse_unknown(name, [column.name for column in known])
        warnings += look(context, slave, master)
        guarded = slave.guarded(list(columns)) if context.unheard(pair) else []
        if wanted := context.wipe_out(pair):
            gone = slave.wiped(wanted)
            warnings.append(f"an initial update drops {len(gone)} objects of {wanted.schema_}: {', '.join(gone)}")
    finally:
        slave.close()
    if guarded:
        quiet += f", but {', '.join(guarded)}: what that writes is not published there, as block_loop has it"
    if settings.stylesheets:
        style = slave.mapper.stylesheet
        warnings.append(f"messages pass {style.name}" if style else "there is no stylesheet for its messages")
    return "; ".join([f"answers; {quiet}", *warnings, *ways])
