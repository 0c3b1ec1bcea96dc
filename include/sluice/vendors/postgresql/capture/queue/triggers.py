"""The triggers of watched tables: their names, their state, and locks that keep no other session waiting."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import LiteralString

import psycopg
from psycopg import sql

from sluice.errors import ConfigError, TransientError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.catalog.definition import identifier, regclass
from sluice.vendors.postgresql.session import Connection, composed

# Triggers of one event fire in the order of their names. Keys must be drawn after the checks of the same row (R1), but
# before a trigger of the application writes that row again: its change is a later one.
_CHECKS = "RI_ConstraintTrigger_"
_AFTER_CHECKS = "RI_z_"
_LONGEST = 63 - len("_t")
# How long one try to lock waits, and with it everybody who wants to write behind it: as long as most transactions last,
# and longer only where those that are open last longer. Less than the second after which servers look for deadlocks.
_FIRST_WAIT_MS = 50
_LONGEST_WAIT_MS = 400
_LOCK_TRIES = 30
_AGAINST_WRITERS: LiteralString = "SHARE ROW EXCLUSIVE"


def made(resources: Resources) -> str:
    """The prefix of a trigger's name; the relation's number follows. A partition that was watched by itself could not
    be attached if its trigger and that of its new parent had the same name.
    """
    return f"{_AFTER_CHECKS}{resources.name('capture_')}"


def name_for(resources: Resources, relation: int, name: TableName, given: str | None) -> str:
    """The name of a table's trigger: the one that is given, or one that is made. Raises ConfigError SLC-041."""
    trigger = given or f"{made(resources)}{relation}"
    if trigger < _CHECKS or trigger.startswith(_CHECKS):
        raise ConfigError(
            41,
            f"the trigger {trigger} of {name} would fire before the table's foreign keys are checked",
            f"choose a name that sorts after {_CHECKS}, such as {_AFTER_CHECKS}{trigger}",
        )
    if len(trigger.encode()) > _LONGEST:
        raise ConfigError(41, f"the trigger name {trigger} is too long", f"choose one of at most {_LONGEST} bytes")
    return trigger


def refuse_taken(connection: Connection, resources: Resources, names: Mapping[TableName, str]) -> None:
    """See that no table has triggers of its own that bear the names of ours. Raises ConfigError SLC-041."""
    pairs = [(name, one) for name, trigger in names.items() for one in (trigger, f"{trigger}_t", _last(trigger))]
    wanted = {"relations": [regclass(name) for name, _ in pairs], "names": [trigger for _, trigger in pairs]}
    if row := connection.execute(composed("capture/registry/taken", **_own(resources)), wanted).fetchone():
        name, trigger = pairs[row[0] - 1]
        raise ConfigError(41, f"{name} has a trigger {trigger} of its own", "give the table another `trigger`")


def existing(
    connection: Connection, resources: Resources, names: Iterable[TableName]
) -> dict[TableName, dict[str, str]]:
    """Our triggers of tables, also renamed ones, with their state (A: fires always)."""
    found: dict[TableName, dict[str, str]] = {name: {} for name in names}
    rows = connection.execute(composed("capture/registry/triggers", **_own(resources)), relations.among(found))
    for schema, table, trigger, enabled in rows:
        found[TableName(schema, table)][trigger] = enabled
    return found


def unmarked(
    connection: Connection, parts: Mapping[str, sql.Composable], triggers: Mapping[TableName, str]
) -> set[TableName]:
    """Tables which have a part that waits at a commit and does not draw its last key (R1).

    Args:
        triggers: the name of the row trigger of each.
    """
    names = list(triggers)
    marks = {"relations": [regclass(name) for name in names], "triggers": [_last(triggers[name]) for name in names]}
    return {
        names[number - 1] for (number,) in connection.execute(composed("capture/registry/unmarked", **parts), marks)
    }


def stand(found: Mapping[str, str], trigger: str, actions: str, *, by_log: bool = False) -> bool:
    """Whether these are the triggers that a table needs and no other of ours, and they fire for all sessions.

    Args:
        by_log: rows are read from the server's log.
    """
    always = set(found.values()) <= {"A"}
    needed = _needed(trigger, actions, by_log)
    return always and needed <= set(found) and not surplus(found, trigger, actions, by_log=by_log)


