"""SQL by name: `sql/<vendor>/<name>.sql`, one statement or object a file. How to add one: sql/README.md."""

from __future__ import annotations

from functools import cache

from sluice.paths import FILES

_SQL = FILES / "sql"


@cache
def statement(vendor: str, name: str) -> str:
    """The text of one statement, with its ``{placeholders}`` for identifiers."""
    return _SQL.joinpath(vendor, f"{name}.sql").read_text(encoding="utf-8")


def names(vendor: str, folder: str) -> list[str]:
    """The names of all statements in a folder, in their numbered order; none if there is no such folder."""
    directory = _SQL.joinpath(vendor, folder)
    files = [file.name for file in directory.iterdir()] if directory.is_dir() else []
    return sorted(f"{folder}/{name.removesuffix('.sql')}" for name in files if name.endswith(".sql"))
