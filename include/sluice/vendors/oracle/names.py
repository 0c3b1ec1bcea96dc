"""Names of an Oracle database: the DbResources of a prefix, and identifiers in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sluice import sqlfiles
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName, home_of

# The longest identifier since 12.2, and before, in bytes.
LONGEST, LONGEST_BEFORE = 128, 30
# The DbResources: each name follows the prefix. Those with a part behind a blank belong to the one before it.
TABLES = (
    "items",
    "layouts",
    "segments",
    "tables",
    "wanted",
    "settings",
    "current_tables",
    "debug_table",
    "state",
    "flushed",
    "statements",
)
FUNCTIONS = (
    "increment",
    "needs_prot",
    "base64",
    "name2xml",
    "col2xml",
    "ncol2xml",
    "raw2xml",
    "lob2xml",
    "clob2xml",
    "nclob2xml",
    "number_text",
    "double_text",
    "float_text",
    "moment_text",
    "months_text",
    "seconds_text",
    "json_text",
    "whole",
    "definition",
)
VIEWS = ("stored",)
PROCEDURES = ("append", "append_long", "debug", "lose", "note_segments", "note_ddl", "free")
_CONSTRAINTS = (
    "items_key",
    "items_transactions",
    "layouts_key",
    "segments_key",
    "tables_key",
    "tables_actions",
    "tables_lost",
    "wanted_key",
    "settings_key",
    "settings_one",
    "current_tables_key",
    "debug_table_key",
    "state_key",
    "state_one",
    "statements_key",
    "flushed_key",
    "flushed_one",
)
# Of tables and schemas, by number: triggers that capture, functions that make images, triggers for DDL.
_CAPTURE, _IMAGES, _DDL, _DROPS, _JOB = "cap", ("img", "imh"), "ddl", "drp", "job"
_MOST_DIGITS = 10
# A driver looks at the first word to tell which kind of statement it is, and takes a colon for a place.
_COMMENT = re.compile(r"^\s*--[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True, order=True)
class OracleResources(Resources):
    """The DbResources of one prefix, in upper case as the catalog has what is written without quotes."""

    def name(self, resource: str) -> str:
        """The stored name of a resource: ``items`` gives ``REPL_ITEMS``."""
        return (self.folded + resource).upper()

    def has(self, name: TableName) -> bool:
        """Whether this is the name of one of these DbResources."""
        return name.schema == self.schema and name.table in map(self.name, TABLES)

    def shared_name(self, other: Resources) -> str | None:
        """The first name that both prefixes would use in the same schema; None if there is none."""
        both = {self.name(one) for one in TABLES} & {other.name(one) for one in TABLES}
        return min(both, default=None) if self.schema == other.schema else None

    def capture(self, relation: int) -> str:
        """The trigger of a table, unless the configuration names another one."""
        return self.name(f"{_CAPTURE}{relation}")

    def image(self, relation: int, *, second: bool = False) -> TableName:
        """The function that makes images of rows of a table: one of two in turn."""
        return TableName(self.schema, self.name(f"{_IMAGES[second]}{relation}"))

    def is_ours(self, object_: str) -> bool:
        """Whether an object of our schema is one of ours, by its name."""
        plain = map(self.name, (*TABLES, *VIEWS, *FUNCTIONS, *PROCEDURES, "seq", _JOB))
        kinds = "|".join(kind.upper() for kind in (_CAPTURE, *_IMAGES, _DDL, _DROPS))
        return object_ in plain or re.fullmatch(rf"{self.folded}({kinds})\d+", object_) is not None

    def ddl(self, schema: int) -> tuple[TableName, TableName]:
        """The triggers for DDL of a schema, by the number of its user: most kinds, and drops."""
        return tuple(TableName(self.schema, self.name(f"{kind}{schema}")) for kind in (_DDL, _DROPS))  # type: ignore[return-value]

    @property
    def job(self) -> TableName:
        """The job that disables triggers which cannot run."""
        return TableName(self.schema, self.name(_JOB))

    def expect_short(self, longest: int, triggers: Iterable[str] = ()) -> None:
        """See that all names are short enough, and those that the configuration has. Raises ConfigError SLC-041."""
        plain = (*TABLES, *VIEWS, *FUNCTIONS, *PROCEDURES, *_CONSTRAINTS, "seq")
        numbered = (f"{kind}{'9' * _MOST_DIGITS}" for kind in (_CAPTURE, *_IMAGES, _DDL, _DROPS))
        names = [*map(self.name, (*plain, *numbered)), *triggers]
        if long := [name for name in names if len(name.encode()) > longest]:
            raise ConfigError(
                41,
                f"the name {max(long, key=len)} is longer than {longest} bytes, which is the most that this database "
                "takes",
                "nothing was changed; choose a shorter `prefix`, or a shorter `trigger` of a table",
            )


def resources(schema: str | None, prefix: str) -> OracleResources:
    """The DbResources of a prefix: in the schema of that name, which is a user here, or in one named after the prefix.

    Names that the configuration writes without quotes are in upper case.
    """
    folded = prefix.upper()
    home = home_of(prefix.lower()).upper()
    return OracleResources(schema or home, folded, schema is None)


def quoted(name: str) -> str:
    """A name as an identifier. Raises ConfigError SLC-041 for one that no identifier can be."""
    if not name or '"' in name or "\0" in name:
        raise ConfigError(
            41, f"{name!r} is no name of an object in Oracle: it is empty, or has a double quote", "fix the name"
        )
    return f'"{name}"'


def qualified(name: TableName) -> str:
    """An object with its schema, as an identifier."""
    return f"{quoted(name.schema)}.{quoted(name.table)}"


def literal(text: str) -> str:
    """A text as a literal of SQL; an empty one is NULL there."""
    return "'{}'".format(text.replace("'", "''"))


def parts_of(resources: OracleResources) -> dict[str, str]:
    """What stands for the DbResources in statements."""
    names = (*TABLES, *VIEWS, *FUNCTIONS, *PROCEDURES, "seq")
    own = {one: TableName(resources.schema, resources.name(one)) for one in names}
    parts = {one: qualified(name) for one, name in own.items()}
    parts |= {one: quoted(resources.name(one)) for one in _CONSTRAINTS}
    index = TableName(resources.schema, resources.name("items_transactions"))
    parts["items_transactions"] = qualified(index)
    parts["free_job"] = qualified(resources.job)
    return parts | {f"{one}_name": literal(parts[one]) for one in ("free", "free_job")}


def composed(name: str, /, **parts: str) -> str:
    """The statement of that name with its placeholders filled; a part is a piece of SQL. A block of PL/SQL keeps its
    last semicolon, which a statement of SQL has not.
    """
    text = _COMMENT.sub("", sqlfiles.statement("oracle", name))
    return text.format(**parts).strip()
