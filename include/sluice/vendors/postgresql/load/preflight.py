"""Whether a slave can be filled: asked of its catalog, before anything of it is written or locked (R7).

What is seen here may change until the slave is filled, so `sluice.vendors.postgresql.load.tables` asks the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import psycopg

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.errors import SluiceError
from sluice.library_errors import name_table
from sluice.model.action import FilledRows
from sluice.model.names import TableName
from sluice.vendors.postgresql.capture import warnings
from sluice.vendors.postgresql.catalog import relations, user_types
from sluice.vendors.postgresql.catalog.definition import PostgresTable, for_slave
from sluice.vendors.postgresql.catalog.row_identity import is_keyed, is_unfinished
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.copy_formats import BINARY
from sluice.vendors.postgresql.ddl import trust
from sluice.vendors.postgresql.ddl.compatibility import fitting, other_types
from sluice.vendors.postgresql.ddl.constraints import expect_makeable, to_make, understood
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.ddl.owners import expect_trusted_owners
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load.foreign_keys import expect_droppable
from sluice.vendors.postgresql.load.wipe_schema import expect_wipeable
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.protocol.load import TableFit
from sluice.vendors.protocol.read import TakenFormats

# How constraints begin that have an index of their name.
_INDEXED = ("PRIMARY KEY", "UNIQUE", "EXCLUDE")


def loadable(
    session: Connection,
    mapper: Mapper,
    tables: Sequence[PostgresTable],
    *,
    silent: bool,
    wiped: WipeOut | None,
    ours: Collection[str],
    unindexed: Collection[TableName],
    resume: bool,
) -> TableFit:
    """See that tables can be filled; how they take the rows.

    Args:
        silent: our role may silence triggers and foreign keys.
        wiped: what is dropped before.
        ours: our own tables, which stay.
        unindexed: tables whose indexes were put off. The load gives these back before it looks at keys.
        resume: rows that an earlier update has brought may stay.

    Raises:
        SluiceError: see `sluice.vendors.protocol.slave.SlaveDatabase.loadable`.
    """
    found = TableFit(TakenFormats({BINARY}), [*warnings.for_slave_role(session)])
    names = names_of(session, mapper)
    if wiped and not resume:
        expect_wipeable(session, wiped, ours)
    emptied: list[TableName] = []
    made: set[str] = set()
    present = set(relations.existing(session, [mapper.table(table.name) for table in tables]))
    if wiped and wiped.tables:
        present = {name for name in present if name.schema != wiped.schema_}
    types = {names.slave_name(one.name) for table in tables for one in table.types}
    expect_trusted_owners(session, present | types, mapper.adopted)
    side_effects.expect_none(session, sorted(present), silent=silent)
    if not silent:
        expect_droppable(session, present)
    for table in tables:
        with name_table(table.name), translated("looking at the slave's table"):
            layout = view(mapper, table.layout).layout
            name = layout.name
            made |= {one.schema for one, _ in user_types.lacking(session, table.types, names)}
            unfinished = name in present and is_unfinished(session, name)
            if unfinished and not resume:
                expect_unfilled(session, mapper, table.name)
            if name not in present or unfinished:
                expect_makeable(session, table, mapper)
                made.add(name.schema)
                continue
            existing = fitting(session, layout, names)
            if other_types(layout, existing, names):
                found.formats.as_text.add(table.name)
            found.warnings.extend(warnings.for_slave(session, layout))
            policy = mapper.existing_rows(table.name)
            if policy is not FilledRows.MERGE:
                emptied.append(name)
            elif name not in unindexed:
                expect_keyed(session, mapper, table)
            if policy is FilledRows.REFUSE and not resume:
                expect_empty(session, name)
    rights = {**relations.among(emptied), "made": sorted(made)}
    if row := session.execute(composed("load/forbidden"), rights).fetchone():
        raise psycopg.errors.InsufficientPrivilege(f"permission denied for {row[0]}")
    return found


def expect_trusted(session: Connection, mapper: Mapper, tables: Sequence[PostgresTable], wiped: WipeOut | None) -> None:
    """See that the slave makes by itself what it lacks of these tables, and of their types; what that takes is rolled
    back with the transaction.

    Raises:
        SluiceError: SLC-320, SLC-321, SLC-322; SLC-210, see `expect_names_free`.
    """
    names, types = names_of(session, mapper), TypeNames(session)
    present = set(relations.existing(session, [mapper.table(table.name) for table in tables]))
    if wiped and wiped.tables:
        present = {name for name in present if name.schema != wiped.schema_}
    for table in tables:
        with name_table(table.name), translated("looking at a definition"):
            name = mapper.table(table.name)
            stays = name in present and not is_unfinished(session, name)
            trust.expect_trusted(session, understood(session, for_slave(table, names)), names, types, exists=stays)
            if not (stays or (wiped and wiped.tables and wiped.schema_ == name.schema)):
                expect_names_free(session, to_make(session, table, names, mapper), name)


def expect_names_free(session: Connection, table: PostgresTable, name: TableName) -> None:
    """See that keys and indexes of a table that is to be made can have their names, which last as the master's table is
    renamed.

    Raises:
        SluiceError: SLC-210, others bear one.
    """
    wanted = [key for key, text in table.constraints if text.startswith(_INDEXED)]
    wanted += [index for index, _, _ in table.indexes]
    values = {"schema": name.schema, "table": name.table, "names": wanted}
    for taken, owner in session.execute(composed("load/taken_names"), values):
        if owner:
            what = f"if {owner} is left over from when the master's table was called so, type there: DROP TABLE {owner}"
        else:
            what = "rename or drop it there"
        raise SluiceError(
            210,
            f"the slave has {taken}{f' of {owner}' if owner else ''}, and a key or an index of {name}, which is to be "
            "made, bears that name",
            f"nothing was changed; {what}. Then trigger it again",
        )


def expect_keyed(session: Connection, mapper: Mapper, table: PostgresTable) -> None:
    """See that a key tells which rows of a table are the master's. Raises SluiceError SLC-210."""
    name = mapper.table(table.name)
    numbered = {one.name for one in relations.target_columns(session, name).values() if one.numbered}
    other_keys = numbered - set(relations.primary_key(session, name))
    other_keys |= {one.name for one in relations.side_effects(session, name) if one.kind == "rule"}
    if other_keys or not is_keyed(session, mapper, table):
        raise SluiceError(
            210,
            f"{name} of the slave is to keep its rows, and nothing tells which of them are the master's",
            "nothing was changed; give it the master's primary key, checked at once, and no other unique index, no "
            "rule and no other column that is always numbered, or set another `on_existing_rows`",
        )


def expect_empty(session: Connection, name: TableName) -> None:
    """See that a table has no rows. Raises SluiceError SLC-210."""
    if relations.filled(session, {name: name}):
        raise SluiceError(
            210,
            f"{name} of the slave has rows",
            "nothing was changed; look whose they are, and empty it, or set another `on_existing_rows`",
        )


def expect_unfilled(session: Connection, mapper: Mapper, table: TableName) -> None:
    """See that no rows which are to stay are in a table that an update made and did not end. Raises SluiceError
    SLC-210.
    """
    name = mapper.table(table)
    if mapper.existing_rows(table) is FilledRows.MERGE and relations.filled(session, {name: name}):
        raise SluiceError(
            210,
            f"{name} of the slave was made by an initial update that has not ended, and its rows are to stay",
            "nothing was changed; let the one that is under way end, or trigger the one that broke off again with "
            "`resume`. If none of the rows is needed there, drop the table by hand",
        )
