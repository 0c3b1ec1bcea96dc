"""Signals of a job as Airflow's own metrics: by StatsD or OpenTelemetry, whichever Airflow has switched on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from airflow.configuration import conf

from sluice_airflow.airflow_versions import stats

_SWITCHES = ("statsd_on", "statsd_datadog_enabled", "otel_on")
_log = logging.getLogger(__name__)


def are_on() -> bool:
    """Whether Airflow sends metrics anywhere."""
    return any(conf.getboolean("metrics", switch, fallback=False) for switch in _SWITCHES)


def hand_on(signals: Sequence[tuple[str, Mapping[str, str], float]]) -> None:
    """Send signals as gauges, such as `sluice.lag_seconds`, with their labels as tags."""
    for name, labels, value in signals:
        # What cannot be measured ends no replication.
        try:
            stats.gauge(name.replace("_", ".", 1), value, tags=dict(labels))
        except Exception as error:
            _log.warning("metric %s is not sent: %s", name, error)
