"""Commands of the shell for whole replications: what loses something says so first, and is done with `--yes`."""

from __future__ import annotations

from sluice import shell
from sluice.cli.context import context as _context
from sluice.commands.clear_queue import clear_queue as _clear_queue
from sluice.commands.clear_queue import expect_clearable
from sluice.model.names import Pair


def clear_queue(source: str, slave: str, *, sure: bool) -> int:
    """Discard what waits for a slave. 0 if it was done."""
    context, pair = _context(), Pair(source, slave)
    if not sure:
        waiting = expect_clearable(context, pair)
        print(f"{waiting:,} transactions wait for {slave}. It will lack them, and be INCONSISTENT until it is filled.")
        print(f"Nothing was changed. To discard them, type: {shell.dispatcher(pair, '--clear-queue', '--yes')}")
        return 1
    print(f"discarded {_clear_queue(context, pair):,} transactions; {slave} is INCONSISTENT")
    print(f"To fill it again, type: {shell.update(source, [slave])}")
    return 0
