"""CREATE, ALTER and DROP of the master as statements of Oracle (see `planned_ddl`)."""

from __future__ import annotations

from collections.abc import Sequence

import oracledb

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.vendors.committed_ddl import key_of
from sluice.vendors.oracle.catalog.slave_tables import existing, making, no_table, table_of
from sluice.vendors.oracle.catalog.tables import column_of
from sluice.vendors.oracle.ddl.alteration import Alteration, described, without_defaults
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import execute
from sluice.vendors.oracle.slave_refusals import expect_own
from sluice.vendors.planned_ddl import Altered, Filled, Planner, Rows, Step


class OraclePlanner(Planner):
    """See `Planner`.

    A table would be in another schema (SLC-523), cannot be as the master's (SLC-432), is not as before the command
    (SLC-073), or is not there (SLC-070); a column cannot hold a value (SLC-431), or Oracle cannot do it (SLC-140).
    """

    def __init__(self, session: oracledb.Connection, pair: Pair, schema: str, mapper: Mapper) -> None:
        super().__init__(mapper)
        self._session = session
        self._pair = pair
        self._schema = schema

    def rows(self, name: TableName) -> Rows | None:
        """See `Planner`."""
        expect_own(self._pair, self._schema, name)
        return rows_of(self._session, name)

    def has_rows(self, name: TableName) -> bool:
        """See `Planner`."""
        return bool(execute(self._session, composed("ddl/any_row", table=qualified(name))))

    def kind(self, name: TableName) -> str | None:
        """See `Planner`."""
        kinds = execute(self._session, composed("ddl/kind"), {"schema": name.schema, "name": name.table})
        return str(kinds[0][0]) if kinds else None

    def existing(self, layout: Layout) -> object | None:
        """See `Planner`."""
        return existing(self._session, layout)

    def no_table(self, name: TableName) -> SluiceError:
        """See `Planner`."""
        return no_table(name)

    def made_schema(self, name: TableName) -> tuple[str, ...]:
        """Nothing: it is the user's own."""
        expect_own(self._pair, self._schema, name)
        return ()

    def made(self, layout: Layout) -> Step:
        """See `Planner`."""
        wanted = table_of(layout)
        return Step(making(wanted), {key_of(layout.name): described(wanted.columns, wanted.key)})

    def dropped(self, name: TableName) -> str:
        """See `Planner`."""
        return composed("position/drop_table", table=qualified(name))

    def steps(self, altered: Altered) -> list[Step]:
        """See `Planner`."""
        return Alteration(altered, table_of(altered.was), table_of(altered.becomes)).steps()

    def without_defaults(self, becomes: Layout, filled: Sequence[Filled]) -> tuple[str, ...]:
        """See `Planner`."""
        return without_defaults(becomes.name, [one.column.name for one in filled])


def rows_of(session: oracledb.Connection, name: TableName) -> Rows | None:
    """The columns of a table in the catalog's words, sorted by name; None if it is not there."""
    values = {"schema": name.schema, "name": name.table}
    columns = [column_of(row) for row in execute(session, composed("catalog/columns"), values)]
    if not columns:
        return None
    key = [str(row[0]) for row in execute(session, composed("catalog/primary_key"), values)]
    checks = {str(row[0]) for row in execute(session, composed("ddl/not_null"), values)}
    return sorted(
        [
            one.name,
            one.declared,
            "N" if f'"{one.name}" IS NOT NULL' in checks else "Y",
            str(key.index(one.name) + 1) if one.name in key else None,
        ]
        for one in columns
    )
