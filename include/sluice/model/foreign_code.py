"""Code of others that a server runs with our rights when it plans a query of a watched table."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.names import TableName


@dataclass(frozen=True)
class ForeignCode:
    """One function that is called so.

    Attributes:
        object: what of the table calls it: an index, statistics, a constraint or the partition key.
        owner: the role that the function belongs to.
        is_key: it is a partition key, which is worked out also when a trigger is made.
    """

    table: TableName
    object: str
    function: str
    owner: str
    is_key: bool

    @property
    def fact(self) -> str:
        """What is known of it, without its HINT."""
        return f"of {self.table} {self.object} calls {self.function} of {self.owner}"

    @property
    def hint(self) -> str:
        """The three ways out."""
        return (
            f"give the function to a role that is trusted (`ALTER FUNCTION {self.function} OWNER TO ...`), drop "
            f"{self.object}, or name {self.owner} in `trusted_code` of the source and run bootstrap"
        )
