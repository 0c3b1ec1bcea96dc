"""Leftovers of a source in databases and in Airflow when it is removed, with the statements that end them.

The databases are asked, as they are now. A thing that is not there, or cannot be looked at, is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice import shell
from sluice.config import pools
from sluice.config.configuration import Config
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.leftover import Leftover
from sluice.model.names import Pair, TableName
from sluice.outside_text import in_one_line
from sluice.store import watched_tables
from sluice.vendors.registry import master, vendor


@dataclass(frozen=True)
class LeftoverPlace:
    """A place that may have leftovers.

    Attributes:
        name: the place, and who may end what is there.
        note: why nothing is said of it; empty if it was looked at.
        is_shell: its statements are commands of a shell.
    """

    name: str
    left: Sequence[Leftover] = ()
    note: str = ""
    is_shell: bool = False


def leftovers(context: Context, source: str) -> list[LeftoverPlace]:
    """Every place where something of a source is left, or that was not looked at."""
    every_place = [_look_at_source(context, source)]
    every_place += [_look_at_slave(context, Pair(source, slave)) for slave in context.config.slaves_of(source)]
    every_place.append(_look_at_airflow(context, source))
    seen: set[str] = set()
    places = []
    for place in every_place:
        # One role may be that of the source and of a slave.
        left = [leftover for leftover in place.left if not leftover.statement or leftover.statement not in seen]
        seen |= {leftover.statement for leftover in left}
        if left or place.note:
            places.append(LeftoverPlace(place.name, left, place.note, place.is_shell))
    return places


def as_script(places: Sequence[LeftoverPlace]) -> str:
    """The statements of each place with a comment before each. Empty if there is none."""
    lines: list[str] = []
    for place in places:
        sign, end = ("#", "") if place.is_shell else ("--", ";")
        lines.append(f"{sign} {in_one_line(f'{place.name}: {place.note}' if place.note else place.name)}")
        for leftover in place.left:
            lines.append(f"{sign}   {in_one_line(leftover.what)}")
            if statement := leftover.statement:
                # Pasted from a terminal, it would be about another name.
                is_plain = in_one_line(statement) == statement
                lines.append(f"{statement}{end}" if is_plain else f"{sign} {in_one_line(statement)}{end}")
    return "\n".join(lines)


def _look_at_source(context: Context, source: str) -> LeftoverPlace:
    settings = context.config.source(source)
    name = f"the database of source {source}, as its administrator"
    ask = master(settings.vendor).leftovers
    schemas = {entry.schema for entry in settings.patterns if not entry.excluded}
    tables = _tables(context, source)

    def ask_source() -> list[Leftover]:
        assert ask is not None
        return ask(context.connection(settings.connection), context.resources(source), schemas, tables)

    return _look(context, source, name, settings.connection, ask_source if ask else None)


def _look_at_slave(context: Context, pair: Pair) -> LeftoverPlace:
    settings = context.config.slave(pair.slave)
    name = f"the database of slave {pair.slave}, as its administrator"
    ask = vendor(settings.vendor).leftovers

    def ask_slave() -> list[Leftover]:
        assert ask is not None
        mapper = context.configured_mapper(pair)
        patterns = context.config.source(pair.source).patterns
        schemas = {mapper.schema(entry.schema) for entry in patterns if not entry.excluded}
        tables = {mapper.table(table) for table in _tables(context, pair.source) if not mapper.excludes(table)}
        return ask(context.connection(settings.connection), settings.schema_, schemas, tables)

    return _look(context, pair.source, name, settings.connection, ask_slave if ask else None)


def _look(
    context: Context, source: str, name: str, connection: str, ask: Callable[[], list[Leftover]] | None
) -> LeftoverPlace:
    if ask is None:
        return LeftoverPlace(name, note="not looked at: Sluice cannot tell what its role has there")
    try:
        if others := _others(context, source, connection):
            note = f"not looked at: its role is that of {', '.join(others)}, too, and is needed"
            return LeftoverPlace(name, note=note)
        return LeftoverPlace(name, ask())
    except SluiceError as error:
        return LeftoverPlace(name, note=f"not looked at: {error.fact}")


def _tables(context: Context, source: str) -> set[TableName]:
    """The watched tables that are known: the store's, and the ones that the source has today."""
    tables = {TableName(*name) for name in context.config.source(source).watched_tables}
    tables |= watched_tables.known_tables(context.store, source)
    try:
        return tables | set(context.watched_tables(source))
    except SluiceError:
        return tables


def _others(context: Context, source: str, connection: str) -> list[str]:
    """The connections of the configuration that stay and log in to the same server by the same name."""
    info, rest = context.connection(connection), _without(context.config, source)
    used = [(f"source {name}", conn_id) for name, side in rest.sources.items() for conn_id in side.connections]
    used += [(f"slave {name}", side.connection) for name, side in rest.slaves.items()]
    names = []
    for name, conn_id in used:
        other = context.connections.get(conn_id)
        if other and (other.host, other.port, other.login) == (info.host, info.port, info.login):
            names.append(name)
    return names


def _without(config: Config, source: str) -> Config:
    """The configuration without a source, and without the slaves that it alone feeds."""
    kept = [replication for replication in config.replications if replication.source != source]
    fed = {replication.slave for replication in kept}
    only = set(config.slaves_of(source)) - fed
    return config.model_copy(
        update={
            "sources": {name: settings for name, settings in config.sources.items() if name != source},
            "slaves": {name: settings for name, settings in config.slaves.items() if name not in only},
            "replications": kept,
        }
    )


def _look_at_airflow(context: Context, source: str) -> LeftoverPlace:
    name, api, rest = "Airflow, in a shell", context.airflow_api(), _without(context.config, source)
    if api is None:
        return LeftoverPlace(name, note="not looked at: its REST API is not known here", is_shell=True)
    try:
        there = {row["connection_id"] for row in api.every("/api/v2/connections", "connections")}
        slots = {row["name"] for row in api.every("/api/v2/pools", "pools")}
    except (OSError, ValueError, KeyError) as error:
        return LeftoverPlace(name, note=f"not looked at: {error}", is_shell=True)
    ids = [conn_id for conn_id in _ids(context.config) if conn_id in there and conn_id not in _ids(rest)]
    left = [Leftover("a connection", shell.airflow("connections", "delete", conn_id)) for conn_id in ids]
    if not rest.sources:
        unused = [pool for pool in pools.slots(rest) if pool in slots]
        left += [Leftover("a pool", shell.airflow("pools", "delete", pool)) for pool in unused]
    return LeftoverPlace(name, left, is_shell=True)


def _ids(config: Config) -> list[str]:
    """The connections of sources and slaves, and of the deployment."""
    ids = [config.control, config.airflow_api, config.spark]
    for source in config.sources.values():
        ids += [*source.connections, source.reading_connection or ""]
    for slave in config.slaves.values():
        ids += [*slave.connections, slave.reading_connection or ""]
    return list(dict.fromkeys(ids))
