"""Refuses side effects (triggers, rules, foreign keys) on rows that are written to a slave: SLC-074, SLC-372."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from psycopg import sql

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import Pattern
from sluice.vendors.managed import OWNER, SUPERUSER
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier
from sluice.vendors.postgresql.catalog.relations import SideEffect
from sluice.vendors.postgresql.ddl.owners import expect_trusted_owners
from sluice.vendors.postgresql.session import Connection, composed, keep

# Servers before this version cannot grant a parameter: there the role has to be a superuser.
_GRANTS_PARAMETERS = 150000


def is_silent(session: Connection) -> bool:
    """Whether triggers and foreign keys do not act in this session unless they are to act always."""
    role = session.execute("SELECT current_setting('session_replication_role')").fetchone()
    return role == ("replica",)


def silence(session: Connection) -> bool:
    """Keep triggers and foreign keys from acting in this session, if the role may; whether they do not act."""
    session.execute(composed("session/silence"))
    if silent := is_silent(session):
        keep(session, session_replication_role="replica")
    return silent


def expect_none(session: Connection, tables: Iterable[TableName], *, silent: bool) -> None:
    """See that nothing acts on what is written to these tables that may not.

    Args:
        silent: the session that writes is silent, see `is_silent`.

    Raises:
        SluiceError: see `refuse`.
    """
    refuse(session, {name: relations.side_effects(session, name) for name in tables}, silent=silent)


def lock(tables: Iterable[TableName]) -> sql.Composed:
    """The statement that locks tables against DDL until the transaction ends, in the order of their names."""
    return sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(sql.SQL(", ").join(map(identifier, sorted(tables))))


def hold(session: Connection, table: TableName, adopted: Collection[Pattern], *, silent: bool) -> None:
    """The same until the transaction ends, and that the table is nobody else's: nobody can put a trigger, a rule or a
    foreign key on it before, or give it away.

    Raises:
        SluiceError: SLC-664, see `expect_trusted_owners`.
    """
    session.execute(lock([table]))
    expect_trusted_owners(session, [table], adopted)
    expect_none(session, [table], silent=silent)


def expect_reaching_none(session: Connection, table: TableName) -> None:
    """See that no foreign key of another table changes rows there when those of this one are changed.

    Raises:
        SluiceError: SLC-074, some do, and the session is not silent.
    """
    if found := [one for keys in relations.reaching(session, table).values() for one in keys if one.fires]:
        raise _acting(session, found, f"would change rows of these tables with those of {table}")


def refuse(session: Connection, tables: Mapping[TableName, Sequence[SideEffect]], *, silent: bool) -> None:
    """See that nothing of what acts on these tables acts in spite of us; with the statements that end it.

    Raises:
        SluiceError: SLC-074, the session is not silent, and triggers, rules or foreign keys with actions act; SLC-372,
            triggers or rules of others act always, and would run with the rights of our role.
    """
    if not silent and (found := [one for acting in tables.values() for one in acting if one.fires]):
        raise _acting(session, found, "would act a second time on what the master did already")
    if found := [one for acting in tables.values() for one in acting if one.strange]:
        role = session.info.user
        raise SluiceError(
            372,
            f"triggers or rules of others act always on tables of the slave, and would have the rights of {role}: "
            f"{', '.join(f'{one.name} on {one.table} ({one.strange})' for one in found)}",
            "nothing was changed; see what they do. To end them, execute in the slave's database, as the owner of its "
            f"tables: {_endings(session, found)}. To let them act, let {OWNER}, give the function (of a rule: "
            f"its table) to {role}, by ALTER ... OWNER TO",
        )


def _acting(session: Connection, found: Sequence[SideEffect], what: str) -> SluiceError:
    names = ", ".join(f"{one.name} on {one.table}" for one in found)
    silenced = ""
    if session.info.server_version >= _GRANTS_PARAMETERS:
        role = sql.Identifier(session.info.user).as_string(session)
        silenced = (
            f"; or leave them as they are, and let {SUPERUSER}, execute: GRANT SET ON PARAMETER "
            f"session_replication_role TO {role}, so that they stay silent while Sluice writes"
        )
    return SluiceError(
        74,
        f"{names} of the slave {what}",
        "nothing was changed; execute in the slave's database, as the owner of its tables: "
        f"{_endings(session, found)}{silenced}",
    )


def _endings(session: Connection, found: Iterable[SideEffect]) -> str:
    return "; ".join(f"ALTER TABLE {identifier(one.table).as_string(session)} {one.ending}" for one in found)
