"""Warnings of `./sluice check` about tables that are captured or written in an unexpected way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psycopg import sql

from sluice import shell
from sluice.model.layout import Layout
from sluice.model.names import Resources, TableName
from sluice.model.watched import Watch
from sluice.vendors.postgresql import ownership
from sluice.vendors.postgresql.capture import event_triggers, registry
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.write import lookup_columns

# The query that finds what a remark is about; the remark.
_REMARKS = {
    "catalog/large_objects": "of {} the numbers travel, large objects that they name do not",
    "catalog/earlier": "{}: runs before the capture, so it must not change its row again",
    "catalog/heirs": "{} inherits: a query of the parent shows its rows on the master, and may not on a slave",
    "catalog/owned_by_others": "the role is a superuser, and {} belong to others: what they make between our look whose"
    " code would run and our query runs as a superuser; capture as a role that is none, or name them in `trusted_code`",
    "catalog/printed": "{}: computed as the text of floats, bytes or an interval, which extra_float_digits,"
    " bytea_output and IntervalStyle of the session that writes the row decide. A slave computes it under the server's"
    " defaults and may differ, also after an initial_update: compute it by round(...) or encode(...), or name it in"
    " `exclude_columns` of the slaves",
    "catalog/unlogged": "{}: UNLOGGED, so a crash empties it and no change says so: run initial_update then",
}


def warnings(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    tables: Mapping[TableName, Watch],
) -> list[str]:
    """The remarks on those of these tables that are there.

    Raises:
        Unwatchable: SLC-477, one of them cannot be watched.
    """
    known = relations.existing(connection, tables)
    existing = [name for name in tables if name in known]
    registry.refuse_foreign(connection, existing)
    ours = sql.Literal(triggers.made(resources))
    found_warnings = []
    for query, remark in _REMARKS.items():
        if found := [what for what, *_ in connection.execute(composed(query, ours=ours, tables=_listed(existing)))]:
            found_warnings.append(remark.format(", ".join(found)))
    if whole := _stored_whole(connection, resources, parts, [name for name in existing if _by_key(tables[name])]):
        reasons = ", ".join(f"{name}, {why}" for name, why in whole.items())
        found_warnings.append(f"old images are stored whole of {reasons}")
    return [*found_warnings, *_elevated(connection), *ownership.remarks(connection, resources)]


def for_slave_role(connection: Connection) -> Iterator[str]:
    """The remarks on the role that writes to a slave."""
    if connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (True,):
        yield (
            f"the role {connection.info.user} is a superuser, and so is what a trigger, or a definition of the master "
            "that was approved, executes there: give Sluice a role of its own, with what "
            f"`{shell.sluice('grants', 'SLAVE', '--slave')}` prints"
        )
    yield from _elevated(connection)


def _elevated(connection: Connection) -> Iterator[str]:
    if found := [name for (name,) in connection.execute(composed("catalog/superusers"))]:
        role = sql.Identifier(connection.info.user).as_string(connection)
        yield f"the role can become a superuser, by SET ROLE: REVOKE {', '.join(found)} FROM {role}"


def without_old(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    tables: Mapping[TableName, Watch],
) -> list[Layout]:
    """The tables whose updates have no old images unless the key changes."""
    known = relations.existing(connection, tables)
    existing = [name for name, watch in tables.items() if name in known and _by_key(watch) and "U" in watch.actions]
    whole = _stored_whole(connection, resources, parts, existing)
    return [_keyed(connection, name) for name in existing if name not in whole]


def _by_key(watch: Watch) -> bool:
    return watch.old_images == "key"


def _keyed(connection: Connection, name: TableName) -> Layout:
    columns = tuple(relations.columns(connection, name))
    indices = {column.name: index for index, column in enumerate(columns)}
    return Layout(0, name, columns, tuple(indices[part] for part in relations.primary_key(connection, name)))


def _stored_whole(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], by_key: Iterable[TableName]
) -> dict[TableName, str]:
    """The tables whose old images are stored in full all the same, with the reason."""
    seen = sql.Literal(event_triggers.sees_ddl(connection, resources, parts))
    found = connection.execute(composed("catalog/stored_whole", tables=_listed(by_key), seen=seen))
    return {TableName(schema, table): why for schema, table, why in found}


def _listed(names: Iterable[TableName]) -> sql.Composed:
    return sql.SQL("{}::text[]::regclass[]").format(sql.Literal([regclass(name) for name in names]))


def for_slave(connection: Connection, layout: Layout) -> Iterator[str]:
    """The remarks on a table of a slave, which it has.

    Args:
        layout: the master's table as the slave sees it.
    """
    yield from lookup_columns.searched(connection, layout)[1]
    name, late = layout.name, relations.deferrable_keys(connection, layout.name)
    if not late and not relations.enforced(connection, name, [column.name for column in layout.columns]):
        yield f"{name} has no unique index: each batch of its changes reads all of it"
    acting = [one.name for one in relations.side_effects(connection, name) if one.fires and one.kind != "key"]
    if others := connection.execute(composed("catalog/code_of_others"), vars(name)).fetchall():
        what = ", ".join(f"{function} ({where})" for _, function, where in others)
        yield (
            f"{name} belongs to {others[0][0]}, and what is written to it runs functions of others, with the rights of "
            f"our role: {what}. See include/docs/security.md"
        )
    if late and acting:
        yield f"{', '.join(acting)} of {name} acts on what a batch comes to: {late[0].name} is checked at commit"
