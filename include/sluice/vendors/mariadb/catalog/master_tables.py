"""Tables of a master: their columns and keys, as the log's layouts have them, and as a dump describes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.master_types import MasterColumn
from sluice.vendors.mariadb.session import Connection, Row, composed, execute, qualified

# How the catalog calls a table that keeps no history.
PLAIN = "BASE TABLE"
# How it calls columns of which the log has values that are not read, behind their types; what they are, and what helps.
_UNREAD = {
    "COMPRESSED*/": ("is COMPRESSED", "ALTER TABLE {} MODIFY the column without COMPRESSED"),
    "/* mariadb-5.3 */": (
        "has times in the form of old servers",
        "set mysql56_temporal_format = ON on the server, then ALTER TABLE {} FORCE",
    ),
}


@dataclass(frozen=True)
class MasterTable:
    """A table as the catalog has it now."""

    name: TableName
    columns: tuple[MasterColumn, ...]
    key: tuple[int, ...]

    def layout(self, number: int = 0) -> Layout:
        """Its layout. Raises SluiceError SLC-477, a column has a type that is not known."""
        if unknown := [f"{one.name} ({one.whole})" for one in self.columns if one.type is None]:
            raise SluiceError(
                477,
                f"{self.name} cannot be read: nothing is known of the type of {', '.join(unknown)}",
                "nothing was changed; take the table out of `tables`",
            )
        columns = tuple(
            Column(column.name, column.type or "", column.not_null, members=column.members, counts=column.counts)
            for column in self.columns
        )
        return Layout(number, self.name, columns, self.key)


def described(session: Connection, name: TableName) -> MasterTable | None:
    """A table by its name; None if there is none."""
    rows = execute(session, composed("catalog/master_columns"), {"schema": name.schema, "table": name.table})
    if not rows or not session.server.keeps(name.schema, name.table):
        return None
    order = sorted((int(row[9]), place) for place, row in enumerate(rows) if row[9])
    return MasterTable(name, tuple(map(_column, rows)), tuple(place for _, place in order))


def eligible(session: Connection, schemas: Iterable[str]) -> list[TableName]:
    """The tables of these databases."""
    return [
        TableName(*row)
        for schema in sorted(schemas)
        for row in execute(session, composed("catalog/eligible"), {"schema": schema})
    ]


def kind_of(session: Connection, name: TableName) -> str | None:
    """What bears a name: a table, a view, a sequence; None if nothing does."""
    rows = execute(session, composed("catalog/kind"), {"schema": name.schema, "table": name.table})
    return str(rows[0][0]) if rows else None


def expect_capturable(session: Connection, name: TableName) -> None:
    """See that all changes of a table are in the log.

    Raises:
        SluiceError: SLC-477, they are not; SLC-033, the server hides that; SLC-477, a column's type is not known.
    """
    named = {"schema": name.schema, "table": name.table}
    for kind, engine, _ in execute(session, composed("catalog/kind"), named):
        if kind != PLAIN:
            raise _refused(name, f"it is a {kind}", "take it out of `tables`")
        if engine != "InnoDB":
            raise _refused(
                name,
                f"its engine is {engine}, which knows no transactions",
                f"ALTER TABLE {qualified(name)} ENGINE = InnoDB, or take it out of `tables`",
            )
    if not session.server.logs_actions:
        _expect_no_actions(session, name)
    if found := described(session, name):
        found.layout()
        for column in found.columns:
            for ending, (why, remedy) in _UNREAD.items():
                if column.whole.endswith(ending):
                    hint = f"nothing was changed; {remedy.format(name)}, or take the table out of `tables`"
                    raise SluiceError(477, f"{name} cannot be read: {column.name} {why}", hint)


def _expect_no_actions(session: Connection, name: TableName) -> None:
    named = {"schema": name.schema, "table": name.table}
    if unseen := execute(session, composed("catalog/unseen_keys"), named):
        raise SluiceError(
            33,
            f"nobody says to this account whether foreign keys of {name} change its rows: {unseen[0][0]} is shown "
            "without its actions",
            f"nothing was changed; as an administrator of the server: GRANT REFERENCES ON `{name.schema}`.*, or run "
            f"the script that {shell.sluice('grants', 'SOURCE')} prints",
        )
    if keys := execute(session, composed("catalog/acting_keys"), named):
        told = "; ".join(
            f"{key} (with {other}: ON DELETE {deleted}, ON UPDATE {updated})" for key, other, deleted, updated in keys
        )
        raise _refused(
            name,
            f"InnoDB changes its rows by itself, and writes nothing of that into the log: foreign key {told}",
            "make the foreign key RESTRICT and let the application do what it did, or take the table out of `tables`",
        )


def _refused(name: TableName, why: str, remedy: str) -> SluiceError:
    hint = f"nothing was changed; {remedy}"
    return SluiceError(477, f"not every change of {name} is in the binary log: {why}", hint)


def _column(row: Row) -> MasterColumn:
    name, kind, whole, length, precision, scale, digits, nullable, generated, _, counts = row
    return MasterColumn(
        name,
        kind,
        whole,
        int(length or 0),
        int(precision or 0),
        int(scale or 0),
        int(digits or 0),
        nullable == "NO",
        generated == "1",
        counts == "1",
    )
