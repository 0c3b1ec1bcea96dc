"""The master's columns by which a row of a slave is found."""

from __future__ import annotations

from sluice.apply.mapping.table_view import TableView
from sluice.config.mapper import Mapper


def masters_columns(view: TableView, mapper: Mapper) -> tuple[str, ...]:
    """The master's columns that a row of the slave is found by, in the order of the slave's key.

    Raises:
        ValueError: a key of the slave does not tell which row of the master's it is; the text says why.
    """
    entry, master = view.entry, view.master
    names = {name: column for column, name in mapper.columns(master.name, (c.name for c in master.columns)).items()}
    if not view.layout.key:
        raise ValueError("its rows have no key on the slave")
    if view.style is not None or entry.plugin is not None:
        raise ValueError("a stylesheet or a plugin makes its rows")
    if made := [
        name
        for name in view.layout.key_names
        if name in entry.compute or name not in names or names[name] in entry.mask
    ]:
        raise ValueError(f"the slave's key is computed or masked ({', '.join(made)})")
    return tuple(names[name] for name in view.layout.key_names)
