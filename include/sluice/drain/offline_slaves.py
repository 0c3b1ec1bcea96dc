"""Slaves that are unreachable at an initial update: the others go on, and these are filled once they are back."""

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
    """Log and return the slaves that cannot be reached now."""
    errors = find_unreachable(context, pairs)
    for pair, error in errors.items():
        event("off-line", slave=pair.slave, why=error.fact)
    return list(errors)


def find_unreachable(context: Context, pairs: Sequence[Pair]) -> dict[Pair, TransientError]:
    """The slaves that cannot be reached now, each with the error; all are tried at the same time."""
    with ThreadPoolExecutor(max(len(pairs), 1)) as pool:
        errors = pool.map(lambda pair: why_unreachable(context, pair), pairs)
        return {pair: error for pair, error in zip(pairs, errors, strict=True) if error}


def why_unreachable(context: Context, pair: Pair) -> TransientError | None:
    """Why a slave does not answer; None if it answers. A refusal is an answer: the update itself reports it."""
    try:
        with closing(context.slave(pair)) as slave:
            # Any request shows whether the server answers.
            slave.fit({})
    except TransientError as error:
        return error
    except SluiceError:
        pass
    return None


def fill_if_reachable(context: Context, pair: Pair) -> None:
    """Ask Airflow to fill a slave whose update was put off, if it can be reached now; once.

    If Airflow does not answer, the next run of the drain tries again.
    """
    known = replications.get(context.store, pair)
    off = updates.is_put_off(context.store, known)
    if not off and not (
        (awaited := transfers.awaited_transfer(context.store, pair)) and initial_data.holds(context.config, awaited)
    ):
        return
    if absent(context, [pair]):
        return
    wanted = (
        {"slaves": [pair.slave], **updates.choices(context.store, known.update_id)} if off else {"slave": pair.slave}
    )
    conf = {"source": pair.source, **wanted}
    run = f"{pair.source}__{pair.slave}__{known.update_id}"
    context.runs().ask_for(INITIAL_UPDATE if off else RECEIVE_INITIAL_FILES, run, conf)
