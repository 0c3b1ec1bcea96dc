"""What an account still has by the scripts of `grants`, as the server tells it, and an empty database of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing

from sluice.connections import ConnectionInfo
from sluice.model.leftover import Leftover
from sluice.model.names import Resources, TableName
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.grants import all_of
from sluice.vendors.mariadb.session import Connection, composed, connect, execute, quoted

# Who may make accounts is an administrator, and needs no script.
_ADMINISTRATOR = "CREATE USER"
# Rights on the whole server by the names that versions list them by.
_SERVER = ("REPLICATION SLAVE", "REPLICATION CLIENT", "BINLOG MONITOR", "PROCESS")


def of_source(
    info: ConnectionInfo, resources: Resources, schemas: Collection[str], tables: Collection[TableName]
) -> list[Leftover]:
    """See `sluice.vendors.registry.Master.leftovers`."""
    return _found(info, resources.schema, schemas, tables, _SERVER)


def of_slave(
    info: ConnectionInfo, schema: str, schemas: Collection[str], tables: Collection[TableName]
) -> list[Leftover]:
    """See `sluice.vendors.registry.Vendor.leftovers`."""
    return _found(info, schema, schemas, tables, ())


def _found(
    info: ConnectionInfo, ours: str, schemas: Collection[str], tables: Collection[TableName], server: Collection[str]
) -> list[Leftover]:
    replicated = {*schemas, *(name.schema for name in tables)}
    with translated("looking at what is left"), closing(connect(info, "leftovers", fills=False)) as session:
        ((name,),) = execute(session, "SELECT CURRENT_USER()")
        login, _, host = str(name).rpartition("@")
        account = f"'{login}'@'{host}'"
        rights: dict[str | None, list[str]] = {}
        for where, right in execute(session, composed("grants/leftovers"), {"account": account}):
            rights.setdefault(where, []).append(right)
        if _ADMINISTRATOR in rights.get(None, ()):
            return []
        return [*_revoked(rights, account, {ours, *replicated}, server), *_empty(session, ours, replicated)]


def _revoked(
    rights: Mapping[str | None, Collection[str]], account: str, schemas: Collection[str], server: Collection[str]
) -> Iterator[Leftover]:
    if whole := [one for one in rights.get(None, ()) if one in server]:
        yield Leftover("rights on the server", f"REVOKE {', '.join(whole)} ON *.* FROM {account}")
    for where in sorted(map(all_of, schemas)):
        if given := rights.get(where.removesuffix(".*")[1:-1].replace("``", "`")):
            yield Leftover("rights on a database", f"REVOKE {', '.join(given)} ON {where} FROM {account}")


def _empty(session: Connection, ours: str, replicated: Collection[str]) -> Iterator[Leftover]:
    """Our database, unless it has tables of the application; routines and events in it may be hidden from us."""
    if ours not in replicated and execute(session, composed("grants/shown"), {"schema": ours}) == [("0",)]:
        yield Leftover(
            "the database of Sluice's tables, which has none; look first whether it has routines or events",
            f"DROP DATABASE {quoted(ours)}",
        )
