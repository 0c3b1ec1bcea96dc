"""SQL by name: `sql/<vendor>/<name>.sql`, one statement or object a file. How to add one: sql/README.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sluice.paths import PROJECT

SQL = PROJECT / "sql"


@cache
def statement(vendor: str, name: str) -> str:
    """The text of one statement, with its ``{placeholders}`` for identifiers."""
    return (SQL / vendor / f"{name}.sql").read_text(encoding="utf-8")


def names(vendor: str, folder: str) -> list[str]:
    """The names of all statements in a folder, in their numbered order."""
    return sorted(f"{folder}/{file.stem}" for file in Path(SQL / vendor / folder).glob("*.sql"))