def surplus(found: Iterable[str], trigger: str, actions: str, *, by_log: bool = False) -> list[str]:
    """Our triggers of a table that are not needed: left from other settings, or renamed. By the log, the names of the
    row triggers that they would stand beside.
    """
    kept = _needed(trigger, actions, by_log) | ({_last(trigger)} if actions and not by_log else set())
    return [name.removesuffix("_t") if by_log else name for name in found if name not in kept]


def silenced(
    connection: Connection, parts: Mapping[str, sql.Composable], unchanged: CatalogStamp | None = None
) -> list[TableName]:
    """Tables of the registry whose triggers were dropped, renamed or disabled by others.

    Args:
        unchanged: since the last look of the same caller.
    """
    if unchanged and unchanged.look(connection, parts):
        return []
    found = [TableName(*row) for row in connection.execute(composed("capture/registry/silenced", **parts))]
    if unchanged and not found:
        unchanged.is_fine()
    return found


def drop(connection: Connection, parts: Mapping[str, sql.Composable], relation: int, names: Iterable[str]) -> None:
    """Drop triggers of a table, and those that its partitions have beside them; the caller has locked it."""
    for trigger in names:
        connection.execute(sql.SQL("SELECT {}(%s::oid, %s::text)").format(parts["release_table"]), [relation, trigger])


def lock(
    connection: Connection,
    names: Sequence[TableName],
    mode: LiteralString,
    tries: int | None = None,
    *,
    unwritten: Sequence[TableName] = (),
) -> None:
    """Lock tables, all at once or none: a try that waits too long is given up, so that writers do not queue behind it,
    and no statement of a user, waiting for us while we wait for it, is ended as the victim of a deadlock (R9).

    Args:
        unwritten: tables that are locked against writers alone, once the others are.

    Raises:
        TransientError: SLC-036 if every try was in vain.
    """
    existing = relations.existing(connection, [*names, *unwritten])
    statements = [
        sql.SQL("LOCK TABLE {} IN {} MODE").format(sql.SQL(", ").join(map(identifier, found)), sql.SQL(one))
        for wanted, one in ((names, mode), (unwritten, _AGAINST_WRITERS))
        if (found := [name for name in wanted if name in existing])
    ]
    if not statements:
        return
    for attempt in range(tries or _LOCK_TRIES):
        try:
            with connection.transaction():
                connection.execute(sql.SQL("SET LOCAL statement_timeout = {}").format(_wait_ms(attempt)))
                for statement in statements:
                    connection.execute(statement)
                connection.execute("SET LOCAL statement_timeout = 0")
                return
        except psycopg.errors.QueryCanceled:
            time.sleep(0.1 + 0.05 * attempt)
    raise TransientError(
        36,
        f"{', '.join(map(str, names))} cannot be locked: transactions that change them stay open",
        "nothing was changed; the run tries again by itself. See pg_stat_activity for transactions open for long",
    )


def _wait_ms(attempt: int) -> int:
    """The lock wait of an attempt in ms: a third longer every second time, to succeed under steady load as well."""
    return min(int(_FIRST_WAIT_MS * 1.33 ** (attempt // 2)), _LONGEST_WAIT_MS)


def _needed(trigger: str, actions: str, by_log: bool) -> set[str]:
    rows = {trigger} if actions and not by_log else set()
    # A TRUNCATE is a delete of all rows.
    return rows | {f"{trigger}_t"} if "D" in actions else rows


def _last(trigger: str) -> str:
    """The name of the trigger that draws a transaction's last key: it sorts behind checks of unique values,
    `Unique_ConstraintTrigger_...`, which may wait for other transactions (R1).
    """
    return f"W_{trigger}"


def _own(resources: Resources) -> dict[str, sql.Literal]:
    """The functions that only triggers of ours call: of a table the one that bears its number, and one of all."""
    names = {"capture": resources.name("capture_"), "mark": resources.name("mark_function")}
    return {name: sql.Literal(text) for name, text in names.items()} | {"schema_name": sql.Literal(resources.schema)}
