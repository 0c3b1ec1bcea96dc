"""Functions of other roles that a server runs with our rights when it plans a query of a watched table."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.names import TableName


@dataclass(frozen=True)
class ForeignCode:
    """One such function.

    Attributes:
        object: the caller: an index, statistics, a constraint or the partition key of the table.
        owner: the role that owns the function.
        is_key: the caller is a partition key, which the server also evaluates when a trigger is created.
    """

    table: TableName
    object: str
    function: str
    owner: str
    is_key: bool

    @property
    def fact(self) -> str:
        """The fact of an error message, without its HINT."""
        return f"of {self.table} {self.object} calls {self.function} of {self.owner}"

    @property
    def hint(self) -> str:
        """The HINT: three remedies."""
        return (
            f"give the function to a role that is trusted (`ALTER FUNCTION {self.function} OWNER TO ...`), drop "
            f"{self.object}, or name {self.owner} in `trusted_code` of the source and run bootstrap"
        )
