"""`./sluice grants`: scripts for administrators that grant the roles of sources and slaves their rights."""

from __future__ import annotations

from sluice import shell
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.action import Policy
from sluice.model.names import Pair, TableName
from sluice.vendors.registry import vendor


def grants(context: Context, source: str) -> str:
    """The script for the role of the source's connection and the tables that are watched today."""
    database = context.source(source)
    try:
        settings = context.config.source(source)
        schemas = {pattern.schema for pattern in settings.patterns if pattern.wildcard}
        # Also beside a role that only reads: what ends an initial update, and `repair`, compare by this one.
        activity = settings.blocks.max_active is not None or settings.verification.max_active is not None
        return database.capture.grants(list(context.watched_tables(source)), schemas=schemas, activity=activity)
    finally:
        database.close()


def slave_grants(context: Context, name: str, *, silent: bool) -> str:
    """The script for the role of the slave's connection, and the tables that it gets today from any source.

    Args:
        silent: let the role keep the slave's own triggers and foreign keys from acting.

    Raises:
        SluiceError: SLC-468, there is none for this kind of slave; none that lets the role do that.
    """
    slave = context.config.slave(name)
    script, silencing = vendor(slave.vendor).grants, vendor(slave.vendor).silencing
    if script is None:
        raise SluiceError(
            468,
            f"slave {name} is of a kind for which there is no script of grants",
            "let the user of the jobs write to the directory of a slave of files; "
            f"{shell.check()} looks whether it can be reached",
        )
    if silent and silencing is None:
        raise SluiceError(
            468,
            f"slave {name} is of a kind where no role can keep triggers or foreign keys from acting",
            "nothing was printed; run this again without `--silent-triggers`: tables that have some are refused",
        )
    schemas: set[str] = set()
    tables: set[TableName] = set()
    replications = [replication for replication in context.config.replications if replication.slave == name]
    for source in (replication.source for replication in replications):
        mapper = context.configured_mapper(Pair(source, name))
        schemas |= {
            mapper.schema(pattern.schema) for pattern in context.config.source(source).patterns if not pattern.excluded
        }
        tables |= {mapper.table(table) for table in context.watched_tables(source) if not mapper.excludes(table)}
    schemas |= {table.schema for table in tables}
    info = context.connection(slave.connection)
    rights = script(info, slave.schema_, schemas, tables)
    altering = vendor(slave.vendor).altering
    if altering and any(replication.policies.alters is not Policy.IGNORE for replication in replications):
        rights = f"{rights};\n{altering(schemas)}"
    return f"{rights};\n\n{silencing(info)}" if silent and silencing else rights
