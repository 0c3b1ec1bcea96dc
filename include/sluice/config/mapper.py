"""The mapping of the master's names to a slave's, and the slave's exclusions.

One mapping for data, old images, tables that are made, statements, sequences and comparison alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sluice.config.slave_table import SlaveTableSettings
from sluice.errors import ConfigError, SluiceError
from sluice.model.action import FilledRows
from sluice.model.loss import is_plain_cast
from sluice.model.names import TableName
from sluice.model.stylesheet import Stylesheet
from sluice.model.watched import Pattern, find_entry, split_name
from sluice.model.write_policy import WritePolicy

_PLAIN = SlaveTableSettings.by_default()
# What of an entry decides about rows and changes as a whole.
_CHOOSING = ("where", "actions", "plugin", "stylesheet", "when", "veto")


def _nothing(name: TableName) -> bool:
    return False


@dataclass(frozen=True)
class Mapper:
    """Names of the master -> names of the slave.

    Attributes:
        schemas: those that the slave calls otherwise.
        tables: what it sees of tables, by entry; for each table the closest one counts, and it alone.
        stylesheet: what the messages of its tables pass.
        allowed: casts of columns of the slave that may lose something, by table.
        trusted: functions of the slave that definitions of the master may call, each with its schema.
        adopted: tables and types of the slave that may belong to others.
        on_existing_rows: what an initial update does about rows that a table has, if its entry does not say.
        ours: whether a name of the slave belongs to Sluice itself.
    """

    schemas: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[Pattern, SlaveTableSettings] = field(default_factory=dict)
    stylesheet: Stylesheet | None = None
    on_existing_rows: FilledRows = FilledRows.TRUNCATE
    trusted: frozenset[tuple[str, str]] = frozenset()
    adopted: frozenset[Pattern] = frozenset()
    allowed: Mapping[TableName, Mapping[str, str]] = field(default_factory=dict)
    ours: Callable[[TableName], bool] = _nothing

    def entry(self, name: TableName) -> SlaveTableSettings:
        """The settings of a table of the master."""
        pattern = find_entry(self.tables, name)
        entry = self.tables[pattern] if pattern else _PLAIN
        # A value that comes as it is has no cast: a part of it was dropped on the way into the log.
        casts = {column: cast for column, cast in self.allowed.get(name, {}).items() if not is_plain_cast(cast)}
        if casts:
            return entry.model_copy(update={"compute": {**entry.compute, **casts}})
        return entry

    def excludes(self, name: TableName) -> bool:
        """Whether the slave gets nothing of this table, and has none of it."""
        return self.entry(name).exclude

    @property
    def exclusions(self) -> list[str]:
        """The entries by which tables are excluded."""
        return sorted(str(pattern) for pattern, entry in self.tables.items() if entry.exclude)

    def style(self, name: TableName) -> Stylesheet | None:
        """The stylesheet that this table's messages pass."""
        return self.stylesheet if self.entry(name).stylesheet else None

    def schema(self, name: str) -> str:
        """The slave's schema for a schema of the master; single tables may be mapped elsewhere."""
        return self.schemas.get(name, name)

    def table(self, name: TableName) -> TableName:
        """The slave's name of a table. Every statement that writes to the table or alters it uses this name.

        Raises:
            SluiceError: SLC-370, Sluice itself keeps something under that name.
        """
        called = self.entry(name).as_
        schema, table = split_name(called) if called else (None, name.table)
        mapped = TableName(schema or self.schema(name.schema), table)
        if self.ours(mapped) and not self.excludes(name):
            raise SluiceError(
                370,
                f"the table {name} of the master would be {mapped} on the slave, and that is a table of Sluice itself",
                "nothing was changed; see who called it so on the master, and why. To go on, give it another name on "
                f"the slave, or leave it out: an entry for {name} in its `tables`, with `as` or `exclude: true`",
            )
        return mapped

    def whole(self, name: TableName) -> bool:
        """Whether the slave has all columns and rows of the table unchanged, perhaps under another name."""
        entry = self.entry(name)
        return self.complete(name) and not (entry.columns or entry.exclude_columns or entry.shapes or self.style(name))

    def complete(self, name: TableName) -> bool:
        """Whether the slave has every row of this table, and no row that the master has not."""
        entry = self.entry(name)
        return not (entry.exclude or entry.chooses) and entry.where is None

    def same_rows(self, table: TableName, other_table: TableName) -> bool:
        """Whether two tables have the same settings for the selection and the transformation of rows."""
        entry, also = self.entry(table), self.entry(other_table)
        return all(getattr(entry, key) == getattr(also, key) for key in _CHOOSING)

    def column(self, table: TableName, column: str) -> str | None:
        """The slave's name of a column with unchanged values; None if there is no such column."""
        entry = self.entry(table)
        name = self._slave_name(entry, column)
        made = column in entry.mask or name in entry.compute or entry.plugin or self.style(table)
        return None if made else name

    @staticmethod
    def _slave_name(entry: SlaveTableSettings, column: str) -> str | None:
        return None if column in entry.exclude_columns else entry.columns.get(column, column)

    def existing_rows(self, table: TableName) -> FilledRows:
        """The action of an initial update for rows that the slave's table has already."""
        return self.entry(table).on_existing_rows or self.on_existing_rows

    def write_policy(self, table: TableName) -> WritePolicy:
        """The write policy for a table of the master."""
        entry = self.entry(table)
        return WritePolicy(entry.on_missing, entry.on_duplicate, entry.before, entry.after)

    def columns(self, table: TableName, columns: Iterable[str]) -> dict[str, str]:
        """The columns of this table that the slave gets, masked or not, in their order, and what they are called there.

        Raises:
            ConfigError: SLC-007, two would be called alike, or none is left.
        """
        entry = self.entry(table)
        names_by_column = {
            column: slave_name for column in columns if (slave_name := self._slave_name(entry, column)) is not None
        }
        names = list(names_by_column.values())
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise _impossible(f"two columns of {table} would both be {', '.join(twice)}")
        if not names_by_column:
            raise _impossible(f"no column of {table} is left")
        return names_by_column

    def keep_apart(self, tables: Iterable[TableName]) -> None:
        """Raises ConfigError SLC-007 if two of these tables of one master would be one on the slave."""
        known: dict[TableName, TableName] = {}
        for name in (table for table in tables if not self.excludes(table)):
            if (twin := known.setdefault(self.table(name), name)) != name:
                raise _impossible(f"{twin} and {name} would both be {self.table(name)}")

    def refuse_unknown(self, name: TableName, columns: Collection[str]) -> None:
        """Raises ConfigError SLC-007 if the entry that names this very table names a column that is none of these."""
        entry = self.tables.get(Pattern(name.schema, name.table), _PLAIN)
        if unknown := (entry.exclude_columns | entry.columns.keys() | entry.mask.keys()) - set(columns):
            raise _impossible(f"{name} has no column {', '.join(sorted(unknown))}")

    @cached_property
    def renamed_tables(self) -> Mapping[TableName, TableName]:
        """The tables with a mapping of their own: the slave's names by the master's."""
        named = [TableName(pattern.schema, pattern.table) for pattern, entry in self.tables.items() if entry.as_]
        return {name: self.table(name) for name in named}


def _impossible(why: str) -> ConfigError:
    return ConfigError(7, f"a slave cannot see its tables so: {why}", "fix its `tables` in the configuration")
