"""What the later tasks of a run do for which nobody may ask: its first task, which sees to that, was marked as done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from support.updating import UpdatingWorld, blocks_here, compare_here, load_here
from support.world import SOURCE

from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import dump
from sluice.initial_update.options import MODES
from sluice.initial_update.release import abandon, release
from sluice.verify.run import VerifyRequest, verify

Task = Callable[[UpdatingWorld, int], Any]


def _dump(world: UpdatingWorld, _: int, **how: Any) -> object:
    return dump(world.context, SOURCE, world.slaves, load_here, **how)


def _verify(world: UpdatingWorld, update: int, *tables: Any) -> object:
    request = VerifyRequest(SOURCE, world.slaves, tables, initial=True, update=update)
    return verify(world.context, request, compare_here, 1)


# By their jobs, the tasks that do nothing but for an update that their own run began; each in every way that results of
# earlier tasks, which people can edit, have it done. They are told the number of the update that is under way.
LATER: dict[str, list[Task]] = {
    "dump": [*(partial(_dump, mode=mode) for mode in MODES), partial(_dump, store=True)],
    "release": [
        lambda world, update: release(world.context, SOURCE, world.slaves),
        lambda world, update: release(world.context, SOURCE, world.slaves, update, "eva"),
    ],
    "blocks": [lambda world, update: load_online(world.context, SOURCE, world.slaves, blocks_here)],
    "verify": [
        _verify,
        lambda world, update: _verify(world, 0),
        lambda world, update: _verify(world, update, *sorted(world.context.present(SOURCE))[:1]),
    ],
    "abandon": [lambda world, update: abandon(world.context, SOURCE, world.slaves)],
}
