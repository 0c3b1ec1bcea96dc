"""Restart: slaves are filled again with the choices of their last initial update (guide: "The Details Page")."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sluice import shell
from sluice.airflow_api.dags import Dags
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import INITIAL_UPDATE, Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import UNDER_WAY
from sluice.store import replications, updates


def last_choices(context: Context, pair: Pair) -> dict[str, object]:
    """The choices of the last initial update of a slave; none for one that was never filled, or whose queue was
    cleared since. What follows it is remembered apart; see `sluice.store.cascades`.
    """
    choices = updates.choices(context.store, replications.get(context.store, pair).update_id)
    return {name: choice for name, choice in choices.items() if name != "resume"}


def restart(context: Context, dags: Dags, source: str, slaves: Sequence[str] = ()) -> list[str]:
    """Fill slaves of a source again, all of them if none is named; those with the same choices by one run.

    Returns:
        the runs, as `dag/run`.

    Raises:
        ConfigError: SLC-003, there is no such replication.
        SluiceError: SLC-020, one of them cannot be filled now, and none is; or what Airflow refuses.
    """
    runs = []
    for choices, names in expect_fillable(context, source, slaves):
        run = dags.trigger(INITIAL_UPDATE, {"source": source, "slaves": names, **choices})
        runs.append(f"{context.config.dag_id(INITIAL_UPDATE)}/{run}")
    return runs


def expect_fillable(
    context: Context, source: str, slaves: Sequence[str] = ()
) -> list[tuple[Mapping[str, object], list[str]]]:
    """The slaves that would be filled again, by their choices. Raises SLC-003 and SLC-020, as `restart` does."""
    context.config.source(source)
    names = list(dict.fromkeys(slaves)) or list(context.config.slaves_of(source))
    by_choices: dict[str, list[str]] = {}
    for name in names:
        context.config.replication(source, name)
        pair = Pair(source, name)
        _expect_fillable(context, pair)
        by_choices.setdefault(json.dumps(last_choices(context, pair), sort_keys=True), []).append(name)
    return [(json.loads(choices), alike) for choices, alike in by_choices.items()]


def _expect_fillable(context: Context, pair: Pair) -> None:
    status = replications.get(context.store, pair).status
    if status in UNDER_WAY:
        why, first = f"it is {status}", f"wait for its initial update, or end it: {shell.cancel(pair)}"
    elif Hold.ADMIN in (held := replications.holds(context.store, pair)):
        why, first = f"{held[Hold.ADMIN].actor} put it on standby", f"type: {shell.unpause(pair)}"
    else:
        return
    raise SluiceError(
        20, f"{pair} cannot be filled again now: {why}", f"nothing was changed; {first}; then fill it again"
    )
