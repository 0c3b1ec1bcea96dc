"""CREATE, ALTER and DROP of the master as one statement each (see `planned_ddl`)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.committed_ddl import key_of
from sluice.vendors.mariadb.catalog.tables import existing, expect_kept_name, made, made_schema, no_table, table_of
from sluice.vendors.mariadb.ddl.alteration import Alteration, described
from sluice.vendors.mariadb.session import Connection, composed, execute, qualified, quoted
from sluice.vendors.mariadb.types import literals, stored
from sluice.vendors.planned_ddl import Altered, Filled, Planner, Rows, Step


class MariaPlanner(Planner):
    """See `Planner`.

    A table cannot be as the master's (SLC-432), is not as before the command (SLC-073), or is not there (SLC-070); a
    column cannot hold a value (SLC-431).
    """

    def __init__(self, session: Connection, mapper: Mapper) -> None:
        super().__init__(mapper)
        self._session = session

    def rows(self, name: TableName) -> Rows | None:
        """See `Planner`."""
        return rows_of(self._session, name)

    def has_rows(self, name: TableName) -> bool:
        """See `Planner`."""
        return bool(execute(self._session, f"SELECT 1 FROM {qualified(name)} LIMIT 1"))

    def kind(self, name: TableName) -> str | None:
        """See `Planner`."""
        kinds = execute(self._session, composed("catalog/kind"), {"schema": name.schema, "table": name.table})
        return str(kinds[0][0]) if kinds and kinds[0][0] != "BASE TABLE" else None

    def existing(self, layout: Layout) -> object | None:
        """See `Planner`."""
        return existing(self._session, layout)

    def no_table(self, name: TableName) -> SluiceError:
        """See `Planner`."""
        return no_table(name)

    def made_schema(self, name: TableName) -> tuple[str, ...]:
        """See `Planner`."""
        return (made_schema(name.schema, self._session.server),)

    def made(self, layout: Layout) -> Step:
        """See `Planner`."""
        wanted = table_of(layout, self._session.server)
        return Step(made(wanted), {key_of(layout.name): described(wanted.columns, wanted.key)})

    def dropped(self, name: TableName) -> str:
        """See `Planner`."""
        expect_kept_name(name, self._session.server)
        return f"DROP TABLE IF EXISTS {qualified(name)}"

    def steps(self, altered: Altered) -> list[Step]:
        """See `Planner`. It is one statement, whatever is altered."""
        old, new = altered.was.name, altered.becomes.name
        was, becomes = (table_of(one, self._session.server) for one in (altered.was, altered.becomes))
        alteration = Alteration(old, altered.rows, altered.twins, was, becomes)
        parts = alteration.parts({one.column.name: self._literal(altered.becomes, one) for one in altered.filled})
        if old != new:
            parts.append(f"RENAME TO {qualified(new)}")
        if not parts:
            return []
        if altered.has_rows:
            alteration.expect_known({one.column.name for one in altered.filled})
        renamed = {key_of(old): None} if old != new else {}
        state = {**renamed, key_of(new): alteration.becomes()}
        return [Step(f"ALTER TABLE {qualified(old)} {', '.join(parts)}", state)]

    def without_defaults(self, becomes: Layout, filled: Sequence[Filled]) -> tuple[str, ...]:
        """See `Planner`."""
        parts = [f"ALTER {quoted(one.column.name)} DROP DEFAULT" for one in filled]
        return (f"ALTER TABLE {qualified(becomes.name)} {', '.join(parts)}",) if parts else ()

    def _literal(self, table: Layout, filled: Filled) -> str:
        """A value as the default of a column. Raises SluiceError SLC-431, the column cannot hold it."""
        # The table could not be made if an index did not take the column.
        column = stored(filled.column, self._session.server, key=filled.column.name in table.key_names)
        assert column is not None
        return str(literals(table.name, [column], [pa.array([filled.text], pa.string())])[0].as_py()[1:-1])


def rows_of(session: Connection, name: TableName) -> Rows | None:
    """The columns of a table in the catalog's words, sorted by name; None if it is not there."""
    rows = execute(session, composed("catalog/columns"), {"schema": name.schema, "table": name.table})
    return sorted([None if one is None else str(one) for one in row] for row in rows) or None
