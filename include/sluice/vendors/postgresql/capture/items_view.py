"""Values for the placeholders of SQL files by which the configuration determines the view ITEMS."""

from __future__ import annotations

from psycopg import sql

from sluice.model.item_labels import ItemLabels


def parts_of(wanted: ItemLabels) -> dict[str, sql.Composable]:
    """The placeholders of the view ITEMS and of the widths of TABLES."""
    return {
        "dbid": sql.SQL("current_database()") if wanted.db_id is None else sql.Literal(wanted.db_id),
        "version": sql.Literal(wanted.version),
        "char_width": sql.Literal(wanted.char_width),
        "char_width_small": sql.Literal(wanted.char_width_small),
    }
