"""An update that was refused for what columns of a slave would lose: people are asked, and if they allow it, it runs
again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from sluice import shell
from sluice.airflow_api import outbox
from sluice.context import Context
from sluice.errors import Lossy, SluiceError
from sluice.initial_update import column_losses
from sluice.model.names import APPROVE_LOSSES, INITIAL_UPDATE, Pair
from sluice.state.replication import Status
from sluice.store import pending_runs, replications, updates
from sluice.store.pending_runs import PendingRun


def ask(context: Context, pair: Pair, update: int, error: SluiceError, chosen: Mapping[str, object]) -> None:
    """Have Airflow ask people, once for an update, if they can allow all that it was refused for.

    Args:
        error: what the update ended with; its HINT says so if people are asked.
        chosen: see `sluice.store.updates.put_off`.
    """
    if isinstance(error, Lossy) and error.allowable:
        prepare(context, pair, update, chosen)
        send(context, pair, update, error)


def prepare(context: Context, pair: Pair, update: int, chosen: Mapping[str, object]) -> None:
    """Store what Airflow is to ask people."""
    updates.keep_choices(context.store, update, chosen)
    conf = {"source": pair.source, "slave": pair.slave, "refused": update}
    with context.store.begin() as connection:
        pending_runs.put(connection, pair, PendingRun(APPROVE_LOSSES, _run(pair, update), conf))


def send(context: Context, pair: Pair, update: int, error: SluiceError) -> None:
    """Have Airflow ask what was prepared. The HINT of the error says so then."""
    if _run(pair, update) in outbox.send(context.store, context.runs(), pair):
        dag = context.config.dag_id(APPROVE_LOSSES)
        error.hint = (
            f"people are asked in Airflow (Required actions of {dag}), and if they approve, the update runs again by "
            f"itself. Or: {error.hint}"
        )


def question(context: Context, pair: Pair, update: int = 0) -> dict[str, object]:
    """Return the question to people about the losses of a slave.

    Args:
        update: the one that was refused, if they are asked because of that.
    """
    losses = column_losses.question(context, pair, partly=_partly(context, update))
    if update and _waits(context, pair, update):
        losses["body"] = f"{losses['body']}\n\nIf you approve, the initial update that was refused runs again at once."
    return losses


def allow(context: Context, pair: Pair, asked: str, who: str, update: int = 0) -> dict[str, object]:
    """Allow the losses that were shown, see `column_losses.allow`.

    Args:
        update: the one that was refused.
    """
    return column_losses.allow(context, pair, asked, who, partly=_partly(context, update))


def go_on(context: Context, pair: Pair, update: int) -> str:
    """Ask Airflow for the run that follows a permission; return it, or the command that a person may type.

    Args:
        update: the one that was refused, which runs again unless the slave has had another one since; or 0.
    """
    if update and _waits(context, pair, update):
        conf = {"source": pair.source, "slaves": [pair.slave], **updates.choices(context.store, update)}
        if run := context.runs().ask_for(INITIAL_UPDATE, _run(pair, update), conf):
            return f"{context.config.dag_id(INITIAL_UPDATE)}/{run}"
    return shell.update(pair.source, [pair.slave])


def _waits(context: Context, pair: Pair, update: int) -> bool:
    """Whether the slave had no other update since."""
    known = replications.get(context.store, pair)
    if updates.is_refused(context.store, update):
        return (known.update_id or 0) < update
    return known.update_id == update and known.status is Status.INCONSISTENT


def _partly(context: Context, update: int) -> bool | None:
    return bool(updates.tables(context.store, update)) if update else None


def _run(pair: Pair, update: int) -> str:
    """The id of the run is the update's, so that it is asked for once."""
    return f"{pair.source}__{pair.slave}__{update}"
