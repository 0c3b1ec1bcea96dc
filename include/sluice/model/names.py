"""Names of tables, of DbResources, and of the pair that is replicated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

# The DbResources: each name follows the prefix of its source.
RESOURCES = (
    "seq",
    "queue",
    "layouts",
    "tables",
    "current_tables",
    "debug_table",
    "state",
    "log",
    "identities",
    "increment",
    "needs_prot",
    "col2xml",
    "items",
    "listed",
    "current_layout",
    "record_layout",
    "altered",
    "dropped",
    "dropper",
    "dropping",
    "tree",
    "types_reached",
    "types_altered",
    "cols_view",
    "poll",
    "first_image",
    "kept",
    "rewritten",
    "notes",
    "noted",
    "note",
    "capture_again",
    "truncating",
    "put_trigger",
    "fires",
    "code_of_others",
    "held",
    "expect_own_code",
    "may_plan",
    "capture_partitions",
    "release_table",
    "capture_log",
    "release_log",
    "partitions_left",
    "partitions_join",
    "mark_function",
    "guard",
    "printed_under",
    "long_images",
    "overtaken",
    "capture_late",
    "capture_function",
    "capture_table",
    "checked_late",
    "capture_commit",
    "capture_rows",
    "silenced",
    "adopt",
    "wants",
    "wanted",
    "list_wanted",
    "settings",
    "table_definition",
    "described",
    "partitions",
    "clones",
    "own_text",
    "command",
    "follow",
    "forget",
    "registering",
    "take_up",
)
# The longest name that a catalog keeps whole.
LONGEST = 63


@dataclass(frozen=True, order=True)
class TableName:
    """A table by schema and relative name, exactly as the catalog spells them."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{_quote(self.schema)}.{_quote(self.table)}"


@dataclass(frozen=True, order=True)
class Pair:
    """One replication: a source and one of its slaves."""

    source: str
    slave: str

    def __str__(self) -> str:
        return f"{self.source}->{self.slave}"


def dag_id(prefix: str, *names: str) -> str:
    """The id of a DAG: its kind, and the source and slave that it is for."""
    return prefix + "__".join(names)


INITIAL_UPDATE = "initial_update"
RECEIVE_INITIAL_FILES = "receive_initial_files"
APPROVE_LOSSES = "approve_losses"
DECIDE = "decide"
STATEMENT = "statement"
# The DAG that some configurations have.
ALERTS = "alerts"
# The DAGs that every configuration has, by their names; those of sources and replications come on top.
COMMON_DAGS = (
    "administer",
    APPROVE_LOSSES,
    "bootstrap",
    "cancel_update",
    DECIDE,
    "housekeeping",
    INITIAL_UPDATE,
    RECEIVE_INITIAL_FILES,
    "repair",
    STATEMENT,
    "upgrade_master",
    "verify",
)


def drain_dag(pair: Pair) -> str:
    """The name of the DAG that drains to a slave: its id without the prefix."""
    return dag_id("", "drain", pair.source, pair.slave)


@dataclass(frozen=True)
class Resources:
    """The names of the DbResources of one prefix. A plain prefix is folded as the vendor folds names (the guide).

    `folded` is the prefix as the database stores it, so that ``SELECT * FROM REPL_ITEMS`` works in its shell.

    Attributes:
        is_home: the schema is named after the prefix, and Sluice creates it.
    """

    schema: str
    folded: str
    is_home: bool = False

    def name(self, resource: str) -> str:
        """The stored name of a resource: ``items`` gives ``repl_items``."""
        return self.folded + resource

    def everywhere(self, resource: str) -> str:
        """The name of an object that is in no schema. No prefix has a dot, so the two parts are unambiguous."""
        name = f"{self.schema}.{self.name(resource)}"
        if len(name.encode()) <= LONGEST:
            return name
        return f"{self.name(resource)}.{_digest(name)}"

    def has(self, name: TableName) -> bool:
        """Whether this is the name of one of these DbResources."""
        return name.schema == self.schema and name.table in map(self.name, RESOURCES)

    def shared_name(self, other: Resources) -> str | None:
        """The first name that both prefixes would use in the same schema; None if there is none."""
        ours, theirs = ({(resources.schema, resources.name(name)) for name in RESOURCES} for resources in (self, other))
        return min((name for _, name in ours & theirs), default=None)


def home_of(folded: str) -> str:
    """The schema of the DbResources of a prefix, unless another one is named: ``repl`` for ``repl_``."""
    name = folded.rstrip("_")
    # Servers keep such names for themselves.
    return f"sluice_{name}" if name.startswith("pg_") or name in ("public", "information_schema") else name


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def _quote(part: str) -> str:
    """A part of a name, as `sluice.model.watched.split_name` reads it."""
    if "." in part or '"' in part or part != part.strip():
        return '"{}"'.format(part.replace('"', '""'))
    return part
