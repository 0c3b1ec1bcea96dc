"""What to type after an error, in full. Who raises it knows what is to be mended; where it ends, what follows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sluice.control.pause import drain_dag
from sluice.errors import SluiceError
from sluice.model.names import Pair

# What is not to be mended on the slave: its stream cannot go on. The second needs more than an update, and says so.
_ANEW = {42, 58}
_COMPLETE = {52}


def unpause(pair: Pair) -> str:
    """The command that lets a slave's drain run."""
    return f"airflow dags unpause {drain_dag(pair)}"


def update(source: str, slaves: Sequence[str]) -> str:
    """The command that fills slaves anew."""
    return f"airflow dags trigger initial_update --conf '{json.dumps({'source': source, 'slaves': list(slaves)})}'"


def of_drain(error: SluiceError, pair: Pair, *, updating: bool = False) -> None:
    """Complete the hint of an error that a drain stands on: what opens its gate again, and what does so by itself.

    Args:
        updating: an initial update ends when this slave has its first changes.
    """
    if error.code in _COMPLETE:
        return
    anew = f"{update(pair.source, [pair.slave])}, which unpauses the DAG by itself"
    if error.code in _ANEW:
        error.hint = f"{error.hint}. Type: {anew}"
    elif "initial_update" in error.hint:
        error.hint = f"{error.hint}. Once it is mended, type: {unpause(pair)}. Or, instead of mending it: {anew}"
    else:
        error.hint = f"{error.hint}. Then type: {unpause(pair)}"
    if updating:
        then = "An initial update waits for it: to begin another one, mark the task `verify` of that as failed first"
        error.hint = f"{error.hint}. {then}"
