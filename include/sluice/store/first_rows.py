"""`DISTINCT ON`, which SQLAlchemy 2.0 and 2.1 write in two ways."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select
from sqlalchemy.dialects import postgresql

_Selected = TypeVar("_Selected", bound=Select[Any])


def keep_first(rows: _Selected, *per: ColumnElement[Any]) -> _Selected:
    """Let a query return the first row per value of these columns, in the order that the query asks for."""
    if hasattr(postgresql, "distinct_on"):
        return rows.ext(postgresql.distinct_on(*per))
    return rows.distinct(*per)
