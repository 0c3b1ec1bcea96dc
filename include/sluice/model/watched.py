"""The entries that select the watched tables of a source: names and prefixes; the closest match decides."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sluice.model.item_labels import ItemLabels
from sluice.model.names import TableName

_PART = r'\s*(?:"(?:[^"]|"")+"|[^".\s](?:[^".]*[^".\s])?)\s*'


@dataclass(frozen=True)
class Pattern:
    """One entry: a table by its name or, as a wildcard, all tables of the schema whose names begin with `table`."""

    schema: str
    table: str
    wildcard: bool = False
    excluded: bool = False

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}{'*' if self.wildcard else ''}"

    def takes(self, name: TableName) -> bool:
        """Whether the entry matches this table."""
        if self.schema != name.schema:
            return False
        return name.table.startswith(self.table) if self.wildcard else name.table == self.table


@dataclass(frozen=True)
class Watch:
    """The capture of a table. `old_images` `key` omits the old images of updates that did not change the key."""

    actions: str
    trigger: str | None = None
    sequence: int = -1
    debug: int = 0
    old_images: str = "full"


@dataclass(frozen=True)
class WatchSettings:
    """The part of the configuration that is stored in the source: to watch tables that are created later.

    Attributes:
        trusted_code: roles whose functions may run with our rights when tables are read.
        drained_into: the source is a slave too, and a drain with `block_loop` deletes its own changes from the queue.
        by_log: changes of rows are read from the server's log.
        max_row_bytes: a row that is longer, as text, is not published.
    """

    entries: Mapping[Pattern, Watch] = field(default_factory=dict)
    detection: bool = True
    initial_content: bool = True
    appearance: ItemLabels = field(default_factory=ItemLabels)
    drained_into: bool = False
    trusted_code: tuple[str, ...] = ()
    by_log: bool = False
    max_row_bytes: int = 128_000_000

    @property
    def named_tables(self) -> list[TableName]:
        """The tables that entries name without a wildcard."""
        return [
            TableName(entry.schema, entry.table) for entry in self.entries if not (entry.wildcard or entry.excluded)
        ]

    def without(self, tables: Collection[TableName]) -> WatchSettings:
        """The same, as if `exclude` of these tables were set."""
        named = {Pattern(table.schema, table.table) for table in tables}
        entries = {entry: watch for entry, watch in self.entries.items() if entry not in named}
        return replace(self, entries=entries | {replace(entry, excluded=True): Watch("none") for entry in named})


def find_entry(patterns: Collection[Pattern], name: TableName) -> Pattern | None:
    """The entry that selects a table: one with its name, else an exclusion, else the longest wildcard; or None."""
    # Where thousands are named, each is looked up for each.
    named = Pattern(name.schema, name.table)
    if named in patterns:
        return named
    pattern = min(
        (pattern for pattern in patterns if pattern.takes(name)),
        key=lambda pattern: (pattern.wildcard, not pattern.excluded, -len(pattern.table)),
        default=None,
    )
    return None if pattern is None or pattern.excluded else pattern


def spelled_alike(name: TableName, names: Iterable[TableName]) -> list[TableName]:
    """The names that differ from `name` in case or blanks alone."""
    return sorted(other for other in names if other != name and _fold(other) == _fold(name))


def _fold(name: TableName) -> tuple[str, str]:
    schema, table = ("".join(part.split()).lower() for part in (name.schema, name.table))
    return schema, table


def split_name(name: str) -> tuple[str | None, str]:
    """`table` or `schema.table` as its parts; a part with a dot, or with blanks around it, is in double quotes."""
    match = re.fullmatch(rf"(?:({_PART})\.)?({_PART})", name)
    if not match:
        raise ValueError(f"{name!r} is no table: write schema.table, with double quotes around a part that has a dot")
    return match[1] and _bare(match[1]), _bare(match[2])


def split_table(name: str) -> tuple[str, str]:
    """`schema.table` as its two parts."""
    schema, table = split_name(name)
    if schema is None:
        raise ValueError(f"{name!r} is no table: write schema.table, with double quotes around a part that has a dot")
    return schema, table


def split_pattern(name: str, *, excluded: bool = False) -> Pattern:
    """An entry of `tables`: `schema.table`, `schema.*`, or `schema.prefix*`; no star within double quotes is one."""
    bare = re.sub(r'"[^"]*"', "", name.strip())
    wildcard = bare.endswith("*")
    if "*" in bare[:-1]:
        raise ValueError(f"{name!r} is no wildcard: the star comes last, as in schema.* or schema.prefix*")
    schema, table = split_table(name)
    return Pattern(schema, table[:-1].rstrip() if wildcard else table, wildcard=wildcard, excluded=excluded)


def distinct(names: Iterable[str]) -> dict[str, Pattern]:
    """The entries of `tables`, taken apart. Raises ValueError if two are the same, or one is none."""
    names_by_pattern: dict[Pattern, str] = {}
    for name in names:
        if (twin := names_by_pattern.setdefault(split_pattern(name), name)) != name:
            raise ValueError(f"{twin} and {name} are the same table")
    return {name: pattern for pattern, name in names_by_pattern.items()}


def _bare(part: str) -> str:
    bare = part.strip()
    return bare[1:-1].replace('""', '"') if bare.startswith('"') else bare
