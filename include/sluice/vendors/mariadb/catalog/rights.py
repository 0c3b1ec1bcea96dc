"""The rights of our account on a database, by what the server says of them to itself: with those of an active role."""

from __future__ import annotations

import re
from collections import defaultdict

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.mariadb.session import Connection, execute

_NAME = r"`(?:[^`]|``)*`|[^.`\s]+"
_GRANT = re.compile(rf"GRANT (?P<rights>.+?) ON (?P<schema>{_NAME})\.(?P<table>{_NAME}) TO (?P<account>\S+)")
_COLUMNS = re.compile(r"\([^)]*\)")
# In the name of a database a backslash takes from the sign after it that it stands for others.
_SIGN = re.compile(r"\\(.)|(.)", re.DOTALL)
_MANY = {"_": ".", "%": ".*"}


def expect_triggers_shown(session: Connection, table: TableName) -> None:
    """See that the catalog shows us the triggers of a table. Raises SluiceError SLC-033 if not."""
    if not shows_triggers(session, table):
        raise SluiceError(
            33,
            f"nobody says to this account whether {table} has triggers, which would act on each row",
            f"nothing of it was written; as an administrator of the server: GRANT TRIGGER ON `{table.schema}`.*, or "
            f"run the script that {shell.sluice('grants', 'SLAVE', '--slave')} prints",
        )


def shows_triggers(session: Connection, table: TableName) -> bool:
    """Whether the catalog shows us the triggers of a table."""
    return _has(session, "TRIGGER", table)


def _has(session: Connection, right: str, table: TableName) -> bool:
    """Whether we have a right on a table. Of several grants on databases the server uses one: so all must have it."""
    on_schema: dict[str, list[bool]] = defaultdict(list)
    for (text,) in execute(session, "SHOW GRANTS"):
        if not (grant := _GRANT.match(text)):
            continue
        given = not {right, "ALL PRIVILEGES"}.isdisjoint(_COLUMNS.sub("", grant["rights"]).split(", "))
        schema, name = plain(grant["schema"]), plain(grant["table"])
        if name != "*" and given and (schema, name) == (table.schema, table.table):
            return True
        if schema == name == "*" and given:
            return True
        if name == "*" and schema != "*" and _takes(schema, table.schema):
            on_schema[grant["account"]].append(given)
    return any(map(all, on_schema.values()))


def plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _takes(pattern: str, schema: str) -> bool:
    signs = [re.escape(meant) if meant else _MANY.get(sign, re.escape(sign)) for meant, sign in _SIGN.findall(pattern)]
    return re.fullmatch("".join(signs), schema, re.DOTALL) is not None
