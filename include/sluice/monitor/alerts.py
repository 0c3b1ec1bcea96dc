"""A look at all replications, and at runs that failed: what people are to be told of it now."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from sluice import shell
from sluice.config.alerts import Alerts
from sluice.context import Context
from sluice.model.alert import Alert
from sluice.model.names import ALERTS, Pair
from sluice.model.row_difference import without_keys
from sluice.monitor.alert_decisions import RUN, body, current_alerts, decide, is_run, subject
from sluice.monitor.reach import Reach
from sluice.monitor.status import Beside, brief_status, explain
from sluice.outside_text import in_one_line
from sluice.store import alerts
from sluice.store.replication_overview import overviews

# Who looks later than that hears nothing of a run that failed.
_LATELY = timedelta(hours=1)
# A drain that failed is a condition, and so is a publisher.
_PIPELINES = ("drain__", "publish__")


def look(context: Context) -> dict[str, object]:
    """Look, and decide. Until `confirm` the next look tells the same.

    Returns:
        How many alerts began and are over, and if there are any, the `subject` and the `text` of a message.
    """
    settings = context.config.alerts
    if settings is None:
        return {"began": 0, "over": 0}
    runs = _failed_runs(context, settings)
    reach = Reach().look_now(context)
    pairs = [Pair(replication.source, replication.slave) for replication in context.config.replications]
    by_pair = overviews(context.store, pairs, by_table=True)
    beside = {pair: Beside(None, reach.absent(pair), reach.source(pair.source)) for pair in pairs}
    rows = [brief_status(context, by_pair[pair], beside[pair]) for pair in pairs]
    held = list(current_alerts(settings, rows, runs or ()))
    changes, known = alerts.change(
        context.store, _this_try(), lambda now, known: decide(now, settings.after_s, held, known, blind=runs is None)
    )
    result: dict[str, object] = {"began": len(changes.begun), "over": len(changes.over)}
    if not (changes.begun or changes.over):
        return result

    def reason(alert: Alert) -> str:
        if is_run(alert):
            said = (runs or {}).get(alert.what.removeprefix(RUN), "")
            # In one line, so that it passes for no error of ours.
            return f"its note, which people can edit, says: {in_one_line(said)}" if said else ""
        pair = Pair(alert.source, alert.slave)
        row = explain(context, by_pair[pair], beside[pair])
        return "\n".join(filter(None, [row.why, row.publishing, *row.lacking]))

    reasons = {alert: without_keys(reason(alert)) for alert in changes.begun}
    text = body(changes, known, reasons)
    return {**result, "subject": subject(changes, context.config.pages.title), "text": text}


def confirm(context: Context) -> dict[str, object]:
    """Record that the message of this task was sent."""
    alerts.confirm(context.store, _this_try())
    return {"sent": True}


def _failed_runs(context: Context, settings: Alerts) -> dict[str, str] | None:
    if not settings.failed_runs:
        return {}
    dags = [name for name in context.config.dags if name != ALERTS and not name.startswith(_PIPELINES)]
    return context.runs().failed_since(datetime.now(UTC) - _LATELY, dags)


def _this_try() -> str:
    return os.environ.get(shell.RUN_ENV, "")
