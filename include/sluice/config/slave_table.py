"""What a slave sees of a table, in the configuration: its name, rows, columns and changes there."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from sluice.config.fields import Actions, Identifier, TableAlias
from sluice.config.models import Section
from sluice.model.action import FilledRows
from sluice.model.limits import MOST_SIGNS
from sluice.model.row_conflict import ConflictAction

# Masks that are no constant.
HASH, REDACT = "hash", "redact"
Action = Annotated[str, Field(pattern="^[IUD]$")]
# One that cannot end the transaction that it stands in.
Statement = Annotated[str, Field(pattern=r"^\s*(?i:call|select|insert|update|delete|merge|with)\s")]
Expression = Annotated[str, Field(max_length=MOST_SIGNS)]


class SlaveTableSettings(Section):
    """What the slave [sees](tables.md#what-a-slave-sees-of-a-table) of a table, or of each table of a wildcard.
    Keys of an entry are the master's names; values are the slave's.
    """

    exclude: Annotated[
        bool,
        Field(
            description="the slave [does not get](tables.md#tables-that-a-slave-does-not-get) the table, "
            "although the source watches it. No other settings are allowed then"
        ),
    ] = False
    as_: Annotated[
        TableAlias | None,
        Field(
            alias="as",
            description="the table's name on the slave: `schema.table`, or `table` alone: then `schemas` gives the "
            "schema. None: the master's name. Not for a wildcard",
        ),
    ] = None
    columns: dict[Identifier, Identifier] = Field(
        default={}, description="the master's column: the slave's column. A column that is not listed keeps its name"
    )
    exclude_columns: Annotated[frozenset[Identifier], Field(description="columns that the slave does not get")] = (
        frozenset()
    )
    searchable: Annotated[
        frozenset[Identifier],
        Field(
            description="columns by which rows to update or delete are [looked up](tables.md#how-rows-are-looked-up)"
        ),
    ] = frozenset()
    where: Annotated[
        Expression | None,
        Field(
            description="an [expression](expressions.md) by the master's columns: the slave gets the rows for which "
            "it is TRUE"
        ),
    ] = None
    compute: dict[Identifier, Expression] = Field(
        default={},
        description="the slave's column: its value, an [expression](expressions.md) by the master's columns. It is an "
        "additional column, or replaces the one of that name",
    )
    mask: dict[Identifier, str | None] = Field(
        default={},
        description="the master's column: `hash`, `redact`, or any other text, which then replaces the value in every "
        "row (`null`: NULL). The slave gets the column without its real values",
    )
    stylesheet: Annotated[
        bool, Field(description="`false`: its messages do not pass the slave's [stylesheet](stylesheets.md)")
    ] = True
    plugin: Annotated[
        str | None,
        Field(
            description="code of your own that makes the rows: `module:attribute`, or an entry point of the group "
            "`sluice.plugins`. See [plugins](plugins.md)"
        ),
    ] = None
    actions: Annotated[
        Actions,
        Field(
            description="which changes the slave applies, after an initial update that brings every row: any of I, U, "
            "D (and with it TRUNCATE), as they are after `where`. `none`: it stays as it was loaded"
        ),
    ] = "IUD"
    when: Annotated[
        Expression | None,
        Field(
            description="an [expression](expressions.md) by the slave's columns of the row after the change (`new.`) "
            "and before it (`old.`): the slave applies the changes for which it is TRUE"
        ),
    ] = None
    veto: Annotated[
        str | None,
        Field(
            description="code of your own that may prevent a change: `module:attribute`, or an entry point of the "
            "group `sluice.vetoes`. See [a veto](plugins.md#a-veto)"
        ),
    ] = None
    repair_rule: Annotated[
        str | None,
        Field(
            description="code of your own that says whose row wins a repair by the rule `plugin`: `module:attribute`, "
            "or an entry point of the group `sluice.repair_rules`. See [a rule of "
            "repairs](plugins.md#a-rule-of-repairs)"
        ),
    ] = None
    on_missing: Annotated[
        ConflictAction,
        Field(
            description="what [happens](tables.md#rows-that-are-not-as-expected) if a row that the master "
            "updated or deleted is not there"
        ),
    ] = ConflictAction.WARN
    on_duplicate: Annotated[
        ConflictAction, Field(description="the same if a row that the master inserted is there already")
    ] = ConflictAction.WARN
    on_existing_rows: Annotated[
        FilledRows | None,
        Field(
            description="what an initial update does about [rows that this table has "
            "already](tables.md#tables-that-have-rows-already). None: as the slave's `on_existing_rows` says"
        ),
    ] = None
    before: dict[Action, Statement] = Field(
        default={},
        description="I, U or D: one [statement](tables.md#before-and-after-a-change) that is executed before "
        "each change of that action, in its transaction",
    )
    after: dict[Action, Statement] = Field(default={}, description="the same, after it")

    @property
    def shapes(self) -> bool:
        """Whether the slave gets other rows, or other values, than the master has."""
        return bool(self.where is not None or self.compute or self.mask or self.plugin)

    @property
    def looking_back(self) -> list[str]:
        """The settings that need old images of updates, by name."""
        return [name for name in ("where", "when", "veto", "plugin", "searchable") if getattr(self, name)]

    @property
    def chooses(self) -> bool:
        """Whether the slave leaves out some of the changes that it sees."""
        return self.actions != "IUD" or self.when is not None or self.veto is not None

    @model_validator(mode="after")
    def _what_is_excluded_has_no_settings(self) -> SlaveTableSettings:
        if self.exclude and self.model_fields_set != {"exclude"}:
            raise ValueError("a table that is excluded has no other settings")
        return self

    @model_validator(mode="after")
    def _columns_stay_apart(self) -> SlaveTableSettings:
        if both := self.exclude_columns & self.columns.keys():
            raise ValueError(f"a column that is left out has no name on the slave: {', '.join(sorted(both))}")
        if both := self.exclude_columns & self.mask.keys():
            raise ValueError(f"a column that is left out needs no mask: {', '.join(sorted(both))}")
        if both := self.exclude_columns & self.searchable:
            raise ValueError(f"no row can be looked up by a column that is left out: {', '.join(sorted(both))}")
        called = list(self.columns.values())
        if twice := {name for name in called if called.count(name) > 1}:
            raise ValueError(f"two columns cannot become one: {', '.join(sorted(twice))}")
        return self
