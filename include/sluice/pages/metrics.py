"""The metrics as Prometheus reads them, in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from sluice.model.access import Right
from sluice.monitor import signals
from sluice.monitor.reach import Reach
from sluice.monitor.signals import SIGNALS, Sample
from sluice.pages import overview
from sluice.pages.entry import airflow, needs
from sluice.pages.scraper import METRICS

router = APIRouter(include_in_schema=False)
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get(METRICS, dependencies=[needs(Right.READ)])
def metrics(request: Request) -> Response:
    """Every figure of every replication and source."""
    reach: Reach = request.app.state.reach
    rows = overview.list_replications(airflow(request), reach)
    samples = signals.gather(airflow(request).context(), rows, reach.has_looked)
    return PlainTextResponse(exposition(samples), media_type=_TYPE)


def exposition(samples: Iterable[Sample]) -> str:
    """Samples in the text format of Prometheus 0.0.4: those of a signal stand together, below its meaning."""
    order = {signal.name: number for number, signal in enumerate(SIGNALS)}
    in_order = sorted(samples, key=lambda sample: order[sample.signal.name])
    return "\n".join([*_lines(in_order), ""])


def _lines(samples: Iterable[Sample]) -> Iterator[str]:
    for signal, of_signal in groupby(samples, lambda sample: sample.signal):
        yield f"# HELP {signal.name} {signal.help}"
        yield f"# TYPE {signal.name} {signal.kind}"
        for sample in of_signal:
            labels = ",".join(f'{name}="{_escape(value)}"' for name, value in sample.labels.items())
            yield f"{signal.name}{{{labels}}} {sample.value:.15g}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
