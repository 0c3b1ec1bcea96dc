"""The rule of a repair as somebody chose it, before any table is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sluice.apply.mapping.table_view import TableView
from sluice.context import Context
from sluice.errors import sanitize
from sluice.model.direction import RULES
from sluice.model.names import Pair, TableName
from sluice.repair import reverse_replication
from sluice.repair.newest_rule import newest_rule, unfit_column, unusable
from sluice.repair.rules import OfKinds, OneSide, Rule, Winner
from sluice.repair.user_rule import user_rule

NEWEST, PLUGIN = "newest", "plugin"


@dataclass(frozen=True)
class RuleChoice:
    """A rule by its name.

    Attributes:
        column: that `newest` compares.
    """

    name: str = Winner.SOURCE
    column: str | None = None

    def __str__(self) -> str:
        return f"rule {self.name}" + (f" by {sanitize(self.column)}" if self.column else "")

    @property
    def options(self) -> list[str]:
        """The same as options of `./sluice repair`."""
        rule = [] if self.name == Winner.SOURCE else ["--rule", str(self.name)]
        return [*rule, *(["--column", self.column] if self.column else [])]

    @property
    def needs_both(self) -> bool:
        """Whether rows of the slave may go to the source's database."""
        return self.name != Winner.SOURCE

    def rule(self, view: TableView, kinds: Collection[str]) -> Rule:
        """The rule for rows of some kinds of one table, in the slave's view of it.

        Raises:
            SluiceError: SLC-627, it cannot be used for the table.
        """
        if self.name == NEWEST:
            return OfKinds(kinds, newest_rule(view.master.name, view.ours.columns, self.column or ""))
        if self.name == PLUGIN:
            return OfKinds(kinds, user_rule(view.ours, view.entry.repair_rule))
        return OfKinds(kinds, OneSide(Winner(self.name)))


def choose(rule: str | None, column: str | None) -> RuleChoice:
    """The rule that somebody asks for; the source's rows win if it is none.

    Raises:
        SluiceError: SLC-627, `newest` without a column, or a column without it.
    """
    if (rule == NEWEST) != bool(column):
        if rule == NEWEST:
            raise unusable("no column is named")
        raise unfit_column(
            f"a column is named, and the rule is {rule or Winner.SOURCE}, which has none",
            f"nothing was changed; leave the column out, or choose the rule {NEWEST}",
        )
    return RuleChoice(rule or Winner.SOURCE, column or None)


def available_rules(context: Context, pair: Pair, tables: Iterable[TableName]) -> Mapping[str, str]:
    """The rules for repairs of these tables, with what each means; none where one side alone is a master.

    A table may refuse one of them when its rows are looked at.
    """
    opposites = reverse_replication.reverse_pairs(context, pair)
    if reverse_replication.unfit_both_ways(context, pair, opposites):
        return {}
    coded = any(context.mapper(pair).entry(table).repair_rule for table in tables)
    return {name: what for name, what in RULES.items() if coded or name != PLUGIN}
