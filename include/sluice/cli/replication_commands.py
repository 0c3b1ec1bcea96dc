"""Commands of the shell for whole replications: what loses something says so first, and is done with `--yes`."""

from __future__ import annotations

from collections.abc import Sequence

from sluice import shell
from sluice.cli.context import context as _context
from sluice.commands.clear_queue import clear_queue as _clear_queue
from sluice.commands.clear_queue import expect_clearable
from sluice.commands.remove_replication import Extent, expect_removable, remove_replication
from sluice.commands.restart import expect_fillable
from sluice.commands.restart import restart as _restart
from sluice.model.names import Pair
from sluice.outside_text import in_one_line, say

OPTIONS = {Extent.STORE: ["--store-only"], Extent.POSITION: [], Extent.TABLES: ["--tables"]}


def clear_queue(source: str, slave: str, *, sure: bool) -> int:
    """Discard what waits for a slave. 0 if it was done."""
    context, pair = _context(), Pair(source, slave)
    if not sure:
        waiting = expect_clearable(context, pair)
        wait = "1 transaction waits" if waiting == 1 else f"{waiting:,} transactions wait"
        say(f"{wait} for {slave}. It will lack what waits, and be INCONSISTENT until it is filled.")
        say(f"Nothing was changed. To discard them, type: {shell.dispatcher(pair, '--clear-queue', '--yes')}")
        return 1
    count = _clear_queue(context, pair)
    say(f"discarded {count:,} {'transaction' if count == 1 else 'transactions'}; {slave} is INCONSISTENT")
    say(f"To fill it again, type: {shell.update(source, [slave])}")
    return 0


def remove(source: str, slave: str, extent: Extent, *, sure: bool) -> int:
    """Take a replication out of the control store and of its slave. 0 if it was done."""
    context, pair = _context(), Pair(source, slave)
    if not sure:
        configured = expect_removable(context, pair, extent)
        if extent is Extent.STORE or not configured:
            goes = "the control store forgets it; what the slave has stays"
        elif extent is Extent.TABLES:
            goes = (
                "the control store forgets it, and its position on the slave is dropped, with the tables that the last "
                "comparison of all rows found equal to their master's; others stay"
            )
        else:
            goes = "the control store forgets it, and its position on the slave is dropped; the tables stay"
        options = [*OPTIONS[extent], "--yes"]
        say(f"{pair} would be removed: {goes}.")
        say(f"Nothing was changed. To do that, type: {shell.sluice('remove', source, slave, *options)}")
        return 1
    for part in remove_replication(context, pair, extent):
        say(in_one_line(f"dropped {part}"))
    say(f"removed {pair}. Take it out of the configuration, if it is there, or fill it again: ", end="")
    say(shell.update(source, [slave]))
    return 0


def restart(source: str, slaves: Sequence[str], *, sure: bool) -> int:
    """Fill slaves again with the choices of their last initial update, all of a source if none is named. 0 if begun."""
    context = _context()
    if not sure:
        for choices, names in expect_fillable(context, source, slaves):
            how = ", ".join(f"{name}={choice}" for name, choice in choices.items())
            say(f"{', '.join(names)} would be filled again{f', with {how}' if how else ''}.")
        say("What their watched tables hold is replaced. ", end="")
        say(f"Nothing was changed. To do that, type: {shell.sluice('restart', source, *slaves, '--yes')}")
        return 1
    for run in _restart(context, context.dags(), source, slaves):
        say(f"triggered: {run}")
    return 0
