"""Whose the tables and types are that a slave has under the master's names: their owners run code with our rights."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.session import Connection, composed


def expect_trusted_owners(connection: Connection, names: Iterable[TableName], mapper: Mapper) -> None:
    """See that what the slave has of these tables and types belongs to roles that could do as we do anyway, or is
    adopted by the configuration.

    Raises:
        SluiceError: SLC-664, one belongs to somebody else.
    """
    rows = connection.execute(composed("catalog/of_others"), relations.among(names))
    found = [(what, statement) for schema, name, what, statement in rows if not mapper.adopts(TableName(schema, name))]
    if found:
        raise SluiceError(
            664,
            f"the slave has tables or types of others: {', '.join(what for what, _ in found)}",
            "nothing was changed, since what is written there runs code of their owners with the rights of "
            f"{connection.info.user}. See who made them, and why. If they are not meant, rename or drop them there: "
            f"initial_update makes others. If they are, execute there: {'; '.join(one for _, one in found)}; or name "
            "them in `adopt` of the slave, if their owners may do all that this role may do",
        )
