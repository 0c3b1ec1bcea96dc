"""Alerts: what people are to be told, once when it begins and once when it is over. Decisions; nothing is sent here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from sluice.config.alerts import Alerts
from sluice.model.alert import Alert, AlertChanges, KnownAlert
from sluice.monitor.status import ReplicationStatus
from sluice.outside_text import in_one_line, shorten, visible
from sluice.state.replication import Status

# Airflow's notes are no longer, and what is said here is no longer than such a note.
_MOST_OF_A_REASON = 1_000
_MOST_TOLD = 20
RUN = "run "


def current_alerts(settings: Alerts, rows: Iterable[ReplicationStatus], runs: Iterable[str]) -> Iterator[Alert]:
    """The alerts that hold now, if the configuration asks for them.

    Args:
        runs: the ones that failed lately, as `dag/run`.
    """
    for row in rows:
        if row.status == Status.UNCONFIGURED:
            continue
        for condition, holds in row.conditions():
            if holds and condition in settings.conditions:
                yield Alert(row.source, row.slave, condition)
    if settings.failed_runs:
        yield from (Alert("", "", f"{RUN}{run}") for run in runs)


def decide(
    now: datetime, after_s: float, held: Iterable[Alert], known: Mapping[Alert, KnownAlert], *, blind: bool = False
) -> AlertChanges:
    """Compare what holds with what is known. A message that may not have been sent is told again, if it still is so.

    Args:
        after_s: for so long it has to hold until it is told, and not to hold until it is over.
        blind: Airflow did not say which runs failed.
    """
    after, held = timedelta(seconds=after_s), set(held)
    changes = AlertChanges([], [], [], [])
    # Replications first: a message names so many, and a person who may trigger a DAG can let runs fail.
    for alert in sorted(held, key=lambda alert: (is_run(alert), alert)):
        before = known.get(alert) or KnownAlert(now, now)
        told = not before.unsure if before.begun else not (is_run(alert) or now - before.since >= after)
        (changes.kept if told else changes.begun).append(alert)
    for alert, before in sorted(known.items(), key=lambda entry: entry[0]):
        if alert in held:
            continue
        if is_run(alert):
            if before.unsure:
                changes.begun.append(alert)
            elif not blind:
                changes.gone.append(alert)
        elif not before.begun:
            changes.gone.append(alert)
        elif before.over or now - before.held_at >= after:
            changes.over.append(alert)
    return changes


def is_run(alert: Alert) -> bool:
    """Whether a run failed: this begins at once, and is never over."""
    return alert.what.startswith(RUN)


def subject(changes: AlertChanges, title: str) -> str:
    """The subject of a message: the alert if there is one, else how many there are."""
    told = [*changes.begun, *changes.over]
    if len(told) == 1:
        text = f"{'over: ' if changes.over else ''}{told[0]}"
    else:
        counts = ((len(changes.begun), "began"), (len(changes.over), "over"))
        text = "alerts: " + ", ".join(f"{count} {how}" for count, how in counts if count)
    return in_one_line(f"Sluice{f' {title}' if title else ''}: {text}")


def body(changes: AlertChanges, known: Mapping[Alert, KnownAlert], reasons: Mapping[Alert, str]) -> str:
    """The text of a message.

    Args:
        reasons: why that is, and what to type.
    """
    lines = [*(_entry("BEGAN", alert, reasons.get(alert, "")) for alert in changes.begun[:_MOST_TOLD])]
    for alert in changes.over[:_MOST_TOLD]:
        lines.append(_entry("OVER", alert, f"it began at {known[alert].since:%Y-%m-%d %H:%M:%S %Z}"))
    more = sum(max(len(told) - _MOST_TOLD, 0) for told in (changes.begun, changes.over))
    return shorten("\n".join([*lines, *([f"and {more:,} more"] if more else [])]))


def _entry(how: str, alert: Alert, reason: str) -> str:
    shown = visible(reason)
    cut = shown if len(shown) <= _MOST_OF_A_REASON else f"{shown[:_MOST_OF_A_REASON]} ..."
    return "\n  ".join([f"{how} {in_one_line(str(alert))}", *cut.splitlines()])
