"""`./sluice bench NAME`: what is compared runs side by side in one run, on a private server that is gone after it."""

from __future__ import annotations

import signal
from importlib import import_module

from sluice.bench.report import BenchReport
from sluice.bench.server import LOG, TRIGGERS
from sluice.errors import ConfigError
from sluice.outside_text import say
from sluice.runtime.terminal import Progress

# The module of each bench; each has `measure(scale, progress) -> BenchReport`.
BENCHES = {
    "capture": "capture",
    "publish": "publish",
    "decode": "decode",
    "apply": "apply",
    "drain": "drain",
    "slaves": "slaves",
    "cluster": "cluster",
    "initial-update": "initial_update",
    "blocks": "blocks",
    "latency": "latency",
    "relay": "relay",
    "mariadb": "mariadb",
    "verify": "verify",
}
# Those that can capture by the server's log as well: `measure(scale, progress, capture)`.
BY_LOG = ("capture", "publish", "drain")
CAPTURES = (TRIGGERS, LOG)


def run(name: str, scale: float = 1.0, capture: str = TRIGGERS) -> int:
    """Run one bench: progress on stderr, the figures as one JSON object on the last line of the standard output.

    Raises:
        ConfigError: SLC-003 if there is no such bench, SLC-914 if the scale is not above 0, if it does not
            capture in this way.
    """
    if name not in BENCHES:
        raise ConfigError(3, f"there is no bench {name!r}", f"name one of {', '.join(BENCHES)}")
    if scale <= 0:
        raise ConfigError(
            914,
            f"a scale of {scale:g} leaves nothing to measure",
            "give a number above 0: 1 is the usual size, 0.1 a tenth",
        )
    if capture not in (CAPTURES if name in BY_LOG else (TRIGGERS,)):
        raise ConfigError(
            914,
            f"the bench {name!r} does not capture by {capture!r}",
            f"take --capture out, or type --capture {LOG} with {', '.join(BY_LOG)}",
        )
    signal.signal(signal.SIGTERM, _leave)
    measure = import_module(f"sluice.bench.{BENCHES[name]}").measure
    report: BenchReport = measure(scale, Progress(), *([capture] if name in BY_LOG else ()))
    if report.table:
        say(report.table)
    say(report.line())
    return 0


def _leave(*_: object) -> None:
    """End as if the bench had failed, so that its server is stopped and its files are removed."""
    raise SystemExit(128 + signal.SIGTERM)
