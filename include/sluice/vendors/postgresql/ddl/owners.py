"""Whose the tables and types are that a slave has under the master's names: their owners run code with our rights."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import Pattern
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, connect


def expect_trusted_owners(connection: Connection, names: Iterable[TableName], adopted: Collection[Pattern]) -> None:
    """See that what the slave has of these tables, their partitions and types belongs to roles that could do as we do
    anyway, or is adopted by the configuration.

    Args:
        adopted: see `Mapper`.

    Raises:
        SluiceError: SLC-664, one belongs to somebody else.
    """
    rows = connection.execute(composed("catalog/of_others"), relations.among(names))
    of_others = [(TableName(schema, name), what, statement) for schema, name, what, statement in rows]
    found = [row for row in of_others if not any(pattern.takes(row[0]) for pattern in adopted)]
    if found:
        entries = json.dumps(list(dict.fromkeys(str(name) for name, _, _ in found)), ensure_ascii=False)
        raise SluiceError(
            664,
            f"the slave has tables or types of others: {', '.join(what for _, what, _ in found)}",
            "nothing was changed, since to write or read there runs code of their owners with the rights of "
            f"{connection.info.user}. See who made them, and why. If they are not meant, rename or drop them there: "
            f"initial_update makes others. If they are, execute there, as a member of {connection.info.user}: "
            f"{'; '.join(one for _, _, one in found)}; or name them in `adopt` of the slave, if their owners may do "
            f"all that this role may do: adopt: {entries}",
        )


def expect_trusted_now(info: ConnectionInfo, names: Iterable[TableName], adopted: Collection[Pattern]) -> None:
    """The same in a new session, and so in the current catalog: others may have put something in the place of a table
    since it was filled.
    """
    with translated("looking at owners of tables"), connect(info, "check", autocommit=True) as session:
        expect_trusted_owners(session, names, adopted)
