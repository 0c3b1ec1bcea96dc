"""Slaves that cannot be reached when they are to be filled: they hold up nobody, and are filled when they are back."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from sluice.changelog import initial_data
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.names import INITIAL_UPDATE, RECEIVE_INITIAL_FILES, Pair
from sluice.store import replications, transfers, updates


def absent(context: Context, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of these slaves that cannot be reached now."""
    found = unanswered(context, pairs)
    for pair, error in found.items():
        event("off-line", slave=pair.slave, why=error.fact)
    return list(found)


def unanswered(context: Context, pairs: Sequence[Pair]) -> dict[Pair, TransientError]:
    """The same, each with what is in the way; all are asked at once."""
    with ThreadPoolExecutor(max(len(pairs), 1)) as pool:
        found = pool.map(lambda pair: _in_the_way(context, pair), pairs)
        return {pair: error for pair, error in zip(pairs, found, strict=True) if error}


def fill_if_reachable(context: Context, pair: Pair) -> None:
    """Have brought to a slave what it waits for since it could not be reached, if it can be now; once.

    Without an answer of Airflow the next run of its drain tries again.
    """
    known = replications.get(context.store, pair)
    off = updates.is_put_off(context.store, known)
    if not off and not (
        (awaited := transfers.awaited(context.store, pair)) and initial_data.holds(context.config, awaited)
    ):
        return
    if absent(context, [pair]):
        return
    wanted = {"slaves": [pair.slave], **updates.asked(context.store, known.update_id)} if off else {"slave": pair.slave}
    conf = {"source": pair.source, **wanted}
    run = f"{pair.source}__{pair.slave}__{known.update_id}"
    context.runs().ask_for(INITIAL_UPDATE if off else RECEIVE_INITIAL_FILES, run, conf)


def _in_the_way(context: Context, pair: Pair) -> TransientError | None:
    """Why a slave does not answer; it does if only to refuse us, which is told by whoever works with it."""
    try:
        with closing(context.slave(pair)) as slave:
            slave.fit({})
    except TransientError as error:
        return error
    except SluiceError:
        pass
    return None
