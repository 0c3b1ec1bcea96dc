"""The words of the commands `remove` and `cleanup`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluice.commands.remove_replication import Extent

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add(commands: Commands) -> None:
    """Add the commands to a parser."""
    remove = commands.add_parser("remove", help="take a replication out of the control store and of its slave")
    remove.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    remove.add_argument("slave", metavar="SLAVE", help="its name in the configuration")
    _add_extent(remove, "drop its tables on the slave as well", "leave the slave as it is, which may be gone")
    remove.set_defaults(run=_remove)

    clean = commands.add_parser("cleanup", help="remove all that was installed on a source that is replicated no more")
    clean.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    clean.add_argument(
        "--all",
        action="store_true",
        help="also its replications, its change log and its rows in the control store; say what stays, and who ends it",
    )
    _add_extent(
        clean,
        "with --all: drop its tables on the slaves as well",
        "with --all: leave the databases as they are, which may be gone",
    )
    clean.set_defaults(run=_cleanup, error=clean.error)


def _add_extent(command: argparse.ArgumentParser, tables: str, store_only: str) -> None:
    how = command.add_mutually_exclusive_group()
    how.add_argument("--tables", action="store_true", help=tables)
    how.add_argument("--store-only", action="store_true", help=store_only)
    command.add_argument("--yes", action="store_true", help="do it, and do not ask")


def _extent(options: argparse.Namespace) -> Extent:
    from sluice.commands.remove_replication import Extent

    return Extent.TABLES if options.tables else Extent.STORE if options.store_only else Extent.POSITION


def _remove(options: argparse.Namespace) -> int:
    from sluice.cli import replication_commands

    return replication_commands.remove(options.source, options.slave, _extent(options), sure=options.yes)


def _cleanup(options: argparse.Namespace) -> int:
    from sluice.cli import cleanup_commands

    if options.all:
        return cleanup_commands.remove_source(options.source, _extent(options), sure=options.yes)
    if options.tables or options.store_only:
        options.error("--tables and --store-only need --all")
    return cleanup_commands.clean_up(options.source)
